package localenv

import "context"

// Install builds and fetches what a control plane and these brokers need, so
// that no start has to.
func Install(ctx context.Context, series ...Series) error {
	if _, err := controlPlaneBinaries(ctx); err != nil {
		return err
	}
	for _, s := range series {
		if _, err := chooseRuntime(ctx, s); err != nil {
			return err
		}
	}
	return nil
}
