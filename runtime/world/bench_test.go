package world_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/runtime/worldtest"
)

// batches of so many rounds are timed; the best and the middle one are reported.
const batches, perBatch = 1000, 10

// BenchmarkRound is a round of a group, which a barrier or a small allreduce is,
// of ranks on one host and on several.
func BenchmarkRound(b *testing.B) {
	for _, s := range []shape{{1, 2}, {2, 1}, {2, 2}} {
		b.Run(fmt.Sprintf("%dx%d", s[0], s[1]), func(b *testing.B) {
			var times []time.Duration
			worldtest.RunHosts(b, s[0], s[1], func(ctx context.Context, comm *world.Comm) {
				g := world.Of(comm).Group()
				mine := timed(func() {
					g.Publish(1, []byte("8 bytes."))
					if err := g.WaitAll(ctx); err != nil {
						b.Error(err)
					}
				})
				if comm.Rank() == 0 {
					times = mine
				}
			})
			report(b, times)
		})
	}
}

func timed(once func()) []time.Duration {
	var times []time.Duration
	for range batches {
		start := time.Now()
		for range perBatch {
			once()
		}
		times = append(times, time.Since(start)/perBatch)
	}
	slices.Sort(times)
	return times
}

func report(b *testing.B, times []time.Duration) {
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(times[0].Nanoseconds()), "ns-best")
	b.ReportMetric(float64(times[len(times)/2].Nanoseconds()), "ns-middle")
}

// BenchmarkBarePingPong is what the machine needs for the same: two goroutines
// that send 40 bytes to each other and poll for what comes, one way.
func BenchmarkBarePingPong(b *testing.B) {
	pair := loopback(b)
	defer unix.Close(pair[0])
	defer unix.Close(pair[1])
	const rounds = batches * perBatch
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range rounds {
			receive(b, pair[1])
			send(b, pair[1])
		}
	}()
	times := timed(func() { send(b, pair[0]); receive(b, pair[0]) })
	<-done
	for i := range times {
		times[i] /= 2
	}
	report(b, times)
}

// BenchmarkBareExchange is the same with both sending at once.
func BenchmarkBareExchange(b *testing.B) {
	pair := loopback(b)
	defer unix.Close(pair[0])
	defer unix.Close(pair[1])
	done := make(chan struct{})
	go func() {
		defer close(done)
		timed(func() { send(b, pair[1]); receive(b, pair[1]) })
	}()
	times := timed(func() { send(b, pair[0]); receive(b, pair[0]) })
	<-done
	report(b, times)
}

func send(b *testing.B, fd int) {
	if _, err := unix.Write(fd, make([]byte, 40)); err != nil {
		b.Error(err)
	}
}

func receive(b *testing.B, fd int) {
	var buf [40]byte
	for {
		switch n, err := unix.Read(fd, buf[:]); {
		case n == len(buf):
			return
		case err != unix.EAGAIN:
			b.Error(n, err)
			return
		}
		runtime.Gosched()
	}
}

// loopback returns two connected sockets that do not block.
func loopback(b *testing.B) (pair [2]int) {
	ok := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	l, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	ok(err)
	defer unix.Close(l)
	ok(unix.Bind(l, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	ok(unix.Listen(l, 1))
	at, err := unix.Getsockname(l)
	ok(err)
	pair[0], err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	ok(err)
	ok(unix.Connect(pair[0], at))
	pair[1], _, err = unix.Accept(l)
	ok(err)
	for _, fd := range pair {
		ok(unix.SetNonblock(fd, true))
		ok(unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1))
	}
	return pair
}
