package window_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/window"
)

// A pager that dies takes its ranks with it, at once, and golaunch says why. None of
// them goes on with pages of zeros.
func TestKilledPager(t *testing.T) {
	for _, hosts := range layouts(2) {
		out, err := launch(t, 2, "pagerless", onMachine(hosts))
		if err == nil || !strings.Contains(out, "which keeps the pages of its coherent windows, ") || strings.Contains(out, "zero") {
			t.Errorf("%d hosts: %v\n%s", hosts, err, out)
		}
	}
}

// pagerlessProgram: rank 0 kills the pager of its host while all read what rank 1 has
// written.
func pagerlessProgram(ctx context.Context, comm *world.Comm) error {
	const n = 64 * 512
	w, err := window.Allocate[uint64](ctx, comm, n, window.Coherent)
	if err != nil {
		return err
	}
	all, err := w.Map()
	if err != nil {
		return err
	}
	for i := range w.Local() {
		w.Local()[i] = 1
	}
	if err := w.Fence(ctx); err != nil {
		return err
	}
	other := (1 - comm.Rank()) * w.Stride()
	for round := 0; ctx.Err() == nil; round++ {
		for i := 0; i < n; i += 512 {
			if atomic.LoadUint64(&all[other+i]) == 0 {
				fmt.Println("zero")
			}
			if round == 3 && i == n/2 && comm.Rank() == 0 {
				if err := killPager(); err != nil {
					return err
				}
			}
		}
		if err := w.Evict(other, n); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// killPager kills the pager that has the same parent as this rank.
func killPager() error {
	processes, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return err
	}
	for _, p := range processes {
		stat, err := os.ReadFile(p)
		if err != nil {
			continue
		}
		f := strings.Fields(string(stat)) // process, name, state, parent
		if f[1] == "(golaunch-pager)" && f[3] == strconv.Itoa(os.Getppid()) {
			pid, _ := strconv.Atoi(f[0])
			return syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	return errors.New("this host has no pager")
}

// A page that only a dead host had is an error for who needs it, once the host is known
// to have fenced itself, and never an older content; the others are there.
func TestLostPage(t *testing.T) {
	out, err := launch(t, 2, "lost", append(onMachine(2), "--on-failure", "continue", "--failure-timeout", "500ms"))
	if err == nil || !strings.Contains(out, "rank 0 has done without") || !strings.Contains(out, "which keeps the pages of its coherent windows, ") {
		t.Errorf("%v\n%s", err, out)
	}
}

// lostProgram: rank 1 writes a page of rank 0's part, and kills its pager.
func lostProgram(ctx context.Context, comm *world.Comm) error {
	const n = 2 * 512
	w, err := window.Allocate[uint64](ctx, comm, n, window.Coherent)
	if err != nil {
		return err
	}
	if comm.Rank() == 0 {
		w.Local()[0], w.Local()[512] = 1, 1
	}
	if err := errors.Join(w.Fence(ctx), w.Fence(ctx)); err != nil {
		return err
	}
	if comm.Rank() == 1 {
		if err := w.Put(0, 0, []uint64{2}); err != nil {
			return err
		}
		return errors.Join(killPager(), forever(ctx))
	}
	for world.Of(comm).Failure(1) == nil {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		runtime.Gosched()
	}
	got := []uint64{7}
	if err := w.Get(0, 0, got); err == nil || !strings.Contains(err.Error(), "is lost") {
		return fmt.Errorf("the lost page holds %d, %v", got, err)
	}
	if err := w.Get(0, 512, got); err != nil || got[0] != 1 {
		return fmt.Errorf("the other page holds %d, %v", got, err)
	}
	fmt.Println("rank 0 has done without")
	return nil
}

func forever(ctx context.Context) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// What a rank has written last outlives it: its host's pager has it.
func TestKilledWriter(t *testing.T) {
	for _, hosts := range layouts(2) {
		out, err := launch(t, 2, "writer", append(onMachine(hosts), "--on-failure", "continue"))
		if err == nil || !strings.Contains(out, "rank 0 has read all") {
			t.Errorf("%d hosts: %v\n%s", hosts, err, out)
		}
	}
}

// writerProgram: rank 1 writes both parts and dies.
func writerProgram(ctx context.Context, comm *world.Comm) error {
	const n = 8 * 512
	w, err := window.Allocate[uint64](ctx, comm, n, window.Coherent)
	if err != nil {
		return err
	}
	all, err := w.Map()
	if err != nil {
		return err
	}
	if comm.Rank() == 1 {
		for i := range all {
			all[i] = uint64(i + 1)
		}
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	for world.Of(comm).Failure(1) == nil {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		runtime.Gosched()
	}
	for i, v := range all {
		if v != uint64(i+1) {
			return fmt.Errorf("element %d is %d", i, v)
		}
	}
	all[0] = 0 // and can be written
	fmt.Println("rank 0 has read all")
	return nil
}
