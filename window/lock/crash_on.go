//go:build crashpoints

package lock

// CrashPoint is called before each shared-memory access of a slow path, with the name
// of the step, in programs built with the tag crashpoints. A test sets it to
// a function that kills the process at one of them. It is set before any Lock is used.
var CrashPoint = func(step string) {}

// CrashPoints are the names of the steps.
func CrashPoints() (names []string) {
	for _, s := range steps[1:] {
		names = append(names, s.name)
	}
	return names
}

func crashPoint(s step) { CrashPoint(steps[s].name) }
