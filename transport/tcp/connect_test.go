package tcp

import (
	"fmt"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/transporttest"
)

// TestSimultaneousDials: whoever dials, however often, there is one connection,
// and what is sent at once on either side arrives once and in order.
func TestSimultaneousDials(t *testing.T) {
	for round := range 40 {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			w := transporttest.NewWorld(t, loopback(), 2)
			result := make(chan error, 2)
			for rank := range 2 {
				go func() { result <- dialAndTalk(t, w, rank, 50) }()
			}
			for range 2 {
				check(t, <-result)
			}
		})
	}
}

func dialAndTalk(t *testing.T, w *transporttest.World, rank, count int) error {
	e := w.Endpoints[rank]
	c, err := e.Dial(t.Context(), 1-rank, w.Endpoints[1-rank].Addr())
	if err != nil {
		return err
	}
	for k := range count {
		if err := c.Send([]byte{byte(k)}); err != nil {
			return err
		}
	}
	var done [4]transport.Completion
	for next, end := 0, time.Now().Add(wildPatience); next < count; {
		n, err := e.Poll(done[:])
		if err != nil {
			return err
		}
		for _, m := range done[:n] {
			if len(m.Message) != 1 || int(m.Message[0]) != next {
				return fmt.Errorf("rank %d: %+v in the place of message %d", rank, m, next)
			}
			next++
		}
		if time.Now().After(end) {
			return fmt.Errorf("rank %d: message %d does not come", rank, next)
		}
	}
	return nil
}

// TestStrangersDoNotDisturb: connections that lead to nothing, while ranks talk.
func TestStrangersDoNotDisturb(t *testing.T) {
	w := transporttest.NewWorld(t, loopback(), 2)
	port := w.Endpoints[1].(*endpoint).offer.Port
	var conns []net.Conn
	for k := range 200 {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		check(t, err)
		conns = append(conns, conn)
		switch k % 4 {
		case 0:
			fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
		case 1:
			_, _ = conn.Write(make([]byte, 1000))
		case 2:
			check(t, conn.(*net.TCPConn).CloseWrite())
		}
	}
	result := make(chan error, 2)
	for rank := range 2 {
		go func() { result <- dialAndTalk(t, w, rank, 250) }()
	}
	for range 2 {
		check(t, <-result)
	}
	for _, conn := range conns {
		check(t, conn.Close())
	}
}

// TestSecondConnectionIsDeclined: a peer that dials although there is a connection
// is told so, and the connection stays.
func TestSecondConnectionIsDeclined(t *testing.T) {
	w := startWild(t, loopback())
	if err := dialAgain(t, w.e); err != errDeclined {
		t.Errorf("a second connection: %v", err)
	}
	check(t, w.c.Send([]byte("still there")))
	_, err := io.ReadFull(w.conn, make([]byte, 48+11))
	check(t, err)
	check(t, w.conn.Close())
	_ = w.ending()
	if err := dialAgain(t, w.e); err == nil || err == errDeclined {
		t.Errorf("a connection after the end: %v", err)
	}
}

// dialAgain dials as rank 1 and returns what the verdict says.
func dialAgain(t *testing.T, e *endpoint) error {
	t.Helper()
	return hearVerdict(callAs(t, e, 1))
}

// TestDescriptorsAreGivenBack: plain and encrypted, whoever closes first.
func TestDescriptorsAreGivenBack(t *testing.T) {
	encrypted := loopback()
	encrypted.Encrypt = true
	for name, p := range map[string]Provider{"plain": loopback(), "encrypted": encrypted} {
		open := func() int {
			all, err := os.ReadDir("/proc/self/fd")
			check(t, err)
			return len(all)
		}
		talk := func(t *testing.T) {
			w := transporttest.NewWorld(t, p, 2)
			result := make(chan error, 2)
			for rank := range 2 {
				go func() { result <- dialAndTalk(t, w, rank, 5) }()
			}
			for range 2 {
				check(t, <-result)
			}
		}
		t.Run(name+", first", talk) // what the runtime opens once
		before := open()
		for k := range 10 {
			t.Run(fmt.Sprint(name, k), talk)
		}
		if after := open(); after != before {
			t.Errorf("%s: %d descriptors are open, %d were", name, after, before)
		}
	}
}
