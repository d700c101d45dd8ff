// Package bootstrapped has no code, only tests: of ranks that somebody else than
// golaunch has started. They run the apps, the tests of the rooms that ranks see, and
// ranks that fail, under Debian's mpiexec.hydra (package mpich) and under Slurm
// (slurm-wlm and munge), whose daemons the tests start and end; and the commands of
// the Kubernetes manifests in docs/kubernetes, in namespaces.
//
// What is not installed, or takes root, is skipped.
package bootstrapped
