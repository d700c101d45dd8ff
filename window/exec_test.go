package window_test

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/golaunch/golaunch/runtime/arena"
	"github.com/golaunch/golaunch/runtime/world"
)

// os/exec while the arena is registered and windows are written to: every byte arrives
// where it belongs, on shared memory and over TCP, and the programs that are run get no
// descriptor of the memory.
func TestExecWhileRegistered(t *testing.T) {
	const n, rounds = 50_000, 10
	for _, hosts := range []int{1, 2} {
		t.Run(fmt.Sprintf("2 ranks on %d hosts", hosts), func(t *testing.T) {
			runOn(t, hosts, 2/hosts, func(r rank) {
				if hosts > 1 {
					if err := r.comm.Arena().Register(world.Of(r.comm).Registrar()); !errors.Is(err, arena.ErrRegistered) { // a device has it already
						r.no(err)
					}
				}
				w := allocate[int64](r, 2*n)
				mine := make([]int64, n)
				for round := range int64(rounds) {
					children := make(chan error, 1)
					go func() { children <- execute(r) }()
					for i := range mine {
						mine[i] = round<<32 + int64(r.comm.Rank()*n+i)
					}
					r.no(w.Fence(r))
					for ran := false; !ran; { // as long as they run
						for to := range 2 {
							r.no(w.Put(to, r.comm.Rank()*n, mine))
						}
						r.no(w.FlushAll())
						select {
						case err := <-children:
							r.no(err)
							ran = true
						default:
						}
					}
					r.no(w.Fence(r))
					for i, v := range w.Local() {
						if v != round<<32+int64(i) {
							r.Errorf("round %d: element %d is %#x", round, i, v)
							break
						}
					}
				}
				r.no(w.Free(r))
			})
		})
	}
}

// execute runs a program that says which descriptors it has.
func execute(r rank) error {
	out, err := exec.CommandContext(r, "ls", "-l", "/proc/self/fd").Output()
	if err == nil && strings.Contains(string(out), "memfd") {
		err = fmt.Errorf("a child inherits memory: %s", out)
	}
	return err
}
