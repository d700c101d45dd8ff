package process

import (
	"encoding/binary"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/window/pager/line"
)

// A correspondent is a rank's end of a mail.
type correspondent struct {
	*member
	mem      []byte
	requests *line.Writer
	answers  *line.Reader
	rings    int
}

func newCorrespondent(t *testing.T, g *pager, pid int) *correspondent {
	t.Helper()
	c := &correspondent{member: &member{g: g, pid: pid}}
	memory, bell, err := c.openMail()
	if err != nil {
		t.Fatal(err)
	}
	shared, err := line.MapMail(memory)
	if err == nil {
		c.mem, err = unix.Mmap(memory, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	if err != nil {
		t.Fatal(err)
	}
	c.rings = bell
	c.requests, c.answers = shared.Rank()
	t.Cleanup(func() {
		for _, err := range []error{c.closeMail(), shared.Close(), unix.Munmap(c.mem), unix.Close(memory), unix.Close(bell)} {
			if err != nil {
				t.Error(err)
			}
		}
	})
	return c
}

// ask sends a frame, and rings if the loop is to be woken.
func (c *correspondent) ask(t *testing.T, f line.Frame) {
	t.Helper()
	if c.requests.Send(&f) {
		if _, err := unix.Write(c.rings, binary.NativeEndian.AppendUint64(nil, 1)); err != nil {
			t.Error(err)
		}
	}
}

func (c *correspondent) isRefused(t *testing.T, id uint32) {
	t.Helper()
	if f, some, err := c.answers.Receive(); err != nil || !some || f.Kind != line.Failed || f.ID != id || len(f.Body) == 0 {
		t.Errorf("the answer to %d is %+v, %v, %v", id, f, some, err)
	}
}

func testPager(t *testing.T) *pager {
	t.Helper()
	g, err := newPager()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if g.failure != nil {
			t.Error(g.failure)
		}
		_, _ = unix.Close(g.timer), unix.Close(g.epoll)
	})
	return g
}

// A loop that sleeps is woken by each request, and one that is about to sleep is not kept from what is there.
func TestSleepsUntilMail(t *testing.T) {
	g := testPager(t)
	c := newCorrespondent(t, g, 0)
	var events [4]unix.EpollEvent
	for id := range uint32(1000) {
		asked := make(chan struct{})
		go func() {
			defer close(asked)
			c.ask(t, line.Frame{Kind: line.Want, ID: id})
		}()
		for !g.hasMail() {
			if n, err := g.sleep(events[:]); n > 1 || err != nil && err != unix.EINTR {
				t.Fatalf("%d events, %v", n, err)
			}
		}
		<-asked
		if !g.takeMail() || g.takeMail() {
			t.Fatal("one frame was not taken once")
		}
		c.isRefused(t, id)
	}
}

const sentAt = 0 // of the ring of requests

// A rank that writes nonsense into the memory is killed, and nobody else hears of it.
func TestNonsenseByMail(t *testing.T) {
	for name, spoil := range map[string]func(c *correspondent){
		"more than there is room for": func(c *correspondent) { binary.NativeEndian.PutUint32(c.mem[sentAt:], 1000) },
		"no frame":                    func(c *correspondent) { binary.NativeEndian.PutUint32(c.mem[sentAt:], 1) },
		"of no kind":                  func(c *correspondent) { c.requests.Send(&line.Frame{Kind: 99}) },
	} {
		t.Run(name, func(t *testing.T) {
			g := testPager(t)
			child := exec.CommandContext(t.Context(), "sleep", "1000")
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			bad, good := newCorrespondent(t, g, child.Process.Pid), newCorrespondent(t, g, 0)
			spoil(bad)
			good.ask(t, line.Frame{Kind: line.Want, ID: 5})
			g.takeMail()
			good.isRefused(t, 5)
			_ = child.Wait()
			if status := child.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGKILL {
				t.Errorf("the rank has ended with %v", child.ProcessState)
			}
			if bad.mail != nil || len(g.mail) != 1 {
				t.Error("its mail is still looked at")
			}
		})
	}
}
