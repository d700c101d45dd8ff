package stride

import (
	"math/rand/v2"
	"testing"
)

// A reader touches pages, has those that were fetched, and misses the others.
type reader struct {
	Detector
	pages           Page
	here            map[Page]bool
	room            int // how many pages are fetched ahead at a time; 0: all that should be
	misses, fetched int
}

func newReader(pages Page) *reader { return &reader{pages: pages, here: map[Page]bool{}} }

func (r *reader) touch(t *testing.T, p int) {
	t.Helper()
	if r.here[Page(p)] {
		return
	}
	r.misses++
	r.here[Page(p)] = true
	a := r.Miss(Page(p), r.pages)
	for i := range a.N {
		if i == r.room && r.room > 0 {
			break
		}
		ahead := int(a.First) + i*a.Stride
		if ahead < 0 || ahead >= int(r.pages) {
			t.Fatalf("miss of %d: page %d of %d is to be fetched", p, ahead, r.pages)
		}
		r.here[Page(ahead)] = true
		r.fetched++
	}
}

// Walks miss seldom and fetch little that they do not need.
func TestWalks(t *testing.T) {
	for name, c := range map[string]struct {
		pages         int
		step          func(i int) int
		steps         int
		misses, extra int // at most
	}{
		"forwards":           {10_000, func(i int) int { return i }, 10_000, 170, 0},
		"backwards":          {10_000, func(i int) int { return 9_999 - i }, 10_000, 170, 0},
		"every third":        {10_000, func(i int) int { return 3 * i }, 3333, 65, Most},
		"every fortieth":     {100_000, func(i int) int { return 40 * i }, 2500, 60, Most},
		"three rows in turn": {30_000, func(i int) int { return i%3*10_000 + i/3 }, 30_000, 510, 2 * Most},
		"a short one":        {10_000, func(i int) int { return 500 + i }, 10, 4, 10},
		"the same page":      {10_000, func(int) int { return 7 }, 100, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReader(Page(c.pages))
			touched := map[int]bool{}
			for i := range c.steps {
				r.touch(t, c.step(i))
				touched[c.step(i)] = true
			}
			extra := r.fetched + r.misses - len(touched)
			t.Logf("%d pages, %d misses, %d fetched in vain", len(touched), r.misses, extra)
			if r.misses > c.misses || extra > c.extra {
				t.Errorf("%d misses, %d fetched in vain; want at most %d and %d", r.misses, extra, c.misses, c.extra)
			}
		})
	}
}

// Misses in no order fetch next to nothing, in a window that is much larger than what
// eight walks are near to.
func TestNoOrder(t *testing.T) {
	r := newReader(1 << 20)
	random := rand.New(rand.NewPCG(1, 1))
	for range 100_000 {
		r.touch(t, random.IntN(1<<20))
	}
	t.Logf("%d misses, %d fetched", r.misses, r.fetched)
	if r.fetched*100 > r.misses {
		t.Errorf("%d pages fetched for %d misses", r.fetched, r.misses)
	}
}

// A page that was fetched and taken away again does not end its walk.
func TestTakenAway(t *testing.T) {
	r := newReader(10_000)
	random := rand.New(rand.NewPCG(2, 1))
	for i := range 10_000 {
		if random.IntN(10) == 0 {
			delete(r.here, Page(i))
		}
		r.touch(t, i)
	}
	if r.misses > 10_000/10+10_000/10/2+170 {
		t.Errorf("%d misses", r.misses)
	}
}

// Where there is room for 16 pages only, and no more are fetched, a walk with half of that as
// its limit misses as seldom as it can, and one without a limit much more often.
func TestLimit(t *testing.T) {
	const pages, room, limit = 10_000, 16, 8
	walk := func(limit int) *reader {
		r := newReader(pages)
		r.Limit, r.room = limit, room
		for i := range pages {
			r.touch(t, i)
		}
		return r
	}
	with, without := walk(limit), walk(0)
	t.Logf("%d misses with a limit, %d without", with.misses, without.misses)
	if with.misses > pages/(limit+1)+10 || without.misses < 3*with.misses {
		t.Errorf("%d misses with a limit, %d without", with.misses, without.misses)
	}
}

// A miss costs tens of nanoseconds.
func BenchmarkMiss(b *testing.B) {
	var d Detector
	for p := Page(0); b.Loop(); p += 7919 {
		d.Miss(p%(1<<20), 1<<20)
	}
}
