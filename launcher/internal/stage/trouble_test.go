package stage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/golaunch/golaunch/launcher/internal/stage/digest"
	"github.com/golaunch/golaunch/launcher/internal/stage/manifest"
)

// A jam lets so many bytes through, and the rest when it is cleared. Writes pass.
type jam struct {
	net.Conn
	left    *int
	cleared chan struct{}
}

func (j jam) Read(b []byte) (int, error) {
	if *j.left <= 0 {
		<-j.cleared
		return j.Conn.Read(b)
	}
	n, err := j.Conn.Read(b[:min(len(b), *j.left)])
	*j.left -= n
	return n, err
}

// A host that takes nothing for a while, and lives: those behind it do not wait, and
// it gets everything in the end.
func TestASlowHostIsGoneAround(t *testing.T) {
	ctx := testContext(t)
	o := patient
	o.Patience, o.Slowest = 100*time.Millisecond, 1e9
	for name, at := range map[string]int{"inner": 1, "first": 0} {
		t.Run(name, func(t *testing.T) {
			all, hosts := peers(t, 4, setting{})
			cleared := make(chan struct{})
			slow := newPeer(t, "slow", setting{wrap: func(c net.Conn) net.Conn { return jam{c, new(100_000), cleared} }})
			all[at], hosts[at] = slow, slow.host
			c := contentOf(random(1, 8*megabyte)) // more than sockets hold
			result := pushing(ctx, dialer{}, []Content{c}, hosts, o)
			for _, p := range all {
				if p != slow {
					p.await(ctx, func() bool { return p.has(c) })
				}
			}
			if slow.has(c) {
				t.Error("the slow host is not slow")
			}
			close(cleared)
			mustPush(t, result())
			if !slow.has(c) {
				t.Error("the slow host lacks it")
			}
		})
	}
}

func TestASilentHostIsGivenUp(t *testing.T) {
	o := patient
	o.Silence = time.Second
	all, hosts := peers(t, 3, setting{options: o})
	silent, err := net.Listen("tcp", "127.0.0.1:0") // nobody accepts
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	hosts[1] = Host{"silent", silent.Addr().String()}
	c := contentOf(random(1, megabyte))
	errs := Push(testContext(t), dialer{}, []Content{c}, hosts, o)
	if errs[1] == nil || !strings.Contains(errs[1].Error(), "silent: lost the connection to silent: nothing was heard for 1s") {
		t.Error(errs[1])
	}
	if errs[0] != nil || errs[2] != nil || !all[0].has(c) || !all[2].has(c) {
		t.Error(errs)
	}
}

// noRoute is a dialer that does not get an answer.
type noRoute struct{}

func (noRoute) Dial(ctx context.Context, _ Host) (io.ReadWriteCloser, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestDialingEnds(t *testing.T) {
	o := patient
	o.DialWait = 20 * time.Millisecond
	errs := Push(testContext(t), noRoute{}, []Content{contentOf(nil)}, []Host{{"h", "far"}}, o)
	if want := "h: cannot reach h at far: no answer for 20ms"; errs[0] == nil || errs[0].Error() != want {
		t.Errorf("%v, want %s", errs[0], want)
	}
}

// A liar changes a byte of what it is given to pass on.
type liar struct{ dialer }

func (l liar) Dial(ctx context.Context, to Host) (io.ReadWriteCloser, error) {
	c, err := l.dialer.Dial(ctx, to)
	if err != nil {
		return nil, err
	}
	return lie{c, new(sync.Once)}, nil
}

type lie struct {
	io.ReadWriteCloser
	once *sync.Once
}

func (l lie) Write(b []byte) (int, error) {
	if len(b) > 1000 {
		l.once.Do(func() { b = bytes.Clone(b); b[999] ^= 1 })
	}
	return l.ReadWriteCloser.Write(b)
}

func TestWrongContentOnTheWayIsMadeUpFor(t *testing.T) {
	_, hosts := peers(t, 1, setting{dialer: liar{}})
	more, _ := peers(t, 3, setting{})
	for _, p := range more[1:] {
		hosts = append(hosts, p.host)
	}
	c := contentOf(random(1, megabyte))
	mustPush(t, Push(testContext(t), dialer{}, []Content{c}, hosts, patient))
	for _, p := range more[1:] {
		if !p.has(c) {
			t.Errorf("%s lacks it", p.host.Name)
		}
	}
	errs := Push(testContext(t), liar{}, []Content{contentOf(random(2, megabyte))}, hosts[1:2], patient)
	if errs[0] == nil || !strings.Contains(errs[0].Error(), "host-1: the content is not that of blob") {
		t.Error(errs)
	}
}

func TestANodeThatIsClosedLeavesNothing(t *testing.T) {
	ctx := testContext(t)
	p := newPeer(t, "h", setting{})
	c := contentOf(random(1, 2*megabyte))
	part, valve := newValve(c, megabyte)
	result := pushing(ctx, dialer{}, []Content{part}, []Host{p.host}, patient)
	p.awaitBytes(ctx, c, megabyte/2)
	p.l.Close()
	p.node.Close()
	valve.open()
	if errs := result(); errs[0] == nil || !strings.Contains(errs[0].Error(), "h: ") {
		t.Error(errs)
	}
	if left, err := os.ReadDir(p.cache.Dir().Path("partial")); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
	a, b := net.Pipe()
	defer a.Close()
	if err := p.node.Serve(ctx, b); !errors.Is(err, errStopping) {
		t.Error(err)
	}
}

// converse lets a node serve what is said, after which the sender hangs up or waits
// for the node to, and returns the node's verdict.
func converse(n *Node, hangUp bool, said ...[]byte) error {
	ours, theirs := net.Pipe()
	verdict := make(chan error, 1)
	go func() { verdict <- n.Serve(context.Background(), theirs) }()
	var reading sync.WaitGroup
	reading.Go(func() { io.Copy(io.Discard, ours) })
	ours.SetDeadline(time.Now().Add(deadline))
	for _, b := range said {
		if _, err := ours.Write(b); err != nil {
			break
		}
	}
	if hangUp {
		ours.Close()
	}
	reading.Wait()
	ours.Close()
	return <-verdict
}

func frame(k kind, payload []byte) []byte {
	return append(appendHeader(nil, k, len(payload)), payload...)
}

func orderFor(hosts ...string) order {
	o := order{Push: strings.Repeat("P", pushSize), Blobs: []manifest.Blob{{Sum: digest.Of([]byte("x")), Size: 1}}}
	for i, h := range hosts {
		o.Hosts, o.Parents = append(o.Hosts, Host{Name: h}), append(o.Parents, i-1)
	}
	return o
}

func asJSON(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestANodeRefusesNonsense(t *testing.T) {
	p := newPeer(t, "h", setting{})
	good := frame(kindOrder, asJSON(t, orderFor("h")))
	bad := func(change func(*order)) []byte {
		o := orderFor("h", "i", "j")
		change(&o)
		return frame(kindOrder, asJSON(t, o))
	}
	for want, said := range map[string][][]byte{
		"frame of kind 71":        {[]byte("GET / HTTP/1.1\r\n")},
		"want 8388608 at most":    {appendHeader(nil, kindOrder, maxOrder+1)},
		"was closed":              {good[:len(good)-1]},
		"unknown field":           {frame(kindOrder, []byte(`{"extra":1}`))},
		"something follows":       {frame(kindOrder, append(asJSON(t, orderFor("h")), '1'))},
		"at the wrong time":       {frame(kindData, nil)},
		"frame of kind 3 at the":  {good, frame(kindData, nil)},
		"frame of kind 1 at the":  {good, good},
		"order for i has reached": {frame(kindOrder, asJSON(t, orderFor("i")))},
		"its plan is no tree":     {bad(func(o *order) { o.Parents[1] = 2 })},
		"is no tree":              {bad(func(o *order) { o.Hosts = o.Hosts[:2] })},
		"called h":                {bad(func(o *order) { o.Hosts[2].Name = "h" })},
		"want a name":             {bad(func(o *order) { o.Hosts[2].Name = "" })},
		"at most 1024 of address": {bad(func(o *order) { o.Hosts[2].Addr = strings.Repeat("x", 1025) })},
		"-5 bytes":                {bad(func(o *order) { o.Blobs[0].Size = -5 })},
		"comes twice":             {bad(func(o *order) { o.Blobs = append(o.Blobs, o.Blobs[0]) })},
		"session -1":              {bad(func(o *order) { o.Session = -1 })},
		"of push":                 {bad(func(o *order) { o.Push = "short" })},
	} {
		if err := converse(p.node, want == "was closed", said...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	c := Content{Blob: manifest.Blob{Sum: digest.Of([]byte("x")), Size: 1}}
	if p.has(c) {
		t.Error("nonsense was cached")
	}
}

func TestOlderSessionsGiveWay(t *testing.T) {
	ctx := testContext(t)
	p := newPeer(t, "h", setting{})
	serve := func(session int) (net.Conn, chan error) {
		ours, theirs := net.Pipe()
		t.Cleanup(func() { ours.Close() })
		verdict := make(chan error, 1)
		go func() { verdict <- p.node.Serve(ctx, theirs) }()
		o := orderFor("h")
		o.Session = session
		ours.SetDeadline(time.Now().Add(deadline))
		if _, err := ours.Write(frame(kindOrder, asJSON(t, o))); err != nil {
			t.Fatal(err)
		}
		return ours, verdict
	}
	first, one := serve(1)
	if _, err := io.ReadFull(first, make([]byte, headerSize+wantSize)); err != nil {
		t.Fatal(err)
	}
	_, two := serve(2)
	if err := <-one; !errors.Is(err, errReplaced) {
		t.Error(err)
	}
	late, three := serve(1)
	answer := make([]byte, 75)
	if n, err := io.ReadFull(late, answer); err != nil || !strings.Contains(string(answer), errReplaced.Error()) {
		t.Errorf("%q %v", answer[:n], err)
	}
	late.Close()
	if err := <-three; !errors.Is(err, errReplaced) {
		t.Error(err)
	}
	select {
	case err := <-two:
		t.Error("the newest session ended:", err)
	default:
	}
}

// What a courier hears of a host that misbehaves.
func TestASenderRefusesNonsense(t *testing.T) {
	for want, said := range map[string][]byte{
		"frame of kind 72":       []byte("HTTP/1.1 404"),
		"at the wrong time":      frame(kindData, nil),
		"too much altogether":    bytes.Repeat(frame(kindWant, want{0, 0}.append(nil)), 100),
		"want of 3 bytes":        frame(kindWant, []byte("abc")),
		"wants blob 1 from":      frame(kindWant, want{1, 0}.append(nil)),
		"from byte 2 on":         frame(kindWant, want{0, 2}.append(nil)),
		"from byte -1 on":        frame(kindWant, want{0, -1}.append(nil)),
		`outcome "maybe"`:        frame(kindReport, []byte(`{"host":"h","outcome":"maybe"}`)),
		"report: invalid":        frame(kindReport, []byte(`x`)),
		"ended without word of":  frame(kindEnd, nil),
		"the connection was clo": nil,
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		var host sync.WaitGroup
		host.Go(func() {
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer c.Close()
			c.Write(said)
			if len(said) > 0 {
				io.Copy(io.Discard, c)
			}
		})
		c := contentOf([]byte("x"))
		errs := Push(testContext(t), dialer{}, []Content{c}, []Host{{"h", l.Addr().String()}}, patient)
		if errs[0] == nil || !strings.Contains(errs[0].Error(), want) && said != nil {
			t.Errorf("%v, want %s", errs[0], want)
		}
		l.Close()
		host.Wait()
	}
}

func FuzzServe(f *testing.F) {
	good := frame(kindOrder, asJSON(f, orderFor("h")))
	data := frame(kindData, append(make([]byte, 8), 'x'))
	f.Add(append(good, data...))
	f.Add(append(append(good, frame(kindBeat, nil)...), data...))
	f.Add([]byte{1, 0, 0, 2, '{', '}'})
	o := Options{DialWait: time.Millisecond, Orphan: time.Millisecond, Keep: time.Millisecond}
	p := newPeer(f, "h", setting{dialer: noRoute{}, options: o, limit: megabyte})
	blob := p.cache.Path(digest.Of([]byte("x")))
	f.Fuzz(func(t *testing.T, said []byte) {
		converse(p.node, true, said)
		b, err := os.ReadFile(blob)
		if err == nil && string(b) != "x" {
			t.Fatalf("the blob has %q", b)
		}
		os.Remove(blob)
	})
}

func FuzzParse(f *testing.F) {
	f.Add(asJSON(f, orderFor("a", "b")))
	f.Add(asJSON(f, reportOf("h", lost, errors.New("no"))))
	f.Add(want{3, 4}.append(nil))
	f.Add([]byte{1, 2, 3, 4})
	f.Fuzz(func(t *testing.T, b []byte) {
		if o, err := parseOrder(b); err == nil {
			again, err := parseOrder(asJSON(t, o))
			if d := cmp.Diff(asJSON(t, o), asJSON(t, again)); err != nil || d != "" {
				t.Fatal(err, d)
			}
			for i := range o.Hosts {
				if sub := o.below(i); sub.check() != nil {
					t.Fatalf("the part for host %d of an order is none: %v", i, sub.check())
				}
			}
		}
		if r, err := parseReport(b); err == nil {
			if again, err := parseReport(asJSON(t, r)); err != nil || again != r {
				t.Fatal(err, again)
			}
		}
		if w, err := parseWant(b); err == nil && !bytes.Equal(w.append(nil), b) {
			t.Fatal(w)
		}
		if len(b) >= headerSize {
			if k, length, err := parseHeader(b); err == nil && !bytes.Equal(appendHeader(nil, k, length), b[:headerSize]) {
				t.Fatal(k, length)
			}
		}
		if r := reportOf("h", failed, errors.New(string(b))); r.check() != nil || len(asJSON(t, r)) > maxReport {
			t.Fatal(r)
		}
	})
}
