package scale_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/golaunch/golaunch/collectives"
	"github.com/golaunch/golaunch/launcher/internal/tree"
	"github.com/golaunch/golaunch/runtime/world"
)

// envRole makes this binary a rank; envGolaunch is where golaunch is, for who wants to
// measure.
const (
	envRole     = "GOLAUNCH_TEST_ROLE"
	envGolaunch = "GOLAUNCH_MEASURE"
)

// rank joins, meets the others once, and leaves.
func rank() error {
	ctx := context.Background()
	comm, err := world.Join(ctx)
	if err != nil {
		return err
	}
	if os.Getenv(envRole) == "barrier" {
		if err := collectives.Barrier(ctx, comm); err != nil {
			return err
		}
	}
	return comm.Leave()
}

// BenchmarkProcesses launches jobs on hosts that join, each two real processes, in the
// launch tree. CPU is that of all of them.
func BenchmarkProcesses(b *testing.B) {
	golaunch := os.Getenv(envGolaunch)
	if golaunch == "" {
		b.Skip(envGolaunch + " does not say where golaunch is")
	}
	for _, c := range []struct{ hosts, ranks int }{{1, 1}, {1, 8}, {8, 8}, {16, 16}, {5, 20}, {50, 50}, {50, 200}, {200, 200}} {
		for _, role := range []string{"join", "barrier"} {
			b.Run(fmt.Sprintf("%s/hosts=%d/ranks=%d", role, c.hosts, c.ranks), func(b *testing.B) {
				before := usage(syscall.RUSAGE_CHILDREN)
				for range b.N {
					launch(b, golaunch, role, tree.Topology(c.hosts, tree.Arity), c.ranks)
				}
				b.ReportMetric(float64((usage(syscall.RUSAGE_CHILDREN)-before).Microseconds())/1e3/float64(b.N), "cpu-ms/launch")
			})
		}
	}
}

// launch runs one job, and waits for the end of every process.
func launch(b *testing.B, golaunch, role string, places []tree.Place, ranks int) {
	secret := filepath.Join(b.TempDir(), "key")
	os.WriteFile(secret, key, 0o600)
	front := freeAddress(b)
	self, _ := os.Executable()
	cmd := exec.Command(golaunch, "--listen", front, "--hosts", fmt.Sprint(len(places)), "--secret-file", secret, "--failure-timeout", "120s",
		"-n", fmt.Sprint(ranks), "-x", envRole+"="+role, self)
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	var ending sync.WaitGroup
	serves := make([]string, len(places))
	for i := range places {
		var parents []string
		for _, p := range tree.Ancestors(places, i) {
			parents = append(parents, serves[p])
		}
		serves[i] = supervise(b, golaunch, &ending, secret, fmt.Sprint("h", i), append(parents, front), places[i].Subtree.End > places[i].Subtree.First+1)
	}
	if err := cmd.Wait(); err != nil {
		b.Fatalf("%v: %s", err, said.String())
	}
	ending.Wait()
}

// supervise starts a host, and returns where others join it.
func supervise(b *testing.B, golaunch string, ending *sync.WaitGroup, secret, name string, parents []string, serve bool) string {
	args := []string{"supervise", "--join", strings.Join(parents, ","), "--secret-file", secret, "--host", name, "--wait", "120s"}
	if serve {
		args = append(args, "--serve", "127.0.0.1:0", "--ready-fd", "3")
	}
	cmd := exec.Command(golaunch, args...)
	cmd.Stderr = os.Stderr
	r, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	cmd.ExtraFiles = []*os.File{w}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	w.Close()
	ending.Go(func() { cmd.Wait() })
	if !serve {
		return ""
	}
	r.SetReadDeadline(time.Now().Add(deadline))
	line, _ := bufio.NewReader(r).ReadString('\n')
	return strings.TrimSpace(line)
}

func freeAddress(b *testing.B) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
