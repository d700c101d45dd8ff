package uffd

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/golaunch/golaunch/internal/spawntest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A page is filled, written, taken away with what was written, and filled again.
func TestLifeOfAPage(t *testing.T) {
	c, ranks := cluster(t, 1, 8)
	r := ranks[0]
	r.begin(load, 3, 0)
	r.fault(Fault{Page: 3})
	r.must(r.view.Fill(3, content(7)))
	if got := r.done(); got != 7 {
		t.Errorf("loaded %d", got)
	}
	r.begin(store, 3, 8)
	r.fault(Fault{Page: 3, Write: true, Protected: true})
	r.must(r.view.Unprotect(3, 1))
	r.done()
	r.must(r.view.Protect(3, 1))
	if got := binary.LittleEndian.Uint64(c.Page(3)); got != 8 {
		t.Errorf("written: %d", got)
	}
	r.must(c.Punch(3, 1))
	r.must(r.view.Protect(3, 1))
	r.must(r.view.Wake(3, 1))
	r.begin(load, 3, 0)
	r.fault(Fault{Page: 3})
	r.must(r.view.Fill(3, content(9)))
	if got := r.done(); got != 9 {
		t.Errorf("loaded %d after the page was taken away", got)
	}
}

// A store to an absent page asks for it, and then for the right to write it.
func TestStoreToAbsentPage(t *testing.T) {
	_, ranks := cluster(t, 1, 2)
	r := ranks[0]
	r.begin(store, 1, 5)
	r.fault(Fault{Page: 1, Write: true})
	r.must(r.view.Fill(1, content(0)))
	r.fault(Fault{Page: 1, Write: true, Protected: true})
	r.must(r.view.Unprotect(1, 1))
	r.done()
}

// A second rank of the host maps a page that is in the cache by itself, and still
// cannot write it, also after the page was away for a while.
func TestSecondRankCannotWrite(t *testing.T) {
	c, ranks := cluster(t, 2, 2)
	a, b := ranks[0], ranks[1]
	for round := range uint64(3) {
		a.begin(load, 0, 0)
		a.fault(Fault{})
		a.must(a.view.Fill(0, content(round)))
		a.done()
		b.begin(load, 0, 0)
		if got := b.done(); got != round {
			t.Errorf("loaded %d, want %d", got, round)
		}
		b.begin(store, 0, 9)
		b.fault(Fault{Write: true, Protected: true})
		if got := binary.LittleEndian.Uint64(c.Page(0)); got != round {
			t.Errorf("%d was written, without the right to", got)
		}
		b.must(b.view.Unprotect(0, 1))
		b.done()
		for _, r := range ranks {
			r.must(r.view.Protect(0, 1))
		}
		a.must(c.Punch(0, 1))
		for _, r := range ranks {
			r.must(r.view.Protect(0, 1))
			r.must(r.view.Wake(0, 1))
		}
	}
}

func TestManyPagesAtOnce(t *testing.T) {
	_, ranks := cluster(t, 1, 64)
	r := ranks[0]
	var pages []byte
	for i := range uint64(64) {
		pages = append(pages, content(i)...)
	}
	r.must(r.view.Fill(0, pages))
	r.must(r.view.Unprotect(8, 16))
	for page := range 64 {
		r.begin(store, page, 100)
		if page < 8 || page >= 24 {
			r.fault(Fault{Page: page, Write: true, Protected: true})
			r.must(r.view.Unprotect(page, 1))
		}
		r.done()
	}
}

func TestFillOfPresentPage(t *testing.T) {
	_, ranks := cluster(t, 1, 4)
	v := ranks[0].view
	ranks[0].must(v.Fill(2, content(1)))
	err := v.Fill(1, append(content(2), content(3)...))
	if want := "filling pages 1 to 2: the page is there"; !errors.Is(err, ErrPresent) || err.Error() != want {
		t.Errorf("%v, want %q", err, want)
	}
	ranks[0].begin(load, 1, 0)
	if got := ranks[0].done(); got != 2 {
		t.Errorf("loaded %d from the page before it", got)
	}
}

func TestRankHasEnded(t *testing.T) {
	_, ranks := cluster(t, 1, 2)
	r := ranks[0]
	packet{op: end}.send(r.socket)
	<-r.over
	for what, err := range map[string]error{"filling": r.view.Fill(0, content(1)), "protecting": r.view.Protect(0, 1), "waking": r.view.Wake(0, 1)} {
		if !errors.Is(err, ErrGone) && !(what == "waking" && err == nil) { // nobody is there to be woken
			t.Errorf("%s: %v", what, err)
		}
	}
}

// What ranks write is never lost, though pages are taken away from under them all the
// time, with the collector at work.
func TestNoWriteIsLost(t *testing.T) {
	const pages, increments = 4, 20_000_000
	c, ranks := cluster(t, 1, pages)
	r := ranks[0]
	home := [pages][]byte{content(0), content(0), content(0), content(0)}
	present := [pages]bool{}
	for page := range pages {
		r.begin(increment, page, increments)
	}
	takenAway := 0
	for running, turn := pages, 0; running > 0; turn++ {
		select {
		case <-r.answers:
			running--
		default:
		}
		if victim := turn / 8 % pages; turn%8 == 0 && present[victim] {
			takeAway(r, c, victim, home[victim])
			present[victim] = false
			takenAway++
		}
		if !r.readable(0) {
			continue
		}
		var faults [8]Fault
		n, err := r.view.Faults(faults[:])
		r.must(err)
		for _, f := range faults[:n] {
			switch {
			case !present[f.Page]:
				r.must(r.view.Fill(f.Page, home[f.Page]))
				present[f.Page] = true
			case f.Write:
				r.must(r.view.Unprotect(f.Page, 1))
			default:
				r.must(r.view.Wake(f.Page, 1))
			}
		}
	}
	sum := uint64(0)
	for page := range pages {
		if present[page] {
			takeAway(r, c, page, home[page])
		}
		sum += binary.LittleEndian.Uint64(home[page])
	}
	if sum != pages*increments || takenAway < 20 {
		t.Errorf("%d of %d increments, pages taken away %d times", sum, pages*increments, takenAway)
	}
}

// A page that was taken away is marked, if it is protected behind, also while a rank
// loads from it all the time. Without that a writable one is not, and one that was
// protected before is only mostly: nothing can be asked of it.
func TestMarkers(t *testing.T) {
	c, ranks := cluster(t, 1, 1)
	r := ranks[0]
	r.begin(watch, 0, 0)
	for range 1000 {
		for _, protect := range [][2]bool{{true, true}, {true, false}, {false, true}, {false, false}} {
			r.must(r.view.Fill(0, content(1)))
			r.must(r.view.Unprotect(0, 1))
			if protect[0] {
				r.must(r.view.Protect(0, 1))
			}
			r.must(c.Punch(0, 1))
			if protect[1] {
				r.must(r.view.Protect(0, 1))
			}
			mostly := protect[0] && !protect[1]
			if got, want := r.marked(0), protect[1]; got != want && !mostly {
				t.Fatalf("protected before and behind: %v, marked: %v", protect, got)
			}
			r.must(r.view.Protect(0, 1))
			var faults [8]Fault
			if _, err := r.view.Faults(faults[:]); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// marked tells whether the kernel has a page of the rank write-protected, there or not.
func (r *rank) marked(page int) bool {
	r.t.Helper()
	pagemap, err := os.Open(fmt.Sprintf("/proc/%d/pagemap", r.pid))
	if err != nil {
		r.t.Fatal(err)
	}
	defer pagemap.Close()
	var entry [8]byte
	if _, err := pagemap.ReadAt(entry[:], (int64(r.view.base)/int64(os.Getpagesize())+int64(page))*8); err != nil {
		r.t.Fatal(err)
	}
	return binary.LittleEndian.Uint64(entry[:])&(1<<57) != 0
}

func takeAway(r *rank, c *Cache, page int, into []byte) {
	r.t.Helper()
	r.must(r.view.Protect(page, 1))
	copy(into, c.Page(page))
	r.must(c.Punch(page, 1))
	r.must(r.view.Protect(page, 1))
	r.must(r.view.Wake(page, 1))
}

// Everybody may watch pages in user mode, and who may do more does.
func TestWays(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("uffd: only root can become somebody else")
	}
	c, err := NewCache(1)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	m, err := Create(c.File(), 1)
	if err != nil || m.Way == UserMode {
		t.Fatalf("%+v, %v", m, err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	err = spawntest.AsNobody(func() error {
		m, err := Create(c.File(), 1)
		if err != nil {
			return err
		}
		if m.Way != UserMode {
			return fmt.Errorf("nobody may watch pages by %v", m.Way)
		}
		return m.Close()
	})
	if text, _ := os.ReadFile("/proc/sys/vm/unprivileged_userfaultfd"); err != nil && string(text) != "1\n" {
		t.Error(err)
	}
}
