package tcp

import (
	"bufio"
	"context"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/internal/address"
	"github.com/golaunch/golaunch/transport/internal/handshake"
	"github.com/golaunch/golaunch/transport/tcp/wire"
	"github.com/golaunch/golaunch/transport/transporttest"
)

const crowdSize = 1024

// crowd is ranks 1 to 1,023 as one process, without endpoints: each connects, and
// when told, says something and puts something. It reports each step.
func crowd(ctx context.Context) error {
	in := bufio.NewReader(os.Stdin)
	line, err := in.ReadString('\n')
	if err != nil {
		return err
	}
	var text string
	var key uint64
	if _, err := fmt.Sscan(line, &text, &key); err != nil {
		return err
	}
	addr, err := hex.DecodeString(text)
	if err != nil {
		return err
	}
	offer, err := address.DecodeEndpoint(0, addr)
	if err != nil {
		return err
	}
	conns, err := gather(ctx, offer)
	if err != nil {
		return err
	}
	for range 2 {
		fmt.Println("done")
		if _, err := in.ReadString('\n'); err != nil {
			return err
		}
		for _, c := range conns {
			if err := speak(c, key); err != nil {
				return err
			}
		}
	}
	return nil
}

func gather(ctx context.Context, offer address.Offer) ([]net.Conn, error) {
	p := loopback()
	var conns []net.Conn
	for rank := 1; rank < crowdSize; rank++ {
		me := handshake.Identity{Secret: p.Secret, Job: p.Job, Version: p.Version, Rank: rank, Size: crowdSize}
		conn, err := handshake.Dial(ctx, address.Order(offer, offer), me, 0)
		if err != nil {
			return nil, err
		}
		if err := hearVerdict(conn); err != nil {
			return nil, err
		}
		conns = append(conns, conn)
	}
	return conns, nil
}

// speak puts 8 bytes, which are to be acknowledged, and sends a message.
func speak(c net.Conn, key uint64) error {
	b := make([]byte, 2*wire.HeaderBytes+16)
	put := wire.Header{Kind: wire.Put, Flags: wire.WantAck, Seq: 1, Length: 8, Key: key}
	put.Encode(b)
	message := wire.Header{Kind: wire.Message, Seq: 2, Length: 8}
	message.Encode(b[wire.HeaderBytes+8:])
	_, err := c.Write(b)
	return err
}

// TestMemoryOfManyConnections measures what a connection takes of this process's
// memory, once it is made and once it has been used.
func TestMemoryOfManyConnections(t *testing.T) {
	var limit unix.Rlimit
	check(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	if raceEnabled || limit.Cur < 2*crowdSize {
		t.Skipf("not under the race detector, and not with %d descriptors", limit.Cur)
	}
	job := transporttest.NewJob(crowdSize, nil)
	e, err := loopback().open(job.Config(0))
	check(t, err)
	defer e.Close()
	region, err := e.Register(0, 0, make([]byte, 8))
	check(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), pairPatience)
	defer cancel()
	c := startChild(t, ctx, "crowd", 2)
	before := memoryInUse()
	step := func(text string) {
		_, err := fmt.Fprintln(c.in, text)
		check(t, err)
	}
	step(fmt.Sprintf("%x %d", e.Addr(), region.Remote().Key))
	line, err := c.out.ReadString('\n')
	check(t, err)
	if strings.TrimSpace(line) != "done" {
		t.Fatalf("the crowd says %q", line)
	}
	idle := (memoryInUse() - before) / (crowdSize - 1)
	step("speak")
	hearCrowd(t, e)
	used := (memoryInUse() - before) / (crowdSize - 1)
	t.Logf("bytes a connection: %d when made, %d when used", idle, used)
	if idle > 4<<10 || used > 6<<10 {
		t.Errorf("a connection takes %d bytes when made and %d when used: docs/transports.md says less", idle, used)
	}
	check(t, c.cmd.Process.Kill())
	_ = c.cmd.Wait()
}

func hearCrowd(t *testing.T, e *endpoint) {
	var done [16]transport.Completion
	for heard, end := 0, time.Now().Add(pairPatience); heard < crowdSize-1; {
		n, err := e.Poll(done[:])
		check(t, err)
		for _, c := range done[:n] {
			if c.Message == nil {
				t.Fatalf("unexpected %+v", c)
			}
			heard++
		}
		if time.Now().After(end) {
			t.Fatalf("%d ranks of %d were heard", heard, crowdSize-1)
		}
	}
	_, err := e.Poll(done[:]) // the last messages go back
	check(t, err)
}

func memoryInUse() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc + m.StackInuse)
}
