//go:build crashpoints

package lock

import (
	"os"
	"strconv"
	"syscall"
)

// In the victim's process, die at the chosen visit of the chosen step.
var _ = func() bool {
	if os.Getenv(memberVariable) != strconv.Itoa(victim) {
		return false
	}
	left, _ := strconv.Atoi(os.Getenv(visitVariable))
	point := os.Getenv(stepVariable)
	CrashPoint = func(step string) {
		if step != point {
			return
		}
		if left--; left == 0 {
			die()
		}
	}
	dieAt = CrashPoint
	return true
}()

// die is what a victim does.
func die() {
	syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}
