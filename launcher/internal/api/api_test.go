package api

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/golaunch/golaunch/launcher/internal/stage/needs"
)

// A server lingers for half a second over a request that it has not read to its end.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

const deadline = 20 * time.Second

// A fake agent answers what it was told to, and remembers who asked for what.
type fake struct {
	asked  chan any
	who    Caller
	err    error
	block  chan struct{} // Host waits for it, unless it is nil
	notice []Notice
	text   string
}

func answerOf[A any](f *fake, who Caller, q any, a A) (A, error) {
	f.who = who
	f.asked <- q
	return a, f.err
}

func (f *fake) Host(ctx context.Context, who Caller, q HostRequest) (Host, error) {
	if f.block != nil {
		select {
		case <-f.block:
		case <-ctx.Done():
		}
	}
	return answerOf(f, who, q, Host{Name: "a", Slots: 4})
}
func (f *fake) Nodes(_ context.Context, who Caller, q NodesRequest) (NodesAnswer, error) {
	return answerOf(f, who, q, NodesAnswer{Nodes: []Node{{Name: "a", State: "alive"}}})
}
func (f *fake) Place(_ context.Context, who Caller, q PlaceRequest) (PlaceAnswer, error) {
	return answerOf(f, who, q, PlaceAnswer{Blocks: []Block{{Host: "a", Ranks: q.Ranks}}})
}
func (f *fake) Reserve(_ context.Context, who Caller, q ReserveRequest) (Empty, error) {
	return answerOf(f, who, q, Empty{})
}
func (f *fake) Renew(_ context.Context, who Caller, q RenewRequest) (RenewAnswer, error) {
	return answerOf(f, who, q, RenewAnswer{Silent: []Failure{{Host: "a", Text: "no"}}})
}
func (f *fake) Release(_ context.Context, who Caller, q ReleaseRequest) (Empty, error) {
	return answerOf(f, who, q, Empty{})
}
func (f *fake) Spawn(_ context.Context, who Caller, q SpawnRequest) (SpawnAnswer, error) {
	return answerOf(f, who, q, SpawnAnswer{Failures: []Failure{{Host: "a", Text: "no"}}})
}
func (f *fake) Jobs(_ context.Context, who Caller, q JobsRequest) (JobsAnswer, error) {
	return answerOf(f, who, q, JobsAnswer{Jobs: []Job{{Name: "j"}}})
}
func (f *fake) Kill(_ context.Context, who Caller, q KillRequest) (KillAnswer, error) {
	return answerOf(f, who, q, KillAnswer{Front: "a"})
}
func (f *fake) Attach(ctx context.Context, who Caller, q AttachRequest, send func(Notice) error) error {
	for _, n := range f.notice {
		if err := send(n); err != nil {
			return err
		}
	}
	_, err := answerOf(f, who, q, Empty{})
	<-ctx.Done()
	return err
}
func (f *fake) Logs(_ context.Context, who Caller, q LogsRequest, w io.Writer) error {
	if f.text != "" {
		io.WriteString(w, f.text)
	}
	_, err := answerOf(f, who, q, Empty{})
	return err
}

func (f *fake) Blob(_ context.Context, who Caller, via string) (func(io.ReadWriteCloser), error) {
	_, err := answerOf(f, who, via, Empty{})
	return func(stream io.ReadWriteCloser) { io.Copy(stream, stream); stream.Close() }, err
}

// served returns a fake agent and a client of it, over a Unix socket.
func served(t *testing.T) (*fake, *Client) {
	t.Helper()
	f := &fake{asked: make(chan any, 10)}
	dir := t.TempDir()
	l, err := ListenUnix(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := NewServer(f, slog.New(slog.DiscardHandler))
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	c := DialUnix(dir)
	t.Cleanup(func() {
		c.Close()
		s.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return f, c
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	t.Cleanup(cancel)
	return ctx
}

func TestEveryRequestArrives(t *testing.T) {
	f, c := served(t)
	ctx := within(t)
	check := func(asked, got, want any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(asked, <-f.asked); diff != "" {
			t.Error(diff)
		}
	}
	h := HostRequest{Needs: []Need{{"p", needs.Needs{Interpreter: "/lib/ld.so"}}}}
	host, err := c.Host(ctx, h)
	check(h, host, Host{Name: "a", Slots: 4}, err)
	if !f.who.Local || f.who.UID != os.Getuid() {
		t.Errorf("who asks is %+v", f.who)
	}
	nodes, err := c.Nodes(ctx, NodesRequest{})
	check(NodesRequest{}, nodes, NodesAnswer{Nodes: []Node{{Name: "a", State: "alive"}}}, err)
	p := goodPlace()
	place, err := c.Place(ctx, p)
	check(p, place, PlaceAnswer{Blocks: []Block{{Host: "a", Ranks: 3}}}, err)
	r := ReserveRequest{Job: "j", Token: "t", Slots: 1, Hold: time.Second}
	check(r, nil, nil, c.Reserve(ctx, r))
	release := ReleaseRequest{Job: "j", Ended: true, Blocks: []Block{{Host: "a", Address: "a:1", Ranks: 1, Token: "t"}}}
	check(release, nil, nil, c.Release(ctx, release))
	s := goodSpawn()
	spawned, err := c.Spawn(ctx, s)
	check(s, spawned, SpawnAnswer{Failures: []Failure{{Host: "a", Text: "no"}}}, err)
	jobs, err := c.Jobs(ctx, JobsRequest{All: true})
	check(JobsRequest{All: true}, jobs, JobsAnswer{Jobs: []Job{{Name: "j"}}}, err)
	killed, err := c.Kill(ctx, KillRequest{Job: "j"})
	check(KillRequest{Job: "j"}, killed, KillAnswer{Front: "a"}, err)
}

func goodPlace() PlaceRequest {
	return PlaceRequest{Job: "j", Ranks: 3, Policy: "slot", Hosts: []string{"a"}, Labels: map[string]string{"k": "v"}}
}

func goodSpawn() SpawnRequest {
	return SpawnRequest{Job: "j", Key: bytes.Repeat([]byte("k"), 32), Join: []string{"127.0.0.1:1"}, Wait: time.Second,
		Nodes: []SpawnNode{{Host: "a", Address: "a:1", Token: "t", Children: []SpawnNode{{Host: "b", Address: "b:1", Token: "u"}}}}}
}

func TestErrorsNameAgentAndOperation(t *testing.T) {
	f, c := served(t)
	for _, kind := range []Kind{BadRequest, Denied, Unknown, NoRoom, Failed} {
		f.err = Errorf(kind, "it is %s", "so")
		_, err := c.Host(within(t), HostRequest{})
		if KindOf(err) != kind || !strings.HasSuffix(err.Error(), "agent.sock): host: it is so") {
			t.Errorf("%s: %v", kind, err)
		}
		<-f.asked
	}
	f.err = errors.New("plain")
	if _, err := c.Kill(within(t), KillRequest{Job: "j"}); KindOf(err) != Failed {
		t.Error(err)
	}
	<-f.asked
	if _, err := c.Kill(within(t), KillRequest{Job: "../x"}); KindOf(err) != BadRequest || !strings.Contains(err.Error(), `kill: "../x" is no job's name`) {
		t.Error(err)
	}
	if err := DialUnix(t.TempDir()).Reserve(within(t), ReserveRequest{}); KindOf(err) != Unreached || !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	f.block = make(chan struct{})
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := c.Host(short, HostRequest{}); KindOf(err) != Unreached || !strings.Contains(err.Error(), "it has not answered in time") {
		t.Error(err)
	}
	close(f.block)
	<-f.asked
}

func TestNotices(t *testing.T) {
	f, c := served(t)
	f.notice = []Notice{{}, {Kill: true}, {Dead: "b"}}
	q := AttachRequest{Job: "j", Front: Front{PID: 1, Ranks: 2, User: "me", Command: "x\ny"}}
	ctx, cancel := context.WithCancel(within(t))
	var got []Notice
	err := c.Attach(ctx, q, func(n Notice) {
		if got = append(got, n); len(got) == len(f.notice) {
			cancel()
		}
	})
	if diff := cmp.Diff(f.notice, got); diff != "" || KindOf(err) != Unreached {
		t.Error(err, diff)
	}
	if diff := cmp.Diff(q, <-f.asked); diff != "" {
		t.Error(diff)
	}
}

func TestLogs(t *testing.T) {
	f, c := served(t)
	var out strings.Builder
	f.text = strings.Repeat("what a rank said\n", 10_000)
	if err := c.Logs(within(t), LogsRequest{Job: "j"}, &out); err != nil || out.String() != f.text {
		t.Errorf("%d bytes, %v", out.Len(), err)
	}
	f.err = errors.New("the disk: is\nbroken")
	if err := c.Logs(within(t), LogsRequest{Job: "j"}, io.Discard); err == nil || !strings.HasSuffix(err.Error(), "logs: the disk: is\nbroken") {
		t.Error(err)
	}
	f.text, f.err = "", Errorf(Unknown, "no such job")
	if err := c.Logs(within(t), LogsRequest{Job: "j"}, io.Discard); KindOf(err) != Unknown {
		t.Error(err)
	}
}

// A stream carries anything in both directions, and ends with its Close.
func TestStreams(t *testing.T) {
	f, c := served(t)
	for _, via := range []string{"", "b:1"} {
		s, err := c.Blob(within(t), via)
		if err != nil {
			t.Fatal(err)
		}
		if got := <-f.asked; got != via {
			t.Error(got)
		}
		text := strings.Repeat("anything\r\n", 10_000)
		go io.WriteString(s, text)
		got := make([]byte, len(text))
		if _, err := io.ReadFull(s, got); err != nil || string(got) != text {
			t.Errorf("%.20q, %v", got, err)
		}
		s.Close()
	}
	if _, err := c.Blob(within(t), "nowhere"); KindOf(err) != BadRequest {
		t.Error(err)
	}
	f.err = Errorf(Denied, "no")
	if _, err := c.Blob(within(t), ""); KindOf(err) != Denied || !strings.HasSuffix(err.Error(), "blob: no") {
		t.Error(err)
	}
}

// What is no request of ours does not reach the agent.
func TestWhatIsRefused(t *testing.T) {
	f, c := served(t)
	post := func(path, body string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(within(t), "POST", "http://agent"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		a, err := c.pool.http.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		text, err := io.ReadAll(a.Body)
		if err != nil {
			t.Fatal(err)
		}
		return a.StatusCode, string(text)
	}
	for _, tt := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"/v1/host", "{}", 200, `"name":"a"`},
		{"/v1/host", "", 400, "it is not understood"},
		{"/v1/host", "[]", 400, "it is not understood"},
		{"/v1/host", `{"what":1}`, 400, "unknown field"},
		{"/v1/host", "{} {}", 400, "something follows it"},
		{"/v1/kill", `{"job":"` + strings.Repeat("j", MaxBody) + `"}`, 400, "too large"},
		{"/v1/spawn", `{"nodes":` + strings.Repeat(`[{"children":`, 20_000), 400, "not understood"},
		{"/v1/nothing", "{}", 404, ""},
		{"/", "{}", 404, ""},
	} {
		if status, text := post(tt.path, tt.body); status != tt.status || !strings.Contains(text, tt.want) {
			t.Errorf("%s %.40s: %d %s, want %d %s", tt.path, tt.body, status, text, tt.status, tt.want)
		}
	}
	if len(f.asked) != 1 {
		t.Errorf("%d requests reached the agent", len(f.asked))
	}
}

func TestSocketIsPrivate(t *testing.T) {
	dir := t.TempDir()
	for range 2 { // the second replaces what a killed agent has left
		l, err := ListenUnix(dir)
		if err != nil {
			t.Fatal(err)
		}
		l.socket.SetUnlinkOnClose(false)
		info, err := os.Stat(filepath.Join(dir, SocketName))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Fatal(info.Mode(), err)
		}
		l.Close()
	}
	for _, tt := range []struct {
		caller, agent int
		may           bool
	}{{0, 0, true}, {0, 1000, true}, {1000, 1000, true}, {1000, 0, false}, {1001, 1000, false}} {
		if mayCall(tt.caller, tt.agent) != tt.may {
			t.Errorf("user %d and an agent of user %d", tt.caller, tt.agent)
		}
	}
}

func TestPoolKeepsConnections(t *testing.T) {
	f := &fake{asked: make(chan any, 10)}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := NewServer(f, slog.New(slog.DiscardHandler))
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	defer func() { s.Close(); <-ended }()
	dials := 0
	pool := NewPool(func(ctx context.Context, address string) (net.Conn, error) {
		dials++
		return new(net.Dialer).DialContext(ctx, "tcp", address)
	})
	defer pool.Close()
	for range 3 {
		if _, err := pool.Agent("x", l.Addr().String()).Nodes(within(t), NodesRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	if dials != 1 || f.who.Local || f.who.Address == "" {
		t.Errorf("%d connections, %+v", dials, f.who)
	}
}
