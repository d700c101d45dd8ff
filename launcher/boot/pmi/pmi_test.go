package pmi

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T) *Conn {
	t.Helper()
	c, err := Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestNobodyStartedThis(t *testing.T) {
	t.Setenv(EnvFD, "")
	t.Setenv(EnvPort, "")
	if c, err := Open(t.Context()); c != nil || err != nil {
		t.Errorf("%v, %v", c, err)
	}
}

func TestValues(t *testing.T) {
	for _, version := range []string{"1", "2"} {
		t.Run(version, func(t *testing.T) {
			m := startManager(t, version, nil)
			if version == "1" { // which tells
				m.longest = leastValue
			}
			c := open(t)
			if c.Rank() != 0 || c.Size() != 1 || c.Version() != version {
				t.Errorf("rank %d of %d, version %s", c.Rank(), c.Size(), c.Version())
			}
			for n := range 200 {
				want := bytes.Repeat([]byte{byte(n), ';', 0}, n)
				if err := c.Put(t.Context(), "key", want); err != nil {
					t.Fatal(err)
				}
				if err := c.Fence(t.Context()); err != nil {
					t.Fatal(err)
				}
				if got, err := c.Get(t.Context(), "key"); err != nil || !bytes.Equal(got, want) {
					t.Fatalf("%d bytes: %d, %v", len(want), len(got), err)
				}
			}
			if _, err := c.Get(t.Context(), "other"); err == nil || !strings.Contains(err.Error(), "rank 0: the process manager (PMI-"+version+"): getting other: ") {
				t.Error(err)
			}
			if err := c.Put(t.Context(), "key", make([]byte, 1<<20)); err == nil || !strings.Contains(err.Error(), "too many") {
				t.Error(err)
			}
			if err := c.Finalize(); err != nil {
				t.Error(err)
			}
			if err := c.Fence(t.Context()); err == nil || !strings.Contains(err.Error(), "this process is done") {
				t.Error(err)
			}
		})
	}
}

func TestVersionsAreTried(t *testing.T) {
	for _, tt := range []struct{ name, job, forced, speaks, want string }{
		{"1 first", "", "", "1 2", "1"},
		{"2 first", "7.0", "", "1 2", "2"},
		{"2 forced", "", "2", "1 2", "2"},
		{"2 forced", "7.0", "1", "1 2", "1"},
		{"only 1", "7.0", "", "1", "1"},
		{"only 2", "", "", "2", "2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv(EnvJob, tt.job)
			t.Setenv(EnvVersion, tt.forced)
			startManager(t, tt.speaks, nil)
			if c := open(t); c.Version() != tt.want {
				t.Errorf("version %s, want %s", c.Version(), tt.want)
			}
		})
	}
}

// With PMI_PORT the process manager is told who this is, and tells how many there are.
func TestPort(t *testing.T) {
	for _, version := range []string{"1", "2"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		m := &manager{t: t, speaks: version, longest: 1024, values: map[string]string{}}
		m.done.Go(func() {
			if conn, err := l.Accept(); err == nil {
				m.serve(conn)
			}
		})
		t.Setenv(EnvFD, "")
		t.Setenv(EnvPort, l.Addr().String())
		t.Setenv(EnvID, "0")
		c := open(t)
		if c.Rank() != 0 || c.Size() != 1 {
			t.Errorf("rank %d of %d", c.Rank(), c.Size())
		}
		if err := errors.Join(c.Finalize(), l.Close()); err != nil {
			t.Error(err)
		}
		m.done.Wait()
	}
}

// What a process manager says that makes no sense is an error which names the rank
// and the command.
func TestLies(t *testing.T) {
	use := func() error {
		c, err := Open(context.Background())
		if err != nil {
			return err
		}
		defer c.Close()
		if err := c.Put(context.Background(), "k", []byte("v")); err != nil {
			return err
		}
		if err := c.Fence(context.Background()); err != nil {
			return err
		}
		if _, err := c.Get(context.Background(), "k"); err != nil {
			return err
		}
		return c.Finalize()
	}
	for _, tt := range []struct{ version, command, answer, want string }{
		{"1", "init", "hello\n", `init: waiting for response_to_init: "hello" in the line`},
		{"1", "init", "cmd=response_to_init pmi_version=3 rc=0\n", `init: it speaks version "3"`},
		{"1", "init", "", "init: waiting for response_to_init: it closed the connection"},
		{"1", "get_maxes", "cmd=maxes vallen_max=-4\n", `starting: maxes: vallen_max is "-4"`},
		{"1", "get_maxes", "cmd=maxes vallen_max=8\n", "starting: it takes values of at most 8 bytes"},
		{"1", "get_maxes", "cmd=barrier_out\n", `starting: waiting for maxes: it said "barrier_out"`},
		{"1", "get_my_kvsname", "cmd=my_kvsname kvsname=\n", "there is no kvsname"},
		{"1", "get_my_kvsname", "cmd=my_kvsname", "waiting for my_kvsname: it closed"},
		{"1", "put", "cmd=put_result rc=-1 msg=duplicate_key\n", "putting k: put: it says no: rc=-1 duplicate_key"},
		{"1", "barrier_in", "cmd=barrier_out " + strings.Repeat("x", 1<<17) + "\n", "waiting for all ranks: waiting for barrier_out: a line of more than 65536 bytes"},
		{"1", "get", "cmd=get_result rc=0\n", "getting k: get_result: there is no value"},
		{"1", "get", "cmd=get_result rc=0 value=abc\n", "getting k: a value that begins with"},
		{"1", "get", "cmd=get_result rc=0 value=9999.abc\n", "getting k: a value that begins with"},
		{"1", "get", "cmd=get_result rc=0 value=1.abc!\n", "getting k: illegal base64"},
		{"1", "finalize", "", "finalize: waiting for finalize_ack: it closed"},
		{"2", "fullinit", "    44cmd=fullinit-response;rank=1;size=1;rc=0;00", "waiting for fullinit-response"},
		{"2", "fullinit", "    41cmd=fullinit-response;rank=1;size=1;rc=0;", "it speaks of rank 1 of 1"},
		{"2", "fullinit", "    41cmd=fullinit-response;rank=x;size=1;rc=0;", `rank is "x"`},
		{"2", "fullinit", "    49cmd=fullinit-response;rc=4;errmsg=go away please;", "fullinit: it says no: rc=4 go away please"},
		{"2", "kvs-put", "abcdef", `"abcdef" is not the length`},
		{"2", "kvs-fence", "    99cmd=kvs-fence-response;rc=0;", "waiting for kvs-fence-response"},
	} {
		t.Run(tt.version+" "+tt.command, func(t *testing.T) {
			t.Setenv(EnvVersion, tt.version)
			m := startManager(t, tt.version, map[string]string{tt.command: tt.answer})
			m.brief = strings.Contains(tt.want, "waiting for")
			before := descriptors(t)
			err := use()
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "rank ") {
				t.Errorf("%v, want an error with %q", err, tt.want)
			}
			if after := descriptors(t); after > before {
				t.Errorf("%d descriptors, %d before", after, before)
			}
		})
	}
}

func TestEnvironmentThatMakesNoSense(t *testing.T) {
	for _, tt := range []struct{ fd, rank, size, version, want string }{
		{"x", "0", "1", "", `PMI_FD="x" is no descriptor`},
		{"999", "0", "1", "", "PMI_FD=999, and that descriptor is not open"},
		{"0", "0", "1", "", "PMI_FD=0, and that descriptor is no stream socket"},
		{"", "", "1", "", `PMI_RANK="", and should be a number from 0 on`},
		{"", "0", "0", "", `PMI_SIZE="0", and should be a number from 1 on`},
		{"", "3", "2", "", "it speaks of rank 3 of 2"},
		{"", "0", "1", "7", `GOLAUNCH_PMI="7": want 1 or 2`},
	} {
		t.Run(tt.want, func(t *testing.T) {
			startManager(t, "1", nil)
			if tt.fd != "" {
				t.Setenv(EnvFD, tt.fd)
			}
			t.Setenv(EnvRank, tt.rank)
			t.Setenv(EnvSize, tt.size)
			t.Setenv(EnvVersion, tt.version)
			if c, err := Open(t.Context()); c != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, %v, want an error with %q", c, err, tt.want)
			}
		})
	}
}

func TestOnceAProcess(t *testing.T) {
	startManager(t, "1", nil)
	c := open(t)
	if err := c.Finalize(); err != nil {
		t.Error(err)
	}
	if c, err := Open(t.Context()); c != nil || err == nil || !strings.Contains(err.Error(), "this process has joined already") {
		t.Errorf("%v, %v", c, err)
	}
}

func TestNotInherited(t *testing.T) {
	startManager(t, "1", nil)
	open(t)
	fd, _ := strconv.Atoi(os.Getenv(EnvFD))
	if flags, _, _ := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFD, 0); flags&syscall.FD_CLOEXEC == 0 {
		t.Error("a child would inherit the connection")
	}
}

// A rank that waits for others can be called back.
func TestFenceObeysItsContext(t *testing.T) {
	startManager(t, "1", map[string]string{"barrier_in": "cmd=barrier"})
	c := open(t)
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if err := c.Fence(ctx); !errors.Is(err, why) {
		t.Errorf("%v, want %v", err, why)
	}
	if err := c.Finalize(); !errors.Is(err, why) {
		t.Errorf("%v, want %v", err, why)
	}
}

func TestAbort(t *testing.T) {
	for version, want := range map[string]string{"1": "abort", "2": "abort"} {
		t.Run(version, func(t *testing.T) {
			m := startManager(t, version, nil)
			if err := open(t).Abort(7, "it is broken; really"); err != nil {
				t.Error(err)
			}
			m.done.Wait()
			if !slices.Contains(m.heard, want) {
				t.Errorf("%q", m.heard)
			}
		})
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}
