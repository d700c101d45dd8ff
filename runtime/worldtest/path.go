package worldtest

import "os"

// FarPath is what a test expects of world.Comm.Path to a rank on another host, where
// got is what it says: "verbs" if GOLAUNCH_VERBS_REQUIRED says that there are devices,
// else what it is of the two.
func FarPath(got string) string {
	if os.Getenv("GOLAUNCH_VERBS_REQUIRED") != "" || got == "verbs" {
		return "verbs"
	}
	return "tcp"
}
