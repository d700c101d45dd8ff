package lock

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/golaunch/golaunch/runtime/job"
)

// victim is the member that is killed.
const victim = 1

// holdingPoint is a crash point of the test itself: while the lock is held.
const holdingPoint = "hold the lock"

// crashBody takes and releases the lock, for ever at the victim, and at the others
// until they get an error or have noticed the victim's death for a while.
func crashBody(ctx context.Context, s *seat) error {
	random := rand.New(rand.NewPCG(uint64(s.me), 2))
	for left := 300; left > 0; {
		if s.me != victim && s.mem.Failure(victim) != nil {
			left--
		}
		mode := Mode(1 + random.IntN(2))
		done, err := acquireOrGiveUp(ctx, &s.Lock, mode, random.IntN(3) == 0)
		if err == nil && done {
			dieAt(holdingPoint)
			err = s.Release(mode)
		}
		var failed *job.RankFailedError
		if errors.As(err, &failed) && s.mem.Failure(victim) != nil {
			return nil // because of the victim, or of one who noticed before
		}
		if err != nil {
			return fmt.Errorf("member %d: %w", s.me, err)
		}
	}
	return nil
}

// dieAt is replaced in programs with crash points.
var dieAt = func(string) {}

// A member killed before any access to shared memory in a slow path, or while it
// holds the lock, is an error for the others, or makes no difference to them; they
// never hang.
func TestKilledAtEveryStep(t *testing.T) {
	program := filepath.Join(t.TempDir(), "members")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-tags", "crashpoints", "-o", program, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build, err, out)
	}
	points := []string{holdingPoint}
	for _, s := range steps[1:] {
		points = append(points, s.name)
	}
	for i, point := range points {
		for _, visit := range []string{"1", "3"} {
			n := 2 + i%2
			if point == seeAdoptedName {
				n = 4
			}
			t.Run(fmt.Sprintf("%s, time %s, %d members", point, visit, n), func(t *testing.T) {
				killOne(t, program, n, point, visit)
			})
		}
	}
}

var seeAdoptedName = steps[seeAdopted].name

func killOne(t *testing.T, program string, n int, point, visit string) {
	mem := newMembers(t, n, false)
	f := start(t, program, mem, "crash", stepVariable+"="+point, visitVariable+"="+visit)
	err := f.wait(victim)
	if status, ok := f.cmds[victim].ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Errorf("the victim was to be killed: %v", err)
	}
	for m := range n {
		if m == victim {
			continue
		}
		if err := f.wait(m); err != nil {
			t.Error(err)
		}
	}
}
