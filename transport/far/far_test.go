package far

import (
	"bytes"
	"slices"
	"testing"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/tcp"
	"github.com/golaunch/golaunch/transport/transporttest"
)

// newFars are three ranks' ways to other hosts. The reference transport stands for
// devices, which rank 2 has none of.
func newFars(t *testing.T) ([]*Far, *transporttest.Job) {
	devices := transporttest.NewWorld(t, transporttest.NewReference(), 3)
	net := transporttest.NewWorld(t, tcp.Provider{Secret: make([]byte, 32), Job: "test", Version: "1", Loopback: true}, 3)
	var all []*Far
	for rank := range 3 {
		f := newFar(3)
		f.tcp, f.verbs = net.Endpoints[rank], devices.Endpoints[rank]
		if rank == 2 {
			f.verbs = nil
		}
		all = append(all, f)
	}
	return all, devices.Job
}

// Two ranks agree on how they reach each other, and one key names memory whatever that
// is.
func TestPairsAgree(t *testing.T) {
	fars, job := newFars(t)
	for _, owner := range []int{0, 2} {
		key, offset, mem := job.Alloc(owner, 64)
		region, err := fars[owner].Register(key, offset, mem)
		if err != nil {
			t.Fatal(err)
		}
		for from, f := range fars {
			want := TCP
			if from != 2 && owner != 2 {
				want = Verbs
			}
			path, err := f.Choose(owner, fars[owner].Addr(300))
			if err != nil || path != want || f.Path(owner) != want {
				t.Errorf("rank %d reaches %d by %q, %v; want %q", from, owner, path, err, want)
			}
			c, err := f.Dial(t.Context(), owner, fars[owner].Addr(300))
			if err != nil {
				t.Fatal(err)
			}
			put(t, f, path, c, region.Remote(), []byte{byte(1 + from)})
			if mem[0] != byte(1+from) {
				t.Errorf("what rank %d puts does not arrive", from)
			}
		}
		if err := region.Close(); err != nil {
			t.Error(err)
		}
	}
}

// put returns when src has arrived.
func put(t *testing.T, f *Far, path Path, c transport.Conn, dst transport.Remote, src []byte) {
	t.Helper()
	if err := c.Put(dst, src, 1); err != nil {
		t.Fatal(err)
	}
	e := f.tcp
	if path == Verbs {
		e = f.verbs
	}
	done := make([]transport.Completion, 1)
	for done[0].Op != 1 {
		if _, err := e.Poll(done); err != nil || t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
	if done[0].Err != nil {
		t.Error(done[0].Err)
	}
}

// Where devices are insisted on a rank without one is an error that says so.
func TestNoCommonTransport(t *testing.T) {
	fars, _ := newFars(t)
	fars[0].tcp = nil
	if _, err := fars[0].Choose(2, fars[2].Addr(300)); err == nil {
		t.Error("ranks without a common transport reach each other")
	}
}

// What does not fit into an address is left out, and the ranks use TCP.
func TestAddressWithoutRoom(t *testing.T) {
	fars, _ := newFars(t)
	addr := fars[0].Addr(len(fars[0].Addr(300)) - 1)
	verbs, net, err := split(addr)
	if err != nil || len(verbs) > 0 || !bytes.Equal(net, fars[0].tcp.Addr()) {
		t.Errorf("%d and %d bytes, %v", len(verbs), len(net), err)
	}
}

func FuzzSplit(f *testing.F) {
	f.Add([]byte{2, 'r', 'd', 't', 'c', 'p'})
	f.Add([]byte{0})
	f.Fuzz(func(t *testing.T, b []byte) {
		verbs, tcp, err := split(b)
		if err == nil && !slices.Equal(b, slices.Concat([]byte{byte(len(verbs))}, verbs, tcp)) {
			t.Errorf("% x is split into % x and % x", b, verbs, tcp)
		}
	})
}
