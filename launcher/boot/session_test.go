package boot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConnectTellsWhoIAm(t *testing.T) {
	f := inherit(t)
	s := f.join(1, 3)
	defer s.JobMemory().Close()
	defer s.Close()
	if s.Rank() != 1 || s.Size() != 3 || s.Host() != "here" || s.JobMemory() == nil {
		t.Errorf("rank %d of %d on %q with memory %v", s.Rank(), s.Size(), s.Host(), s.JobMemory())
	}
}

func TestConnectWithoutGolaunch(t *testing.T) {
	t.Setenv(EnvSocket, "")
	t.Setenv(EnvRank, "")
	if s, err := Connect(t.Context()); s != nil || err != nil {
		t.Errorf("Connect = %v, %v, want nil, nil", s, err)
	}
}

func TestConnectRefusesFalseClaims(t *testing.T) {
	file := temporary(t, "")
	closed, _ := os.Open("/dev/null")
	number := fmt.Sprint(closed.Fd())
	closed.Close()
	for _, tt := range []struct{ name, socket, rank, want string }{
		{"rank without socket", "", "2", "GOLAUNCH_RANK=2 is set and GOLAUNCH_SOCKET is not"},
		{"not a number", "three", "", `GOLAUNCH_SOCKET="three" is no descriptor`},
		{"negative", "-1", "", "is no descriptor"},
		{"closed", number, "", "that descriptor is not open"},
		{"a file", fmt.Sprint(file.Fd()), "", "that descriptor is not golaunch's socket"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv(EnvSocket, tt.socket)
			t.Setenv(EnvRank, tt.rank)
			s, err := Connect(t.Context())
			if s != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Connect = %v, %v, want an error with %q", s, err, tt.want)
			}
		})
	}
}

func TestConnectClosesTheSocketOnExec(t *testing.T) {
	f := inherit(t)
	var fd int
	fmt.Sscan(os.Getenv(EnvSocket), &fd)
	syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_SETFD, 0)
	s := f.join(1, 3)
	defer s.JobMemory().Close()
	defer s.Close()
	flags, _, _ := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFD, 0)
	if flags&syscall.FD_CLOEXEC == 0 {
		t.Error("a child would inherit the socket")
	}
}

func TestConnectEndsWithAnError(t *testing.T) {
	for _, tt := range []struct {
		name string
		play func(*fakeSupervisor)
		want string
	}{
		{"refused", func(f *fakeSupervisor) { f.hello(); f.send(Packet{Kind: Refused, Text: "wrong version"}, nil) }, "wrong version"},
		{"hung up", func(f *fakeSupervisor) { f.hello(); f.hangUp() }, "closed the connection"},
		{"dead", func(f *fakeSupervisor) { f.inherited.Close() }, "saying hello"},
		{"welcome without memory", func(f *fakeSupervisor) { f.hello(); f.send(Packet{Kind: Welcome, Size: 1}, nil) }, "answered hello with"},
		{"rank out of range", func(f *fakeSupervisor) { f.welcome(3, 3) }, "rank 3 of 3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := inherit(t)
			if tt.name == "dead" {
				tt.play(f)
			} else {
				var wg sync.WaitGroup
				wg.Go(func() { tt.play(f) })
				defer wg.Wait()
			}
			s, err := Connect(t.Context())
			if s != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Connect = %v, %v, want an error with %q", s, err, tt.want)
			}
		})
	}
}

func TestConnectObeysItsContext(t *testing.T) {
	inherit(t)
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := Connect(ctx); !errors.Is(err, why) {
		t.Errorf("Connect = %v, want %v", err, why)
	}
}

func TestPublishSendsTheDescriptor(t *testing.T) {
	s, f := connected(t)
	file := temporary(t, "segment")
	go func() {
		p, got := f.expect(Publish)
		b := make([]byte, 7)
		if _, err := got.ReadAt(b, 0); err != nil || string(b) != "segment" || p.Key != 5 || p.Bytes != 7 {
			t.Errorf("published %+v, content %q, %v", p, b, err)
		}
		got.Close()
		f.send(Packet{Kind: Done, ID: p.ID}, nil)
	}()
	if err := s.Publish(5, file, 7); err != nil {
		t.Error(err)
	}
}

func TestOpenReceivesADescriptor(t *testing.T) {
	s, f := connected(t)
	file := temporary(t, "peer")
	go func() {
		p, _ := f.expect(Open)
		if p.Rank != 2 || p.Key != 9 {
			t.Errorf("asked for segment %d of rank %d", p.Key, p.Rank)
		}
		f.send(Packet{Kind: Done, ID: p.ID}, file)
	}()
	got, err := s.Open(t.Context(), 2, 9)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Close()
	b := make([]byte, 4)
	if _, err := got.ReadAt(b, 0); err != nil || string(b) != "peer" {
		t.Errorf("read %q, %v", b, err)
	}
}

func TestErrorsNameTheRankAndTheOperation(t *testing.T) {
	for _, tt := range []struct {
		kind Kind
		call func(*Session) error
		want string
	}{
		{Publish, func(s *Session) error { return s.Publish(16, os.Stderr, 3) }, "rank 1: publishing segment 0x10 of 3 bytes: no"},
		{Withdraw, func(s *Session) error { return s.Withdraw(16) }, "rank 1: withdrawing segment 0x10: no"},
		{Open, func(s *Session) error { _, err := s.Open(context.Background(), 2, 16); return err }, "rank 1: opening segment 0x10 of rank 2: no"},
		{Leave, func(s *Session) error { return s.Leave() }, "rank 1: leaving the job: no"},
		{Abort, func(s *Session) error { return s.Abort(4, "") }, "rank 1: aborting the job with code 4: no"},
	} {
		t.Run(tt.want, func(t *testing.T) {
			s, f := connected(t)
			go func() {
				p, file := f.expect(tt.kind)
				if file != nil {
					file.Close()
				}
				f.send(Packet{Kind: Failed, ID: p.ID, Text: "no"}, nil)
			}()
			if err := tt.call(s); err == nil || err.Error() != tt.want {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

// Answers come in another order than the requests.
func TestConcurrentRequests(t *testing.T) {
	s, f := connected(t)
	const n = 20
	go func() {
		var asked []Packet
		for range n {
			p, _ := f.expect(Open)
			asked = append(asked, p)
		}
		for i := range asked {
			p := asked[n-1-i]
			f.send(Packet{Kind: Failed, ID: p.ID, Text: fmt.Sprint("key ", p.Key)}, nil)
		}
	}()
	var wg sync.WaitGroup
	for key := range uint64(n) {
		wg.Go(func() {
			_, err := s.Open(context.Background(), 0, key)
			if err == nil || !strings.HasSuffix(err.Error(), fmt.Sprint("key ", key)) {
				t.Errorf("Open of key %d: %v", key, err)
			}
		})
	}
	within(t, "the requests", wg.Wait)
}

func TestCancelledOpenDropsItsLateAnswer(t *testing.T) {
	s, f := connected(t)
	file := temporary(t, "")
	why := errors.New("changed my mind")
	ctx, cancel := context.WithCancelCause(t.Context())
	asked := make(chan Packet)
	go func() {
		p, _ := f.expect(Open)
		cancel(why)
		asked <- p
	}()
	if _, err := s.Open(ctx, 0, 1); !errors.Is(err, why) {
		t.Fatalf("Open = %v, want %v", err, why)
	}
	before := openDescriptors(t)
	f.send(Packet{Kind: Done, ID: (<-asked).ID}, file)
	go func() { // an answer behind it shows that the late one was taken
		p, _ := f.expect(Leave)
		f.send(Packet{Kind: Done, ID: p.ID}, nil)
	}()
	if err := s.Leave(); err != nil {
		t.Fatal(err)
	}
	if after := openDescriptors(t); after != before {
		t.Errorf("%d descriptors open, %d before the late answer", after, before)
	}
}

func TestLostSupervisorEndsRequests(t *testing.T) {
	s, f := connected(t)
	go func() { f.expect(Open); f.hangUp() }()
	_, err := s.Open(context.Background(), 0, 1)
	if err == nil || !strings.Contains(err.Error(), "connection to the supervisor is lost") {
		t.Errorf("Open = %v", err)
	}
	if err := s.Leave(); err == nil || !strings.Contains(err.Error(), "connection to the supervisor is lost") {
		t.Errorf("Leave afterwards = %v", err)
	}
}

func TestCloseEndsRequests(t *testing.T) {
	s, f := connected(t)
	go func() { f.expect(Open); s.Close() }()
	if _, err := s.Open(context.Background(), 0, 1); err == nil || !strings.Contains(err.Error(), "the session is closed") {
		t.Errorf("Open = %v", err)
	}
}

func TestSessionLeavesNoDescriptor(t *testing.T) {
	f := inherit(t)
	before := openDescriptors(t)
	s := f.join(0, 1)
	s.JobMemory().Close()
	s.Close()
	f.hangUp()
	if after := openDescriptors(t); after != before {
		t.Errorf("%d descriptors open, %d before", after, before)
	}
}

func openDescriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}
