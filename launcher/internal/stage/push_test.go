package stage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/stage/manifest"
	"github.com/golaunch/golaunch/launcher/internal/stage/spread"
)

const megabyte = 1 << 20

func TestPush(t *testing.T) {
	for _, n := range []int{0, 1, 4, spread.MaxChain + 2} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			all, hosts := peers(t, n, setting{})
			contents := []Content{contentOf(random(1, megabyte+1)), contentOf(nil), contentOf([]byte("x"))}
			mustPush(t, Push(testContext(t), dialer{}, contents, hosts, patient))
			for _, p := range all {
				for i, c := range contents {
					if !p.has(c) {
						t.Errorf("%s lacks content %d", p.host.Name, i)
					}
				}
				if got := p.got.Load(); got > 5*megabyte/4 {
					t.Errorf("%d bytes have arrived", got)
				}
				p.got.Store(0)
			}
			mustPush(t, Push(testContext(t), dialer{}, contents, hosts, patient))
			for _, p := range all {
				if got := p.got.Load(); got > 16<<10 {
					t.Errorf("%d bytes have arrived although it is all there", got)
				}
			}
		})
	}
}

// Who has content passes it on, and is not sent it.
func TestOnlyWhatIsLackingIsSent(t *testing.T) {
	all, hosts := peers(t, 3, setting{})
	c := contentOf(random(1, megabyte))
	mustPush(t, Push(testContext(t), dialer{}, []Content{c}, hosts[1:2], patient))
	for _, p := range all {
		p.got.Store(0)
	}
	mustPush(t, Push(testContext(t), dialer{}, []Content{c}, hosts, patient))
	for i, p := range all {
		if got := p.got.Load(); (got < megabyte) != (i == 1) || !p.has(c) {
			t.Errorf("host %d got %d bytes", i, got)
		}
	}
}

func TestTwoPushesAtOnceAreOneTransfer(t *testing.T) {
	ctx := testContext(t)
	all, hosts := peers(t, 3, setting{})
	whole := contentOf(random(1, 2*megabyte))
	slow, valve := newValve(whole, megabyte)
	first := pushing(ctx, dialer{}, []Content{slow}, hosts, patient)
	all[2].awaitBytes(ctx, whole, megabyte/2)
	backwards := []Host{hosts[2], hosts[0], hosts[1]}
	second := pushing(ctx, dialer{}, []Content{whole}, backwards, patient)
	for _, p := range all {
		p.await(ctx, func() bool { f := p.growing(whole); f.mu.Lock(); defer f.mu.Unlock(); return f.joined == 2 })
	}
	valve.open()
	mustPush(t, first())
	mustPush(t, second())
	for i, p := range all {
		if got := p.got.Load(); got > 9*megabyte/4 || !p.has(whole) {
			t.Errorf("host %d got %d bytes", i, got)
		}
	}
}

// The second push does not wait for a first one that sends nothing any more.
func TestAStalledSenderIsReplaced(t *testing.T) {
	ctx := testContext(t)
	o := patient
	o.Silence = 2 * time.Second
	all, hosts := peers(t, 2, setting{options: o})
	whole := contentOf(random(1, 2*megabyte))
	stuck, valve := newValve(whole, megabyte)
	first := pushing(ctx, dialer{}, []Content{stuck}, hosts, o)
	all[1].awaitBytes(ctx, whole, megabyte/2)
	mustPush(t, Push(ctx, dialer{}, []Content{whole}, hosts, o))
	valve.open()
	mustPush(t, first())
}

func TestAnInnerHostDies(t *testing.T) {
	ctx := testContext(t)
	all, hosts := peers(t, 5, setting{})
	whole := contentOf(random(1, 4*megabyte))
	part, valve := newValve(whole, 2*megabyte)
	result := pushing(ctx, dialer{}, []Content{part}, hosts, patient)
	all[4].awaitBytes(ctx, whole, megabyte)
	all[2].die()
	valve.open()
	for i, err := range result() {
		if i == 2 {
			if err == nil || !strings.Contains(err.Error(), "host-2: cannot reach host-2 at "+hosts[2].Addr) || !strings.Contains(err.Error(), "host-1 lost the connection to host-2") {
				t.Error(err)
			}
			continue
		}
		if err != nil || !all[i].has(whole) {
			t.Errorf("host %d: %v", i, err)
		}
		if got := all[i].got.Load(); got > 5*megabyte {
			t.Errorf("host %d got %d bytes: it began anew", i, got)
		}
	}
}

func TestDeadHostsFromTheBeginning(t *testing.T) {
	all, hosts := peers(t, 6, setting{})
	for _, i := range []int{0, 2, 3, 5} {
		all[i].die()
	}
	c := contentOf(random(1, megabyte))
	for i, err := range Push(testContext(t), dialer{}, []Content{c}, hosts, patient) {
		if dead := i != 1 && i != 4; dead != (err != nil) || dead && !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("host %d: %v", i, err)
		}
	}
	if !all[1].has(c) || !all[4].has(c) {
		t.Error("the living lack it")
	}
}

func TestAHostWithoutRoomIsGoneAround(t *testing.T) {
	all, hosts := peers(t, 3, setting{})
	full := newPeer(t, "full", setting{limit: megabyte - 1})
	hosts = []Host{hosts[0], full.host, hosts[1], hosts[2]}
	c := contentOf(random(1, megabyte))
	errs := Push(testContext(t), dialer{}, []Content{c}, hosts, patient)
	var want = "full: cache " + full.cache.Dir().Path("")
	if err := errs[1]; err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), "1048576 bytes do not fit") {
		t.Error(err)
	}
	mustPush(t, []error{errs[0], errs[2], errs[3]})
	for _, p := range all {
		if !p.has(c) {
			t.Errorf("%s lacks it", p.host.Name)
		}
	}
}

func TestWhatLiesInABlobsPlaceIsReplaced(t *testing.T) {
	p := newPeer(t, "h", setting{})
	c := contentOf([]byte("content"))
	target := filepath.Join(t.TempDir(), "target")
	if err := errors.Join(os.WriteFile(target, []byte("content"), 0o500), os.Symlink(target, p.cache.Path(c.Sum))); err != nil {
		t.Fatal(err)
	}
	mustPush(t, Push(testContext(t), dialer{}, []Content{c}, []Host{p.host}, patient))
	if info, err := os.Lstat(p.cache.Path(c.Sum)); err != nil || !info.Mode().IsRegular() || !p.has(c) {
		t.Error(info.Mode(), err)
	}
}

func TestAChangedSourceIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prog")
	if err := os.WriteFile(path, random(1, megabyte), 0o700); err != nil {
		t.Fatal(err)
	}
	sources, err := manifest.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer sources.Close()
	all, hosts := peers(t, 2, setting{})
	if err := os.WriteFile(path, random(2, megabyte), 0o700); err != nil {
		t.Fatal(err)
	}
	for i, err := range Push(testContext(t), dialer{}, Contents(sources), hosts, patient) {
		if err == nil || !strings.Contains(err.Error(), path+" was changed while it was being sent") || all[i].has(Contents(sources)[0]) {
			t.Errorf("host %d: %v", i, err)
		}
	}
}

func TestPushRefuses(t *testing.T) {
	c := contentOf([]byte("x"))
	h := Host{Name: "h", Addr: "127.0.0.1:1"}
	for want, errs := range map[string][]error{
		"two hosts are called h": Push(t.Context(), dialer{}, []Content{c}, []Host{h, h}, patient),
		"want a name of":         Push(t.Context(), dialer{}, []Content{c}, []Host{{}}, patient),
		"comes twice":            Push(t.Context(), dialer{}, []Content{c, c}, []Host{h}, patient),
		"without a sum":          Push(t.Context(), dialer{}, []Content{{}}, []Host{h}, patient),
	} {
		for _, err := range errs {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
	}
}

func TestACancelledPushEnds(t *testing.T) {
	ctx := testContext(t)
	before := descriptors(t)
	t.Run("", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(ctx)
		o := patient
		o.Orphan = 50 * time.Millisecond
		all, hosts := peers(t, 3, setting{options: o})
		whole := contentOf(random(1, 2*megabyte))
		part, valve := newValve(whole, megabyte)
		result := pushing(ctx, dialer{}, []Content{part}, hosts, patient)
		all[2].awaitBytes(ctx, whole, megabyte/2)
		cancel(errors.New("no more time"))
		valve.open() // a read does not know of contexts
		for i, err := range result() {
			if err == nil || err.Error() != fmt.Sprintf("host-%d: no more time", i) {
				t.Errorf("host %d: %v", i, err)
			}
		}
		for _, p := range all { // what has arrived is given up after a while
			p.await(testContext(t), func() bool { return p.growing(whole) == nil })
			if left, err := os.ReadDir(p.cache.Dir().Path("partial")); err != nil || len(left) > 0 {
				t.Error(left, err)
			}
		}
	})
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors, before %d", after, before)
	}
}
