// Package gate keeps pods from being scheduled until what they await is
// there: it removes the scheduling gate warren.dev/topology from a pod when
// every topic and subscription that its annotations name is ready, and does
// nothing else to pods.
//
// It is a package of its own because it is an option: its rights, which let
// Warren patch pods, are in config/gate, and a cluster without them has
// everything else of Warren. A pod is judged by [controllers.Readiness]; here
// is only when it is judged, what its Events say, and the one patch.
package gate

// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch;patch
