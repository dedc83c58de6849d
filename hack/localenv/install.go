package localenv

import "context"

// Install builds and fetches all that the package runs, so that no later
// start has to.
func Install(ctx context.Context) error {
	if _, err := controlPlaneBinaries(ctx); err != nil {
		return err
	}
	for _, series := range AllSeries() {
		if _, err := chooseRuntime(ctx, series); err != nil {
			return err
		}
	}
	return nil
}
