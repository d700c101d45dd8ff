package api

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Another user of the host is refused, also where modes let it reach the socket, and
// does not keep the agent's own from being heard.
func TestAnotherUserIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	dir, err := os.MkdirTemp("/tmp", "agent-") // whose parents everybody may enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := ListenUnix(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	path := filepath.Join(dir, SocketName)
	for file, mode := range map[string]os.FileMode{dir: 0o755, path: 0o666} {
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
	}
	refused := make(chan error, 1)
	l.Refused = func(why error) { refused <- why }
	accepted := make(chan net.Conn, 1)
	go func() {
		if c, err := l.Accept(); err == nil {
			accepted <- c
		}
	}()
	if err := dialAs(65534, path); err != nil {
		t.Fatal(err)
	}
	late := time.After(deadline)
	select {
	case why := <-refused:
		if !strings.Contains(why.Error(), "user 65534") {
			t.Error(why)
		}
	case c := <-accepted:
		c.Close()
		t.Fatal("it was accepted")
	case <-late:
		t.Fatal("it was neither refused nor accepted")
	}
	own, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	select {
	case c := <-accepted:
		c.Close()
	case <-late:
		t.Fatal("the agent's own user was not accepted")
	}
}

// dialAs connects as another user, by a thread that ends afterwards, and hangs up.
func dialAs(uid uintptr, path string) error {
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocks: nobody else gets this thread
		result <- func() error {
			if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, uid, uid, uid); errno != 0 {
				return errno
			}
			fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer syscall.Close(fd)
			return syscall.Connect(fd, &syscall.SockaddrUnix{Name: path})
		}()
	}()
	return <-result
}
