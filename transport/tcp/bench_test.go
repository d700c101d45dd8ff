package tcp

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/tcp/wire"
)

// Each benchmark measures, in turn, a batch of operations to a rank that polls in
// another process and a batch of a bare ping-pong over TCP, also between two
// processes that spin: system calls and nothing else, of the same numbers of bytes
// each way. It reports both and their ratio, from the fastest batches: other
// programs on the machine disturb, and never help.

const batches = 40

// bareEcho is the other end of the bare ping-pong: for each request, two
// numbers, it takes in and sends back that many bytes that often. With atOnce in
// the first number both ends send first, and then take in.
func bareEcho() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	conn, err := l.Accept()
	if err != nil {
		return err
	}
	fd, err := detach(conn)
	if err != nil {
		return err
	}
	buffer := make([]byte, sharedBytes+wire.HeaderBytes)
	var request [8]byte
	for {
		_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
		if err := bareRecv(fd, request[:]); err != nil {
			return nil
		}
		out, back := int(binary.LittleEndian.Uint32(request[:])), int(binary.LittleEndian.Uint32(request[4:]))
		first, then := func() error { return bareRecv(fd, buffer[:out&^atOnce]) }, func() error { return bareSend(fd, buffer[:back]) }
		if out&atOnce != 0 {
			first, then = then, first
		}
		for range bareCount(out&^atOnce, back) {
			if first() != nil || then() != nil {
				return nil
			}
		}
	}
}

const atOnce = 1 << 31

func bareCount(out, back int) int { return max(4, 1000*4096/(4096+out+back)) }

func bareRecv(fd int, b []byte) error {
	for len(b) > 0 {
		n, errno := recv(fd, b)
		switch {
		case errno == unix.EAGAIN:
			n = 0
		case errno != 0:
			return errno
		case n == 0:
			return net.ErrClosed
		}
		b = b[n:]
	}
	return nil
}

func bareSend(fd int, b []byte) error {
	for len(b) > 0 {
		n, errno := send(fd, b)
		switch {
		case errno == unix.EAGAIN:
			n = 0
		case errno != 0:
			return errno
		}
		b = b[n:]
	}
	return nil
}

// bare is this end.
type bare struct {
	fd     int
	buffer []byte
}

func startBare(b *testing.B) *bare {
	c := startChild(b, context.Background(), "bare", 2)
	addr, err := c.out.ReadString('\n')
	check(b, err)
	conn, err := net.Dial("tcp", addr[:len(addr)-1])
	check(b, err)
	fd, err := detach(conn)
	check(b, err)
	b.Cleanup(func() {
		check(b, unix.Close(fd))
		check(b, c.cmd.Wait())
	})
	return &bare{fd, make([]byte, sharedBytes+wire.HeaderBytes)}
}

// batch returns the time of one round trip.
func (x *bare) batch(b *testing.B, out, back int) time.Duration {
	request := binary.LittleEndian.AppendUint32(nil, uint32(out))
	check(b, bareSend(x.fd, binary.LittleEndian.AppendUint32(request, uint32(back))))
	out &^= atOnce
	n := bareCount(out, back)
	start := time.Now()
	for range n {
		check(b, bareSend(x.fd, x.buffer[:out]))
		check(b, bareRecv(x.fd, x.buffer[:back]))
	}
	return time.Since(start) / time.Duration(n)
}

// compare measures operate beside a bare ping-pong of so many bytes.
func compare(b *testing.B, p *pair, out, back int, operate func() error) {
	x := startBare(b)
	least, leastBare := time.Hour, time.Hour
	n := bareCount(out&^atOnce, back)
	for b.Loop() {
		for range batches {
			quiet()
			leastBare = min(leastBare, x.batch(b, out, back))
			check(b, p.await(0, p.c.Send(nil))) // it wakes up
			check(b, operate())
			start := time.Now()
			for range n {
				check(b, operate())
			}
			least = min(least, time.Since(start)/time.Duration(n))
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(least), "ns/each")
	b.ReportMetric(float64(leastBare), "bare-ns")
	b.ReportMetric(float64(least)/float64(leastBare), "x-bare")
}

// quiet lets the other process fall asleep.
func quiet() { _, _ = unix.Poll(nil, 10*int(asleepAfter/time.Millisecond)) }

func (p *pair) await(op transport.OpID, err error) error {
	if err != nil {
		return err
	}
	c, err := p.next()
	if err == nil && c.Op != op {
		err = fmt.Errorf("completion %+v", c)
	}
	return err
}

func BenchmarkPutFlush(b *testing.B) {
	for _, n := range []int{8, 64 << 10, 1 << 20, 16 << 20} {
		b.Run(fmt.Sprintf("bytes=%d", n), func(b *testing.B) {
			p, src := startPair(b, "serve", 2), make([]byte, n)
			compare(b, p, wire.HeaderBytes+n-1, wire.HeaderBytes, func() error {
				if err := p.c.Put(p.peer, src, 0); err != nil {
					return err
				}
				return p.await(1, p.c.Flush(1))
			})
		})
	}
}

func BenchmarkGet(b *testing.B) {
	for _, n := range []int{8, 64 << 10, 1 << 20, 16 << 20} {
		b.Run(fmt.Sprintf("bytes=%d", n), func(b *testing.B) {
			p, dst := startPair(b, "serve", 2), make([]byte, n)
			compare(b, p, wire.HeaderBytes, wire.HeaderBytes+n-1, func() error { return p.await(1, p.c.Get(dst, p.peer, 1)) })
		})
	}
}

func BenchmarkFetchAdd(b *testing.B) {
	p, old := startPair(b, "serve", 2), new(uint64)
	compare(b, p, wire.HeaderBytes, wire.HeaderBytes, func() error { return p.await(1, p.c.FetchAdd(p.peer, 1, old, 1)) })
}

func BenchmarkPingPong(b *testing.B) {
	for _, n := range []int{8, wire.MaxMessage} {
		b.Run(fmt.Sprintf("bytes=%d", n), func(b *testing.B) {
			p, msg := startPair(b, "serve", 2), make([]byte, n)
			compare(b, p, wire.HeaderBytes+n, wire.HeaderBytes+n, func() error { return p.await(0, p.c.Send(msg)) })
		})
	}
}

// BenchmarkExchange is what a barrier of two ranks is: both send, then both receive.
// Nothing is sooner than its bare form.
func BenchmarkExchange(b *testing.B) {
	for _, n := range []int{8, 40} {
		b.Run(fmt.Sprintf("bytes=%d", n), func(b *testing.B) {
			p, msg := startPair(b, "exchange", 2), make([]byte, n)
			compare(b, p, atOnce|wire.HeaderBytes+n, wire.HeaderBytes+n, func() error { return p.await(0, p.c.Send(msg)) })
		})
	}
}

// BenchmarkRestingTarget is a Put and a FetchAdd to a rank that sleeps, and
// BenchmarkBusyTarget to one that computes on one core: the endpoint's goroutine
// serves them.
func BenchmarkRestingTarget(b *testing.B) { benchmarkPassive(b, "idle") }
func BenchmarkBusyTarget(b *testing.B)    { benchmarkPassive(b, "busy") }

func benchmarkPassive(b *testing.B, role string) {
	p, old := startPair(b, role, 2), new(uint64)
	for name, operate := range map[string]func() error{
		"put 8 B":   func() error { return p.await(1, p.c.Put(p.peer, make([]byte, 8), 1)) },
		"add":       func() error { return p.await(1, p.c.FetchAdd(p.peer, 1, old, 1)) },
		"put 1 MiB": func() error { return p.await(1, p.c.Put(p.peer, p.mem[:1<<20], 1)) },
	} {
		b.Run(name, func(b *testing.B) {
			var all []time.Duration
			for b.Loop() {
				start := time.Now()
				check(b, operate())
				all = append(all, time.Since(start))
			}
			slices.Sort(all)
			b.ReportMetric(float64(all[len(all)/2]), "median-ns")
			b.ReportMetric(float64(all[len(all)*99/100]), "p99-ns")
			b.ReportMetric(float64(all[len(all)-1]), "worst-ns")
		})
	}
}

// BenchmarkGathered is 64 Puts and one Flush, for each Put.
func BenchmarkGathered(b *testing.B) {
	p, src := startPair(b, "serve", 2), make([]byte, 8)
	check(b, p.await(0, p.c.Send(nil)))
	for b.Loop() {
		for range 64 {
			check(b, p.c.Put(p.peer, src, 0))
		}
		check(b, p.await(1, p.c.Flush(1)))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/64, "ns/put")
}
