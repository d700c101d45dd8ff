package netns

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const deadline = 10 * time.Second

// silence is how long nothing must arrive where nothing can.
const silence = 100 * time.Millisecond

// dial connects from a host. The address is literal, so that no goroutine but this
// one has to do with it.
func dial(h *Host, to string, wait time.Duration) (conn net.Conn, err error) {
	err = h.Do(func() error {
		conn, err = net.DialTimeout("tcp", to, wait)
		return err
	})
	return conn, err
}

// echo serves at an address of a host until the test ends.
func echo(t *testing.T, h *Host, at netip.Addr) (address string) {
	t.Helper()
	var l net.Listener
	err := h.Do(func() (err error) {
		l, err = net.Listen("tcp", netip.AddrPortFrom(at, 0).String())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { io.Copy(c, c); c.Close() }()
		}
	}()
	return l.Addr().String()
}

// A line is a connection to an echo.
type line struct {
	net.Conn
	t *testing.T
}

func connectTo(t *testing.T, h *Host, to string) line {
	t.Helper()
	c, err := dial(h, to, deadline)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return line{c, t}
}

// ask sends a byte and returns the error of waiting for it.
func (l line) ask(wait time.Duration) error {
	l.t.Helper()
	if _, err := l.Write([]byte{7}); err != nil {
		return err
	}
	return l.answer(wait)
}

func (l line) answer(wait time.Duration) error {
	l.SetReadDeadline(time.Now().Add(wait))
	_, err := io.ReadFull(l, make([]byte, 1))
	return err
}

func TestHostsReachEachOther(t *testing.T) {
	for _, o := range []Options{{}, {NoIPv6: true}, {NoIPv4: true}} {
		t.Run(fmt.Sprintf("%+v", o), func(t *testing.T) {
			n := New(t, 3, o)
			for i, to := range n.Hosts {
				for _, a := range to.addrs {
					server := echo(t, to, a.Addr())
					for _, from := range n.Hosts {
						if err := connectTo(t, from, server).ask(deadline); err != nil {
							t.Errorf("%s to %s: %v", from.Name, server, err)
						}
					}
				}
				if want := 2 - strings.Count(fmt.Sprint(o), "true"); len(to.addrs) != want {
					t.Errorf("host %d has %v", i, to.addrs)
				}
			}
		})
	}
}

func TestNothingLeadsOut(t *testing.T) {
	n := New(t, 2, Options{})
	outside, err := net.Listen("tcp", "127.0.0.1:0") // of the process's own network
	if err != nil {
		t.Fatal(err)
	}
	defer outside.Close()
	if c, err := dial(n.Hosts[0], outside.Addr().String(), deadline); err == nil {
		c.Close()
		t.Error("a host's loopback is not its own")
	}
	for _, to := range []string{"192.0.2.1:80", "[2001:db8::1]:80"} {
		if _, err := dial(n.Hosts[0], to, deadline); !errors.Is(err, unix.ENETUNREACH) {
			t.Errorf("%s: %v, want that there is no way there", to, err)
		}
	}
	interfaces, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range interfaces {
		if i.Name == bridge || strings.HasPrefix(i.Name, "port") {
			t.Errorf("%s is outside", i.Name)
		}
	}
}

func TestLinksDownAndUp(t *testing.T) {
	n := New(t, 3, Options{})
	h := n.Hosts[1]
	for name, link := range map[string]struct{ down, up func() error }{
		"unplugged": {h.Unplug, h.Plug}, "off": {h.Down, h.Up}, "isolated": {h.Isolate, h.Rejoin},
	} {
		t.Run(name, func(t *testing.T) {
			for _, a := range h.addrs {
				l := connectTo(t, n.Hosts[0], echo(t, h, a.Addr()))
				other := connectTo(t, n.Hosts[0], echo(t, n.Hosts[2], n.Hosts[2].Addr()))
				if err := l.ask(deadline); err != nil {
					t.Fatal(err)
				}
				if err := link.down(); err != nil {
					t.Fatal(err)
				}
				if err := l.ask(silence); !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("%v: %v, want silence", a, err)
				}
				if err := other.ask(deadline); err != nil {
					t.Errorf("the others: %v", err)
				}
				if err := link.up(); err != nil {
					t.Fatal(err)
				}
				if err := l.answer(deadline); err != nil {
					t.Errorf("%v, up again: %v", a, err)
				}
			}
		})
	}
}

func TestDecoysLeadNowhere(t *testing.T) {
	n := New(t, 2, Options{Decoys: true})
	from, to := n.Hosts[0], n.Hosts[1]
	for _, dead := range []string{"10.66.0.2", "fd66::2"} {
		server := echo(t, to, netip.MustParseAddr(dead))
		var timeout net.Error
		if _, err := dial(from, server, silence); !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("%s: %v, want silence", dead, err)
		}
		if err := connectTo(t, to, server).ask(deadline); err != nil {
			t.Errorf("%s, at home: %v", dead, err)
		}
	}
	server := echo(t, to, netip.MustParseAddr("172.17.0.1"))
	if _, err := dial(from, server, deadline); !errors.Is(err, unix.ECONNREFUSED) {
		t.Errorf("docker0: %v, want this host itself", err)
	}
}

// cat starts a process that lives until it is killed.
func cat(t *testing.T, h *Host) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	if err := h.Start(cmd); err != nil {
		t.Fatal(err)
	}
	return cmd
}

func TestProcessesAreOnTheirHost(t *testing.T) {
	n := New(t, 2, Options{})
	cmd := cat(t, n.Hosts[1])
	want := []Process{{cmd.Process.Pid, "cat"}}
	if got := n.Hosts[1].Processes(); !slices.Equal(got, want) || len(n.Hosts[0].Processes()) != 0 {
		t.Errorf("%v, want %v", got, want)
	}
	if left := n.Gone(silence); !slices.Equal(left, want) {
		t.Errorf("%v are left, want %v", left, want)
	}
	cmd.Process.Kill()
	if left := n.Gone(deadline); len(left) != 0 {
		t.Errorf("%v are left", left)
	}
	cmd.Wait()
}

// What is still there at the end is an error, and is killed.
func TestProcessesThatAreLeft(t *testing.T) {
	New(t, 1, Options{}) // skips
	n, err := open(1, Options{})
	if err != nil {
		t.Fatal(err)
	}
	cmd := cat(t, n.Hosts[0])
	want := fmt.Sprintf("left behind, and killed: [process %d (cat)]", cmd.Process.Pid)
	if err := n.close(); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if err := cmd.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("cat: %v", err)
	}
}

// A namespace that ends takes the other end of its cable with it.
func TestNamespacesEnd(t *testing.T) {
	n := New(t, 1, Options{})
	watcher := watchLinks(t, n.spaces[0])
	second, err := newSpace()
	if err != nil {
		t.Fatal(err)
	}
	if err := n.spaces[0].links.cable("here", second, "there"); err != nil {
		t.Fatal(err)
	}
	if err := second.close(); err != nil {
		t.Fatal(err)
	}
	watcher.SetReadDeadline(time.Now().Add(deadline))
	for b := make([]byte, 1<<16); ; {
		k, err := watcher.Read(b)
		if err != nil {
			t.Fatal("the namespace lives on:", err)
		}
		if b[4] == unix.RTM_DELLINK && strings.Contains(string(b[:k]), "here\x00") {
			return
		}
	}
}

// watchLinks returns a socket that tells of changes of interfaces.
func watchLinks(t *testing.T, s *space) *os.File {
	t.Helper()
	fd := -1
	err := s.do(func() (err error) {
		fd, err = unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_ROUTE)
		return err
	})
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: unix.RTMGRP_LINK})
	}
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "links")
	t.Cleanup(func() { f.Close() })
	return f
}

func TestWhatIsLackingIsSaid(t *testing.T) {
	for want, err := range map[string]error{
		"lacks network namespaces, veth or bridge": fmt.Errorf("veth: %w", unix.EOPNOTSUPP),
		"not permitted here, although this is":     fmt.Errorf("%w: %w", errMaking, unix.EPERM),
	} {
		if got := lacking(err); os.Geteuid() == 0 && !strings.Contains(got, want) {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
	if got := lacking(unix.EEXIST); got != "" {
		t.Errorf("a fault of this package is taken for the system's: %q", got)
	}
}

// The kernel says which request it does not like.
func TestRefusedRequests(t *testing.T) {
	n := New(t, 1, Options{})
	s := n.spaces[1]
	for want, err := range map[error]error{
		unix.ENODEV: s.links.change("nothing0", unix.IFF_UP, unix.IFF_UP),
		unix.EEXIST: s.links.bridge("lo"),
		unix.ERANGE: s.links.bridge("a name longer than they can be"),
	} {
		if !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	if _, err := s.index("nothing0"); err == nil {
		t.Error("an interface that does not exist has an index")
	}
	if err := s.links.answered(nil); err == nil {
		t.Error("no answer is taken for one")
	}
	if _, err := open(0, Options{}); err == nil {
		t.Error("a network without hosts")
	}
}

// Without root the test that asks for hosts is skipped, and says why.
func TestWithoutRoot(t *testing.T) {
	New(t, 1, Options{})
	cmd := exec.Command(os.Args[0], "-test.run=^TestRefusedRequests$", "-test.v")
	cmd.SysProcAttr = nobody()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skip("running this test as somebody else:", err)
	}
	defer cmd.Wait()
	var text strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		text.WriteString(lines.Text() + "\n")
	}
	if want := "netns: network namespaces need root: making a namespace: unshare: operation not permitted\n--- SKIP"; !strings.Contains(text.String(), want) {
		t.Errorf("%s\nwant %q", text.String(), want)
	}
}

func nobody() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
}

func TestTapHears(t *testing.T) {
	n := New(t, 2, Options{})
	tap, err := n.Tap()
	if err != nil {
		t.Fatal(err)
	}
	defer tap.Close()
	const word = "something that nobody else says"
	l := connectTo(t, n.Hosts[0], echo(t, n.Hosts[1], n.Hosts[1].Addr()))
	if _, err := l.Write([]byte(word)); err != nil {
		t.Fatal(err)
	}
	tap.SetReadDeadline(time.Now().Add(deadline))
	for frame := make([]byte, 1<<16); ; {
		k, err := tap.Read(frame)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(frame[:k]), word) {
			return
		}
	}
}
