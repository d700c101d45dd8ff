//go:build amd64 && cgo && linux

package cstack_test

import (
	"errors"
	"io"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/transport/verbs/internal/cstack"
	"github.com/golaunch/golaunch/transport/verbs/internal/cstack/ctest"
)

func newStack(t testing.TB) *cstack.Stack {
	t.Helper()
	s, err := cstack.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestArgumentsAndResult(t *testing.T) {
	a, b := int32(1000), int32(-2000)
	got, ok := newStack(t).Call(ctest.Add(), unsafe.Pointer(&a), unsafe.Pointer(&b), 3)
	if got != -997 || !ok {
		t.Errorf("add returned %d, %v", got, ok)
	}
}

// TestRegisters: what C may change, Go's callers need not save.
func TestRegisters(t *testing.T) {
	s := newStack(t)
	x, zero := 3.25, [2]uint64{}
	got, _ := s.Call(ctest.Keep(), nil, nil, 0)
	var after [2]uint64 // cleared by X15
	if got != 7 || x != 3.25 || after != zero {
		t.Errorf("returned %d; %v %v", got, x, after)
	}
	if runtime.Gosched(); len(make([]byte, got)) != 7 { // with g
		t.Error("no g")
	}
}

func TestWholeStackIsThere(t *testing.T) {
	s := newStack(t)
	var to [8]byte
	for _, n := range []uintptr{1, 100, 4096, cstack.Bytes - 1024} {
		to = [8]byte{}
		if off, ok := s.Call(ctest.Deep(), unsafe.Pointer(&to), nil, max(n, 8)); off != 0 || !ok || to[0] != 1 {
			t.Errorf("%d bytes: aligned by %d, %v, %v", n, off, ok, to)
		}
	}
}

// TestUnderPressure calls from goroutines that are preempted, profiled and stopped for
// collections, whose stacks grow and shrink, and which change threads between calls.
func TestUnderPressure(t *testing.T) {
	old := runtime.GOMAXPROCS(4)
	defer runtime.GOMAXPROCS(old)
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		t.Fatal(err)
	}
	defer pprof.StopCPUProfile()
	end := time.Now().Add(time.Second)
	var all sync.WaitGroup
	for k := range 6 {
		own := newStack(t)
		all.Go(func() { press(t, own, uintptr(50*(k%3)+1), end) })
	}
	all.Go(func() {
		for time.Now().Before(end) {
			runtime.GC()
			sample(t)
		}
	})
	all.Wait()
}

// sample has every thread's stack looked at, more often than the profiler's timers do.
func sample(t *testing.T) {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Error(err)
	}
	for _, thread := range threads {
		id, err := strconv.Atoi(thread.Name())
		if err == nil {
			err = unix.Tgkill(os.Getpid(), id, unix.SIGPROF)
		}
		if err != nil && !errors.Is(err, unix.ESRCH) { // it may have ended
			t.Error(err)
		}
	}
}

func press(t *testing.T, own *cstack.Stack, steps uintptr, end time.Time) {
	for k := 0; time.Now().Before(end); k++ {
		grown := grow(k % 200)
		sum, want := new(uint64), uint64(steps*(steps-1)/2)
		if n, ok := own.Call(ctest.Spin(), unsafe.Pointer(sum), nil, steps); n != int32(steps) || !ok || *sum != want {
			t.Errorf("spin(%d) returned %d, %v, and %d, want %d", steps, n, ok, *sum, want)
			return
		}
		var local uint64 // on the goroutine's stack
		if n, ok := own.Call(ctest.Spin(), unsafe.Pointer(&local), nil, steps); n != int32(steps) || !ok || local != want {
			t.Errorf("spin(%d) returned %d, %v, and %d, want %d", steps, n, ok, local, want)
			return
		}
		if grown != k%200 {
			t.Errorf("%d frames, want %d", grown, k%200)
		}
	}
}

// grow has a stack of n frames and some garbage.
func grow(n int) int {
	if n == 0 {
		return 0
	}
	frame := make([]byte, 64)
	frame[n%64] = 1
	return grow(n-1) + int(frame[n%64])
}

func BenchmarkCall(b *testing.B) {
	s := newStack(b)
	x, y := int32(1), int32(2)
	b.Run("stack", func(b *testing.B) {
		for b.Loop() {
			_, _ = s.Call(ctest.Add(), unsafe.Pointer(&x), unsafe.Pointer(&y), 3)
		}
	})
	b.Run("cgo", func(b *testing.B) {
		for b.Loop() {
			ctest.Cgo(&x, &y, 3)
		}
	})
}
