package arena

import (
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
)

// newArena returns an arena that is closed with the test.
func newArena(t testing.TB, cfg Config) *Arena {
	t.Helper()
	a := New(cfg)
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

func mustAlloc[T any](t testing.TB, a *Arena, n int) []T {
	t.Helper()
	s, err := Alloc[T](a, n)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustFree[T any](t testing.TB, a *Arena, s []T) {
	t.Helper()
	if err := Free(a, s); err != nil {
		t.Fatal(err)
	}
}

func TestAlloc(t *testing.T) {
	a := newArena(t, Config{})
	page := int64(os.Getpagesize())
	for _, n := range []int{1, 7, 8, 9, 511, 512, 513, 100_000, 262_144, 3 << 20} {
		s := mustAlloc[float64](t, a, n)
		if len(s) != n || cap(s) != n {
			t.Errorf("asked for %d: length %d, capacity %d", n, len(s), cap(s))
		}
		at, ok := Where(a, s)
		if !ok || at.Key == 0 {
			t.Errorf("%d elements are at %+v, %v", n, at, ok)
		}
		align := int64(lineAlign)
		if int64(n)*8 >= page {
			align = page
		}
		if int64(start(s))%align != 0 || at.Offset%align != 0 {
			t.Errorf("%d elements lie at %#x, offset %d", n, start(s), at.Offset)
		}
		s[0], s[n-1] = 1, 1
	}
	at, _ := Where(a, mustAlloc[byte](t, a, 64<<20))
	if at.Offset%hugePage != 0 {
		t.Errorf("64 MiB lie at offset %d", at.Offset)
	}
}

func TestAllocNothing(t *testing.T) {
	a := newArena(t, Config{})
	s := mustAlloc[int64](t, a, 0)
	if s == nil || len(s) != 0 {
		t.Errorf("no elements: %v", s)
	}
	e := mustAlloc[struct{}](t, a, 5)
	if len(e) != 5 {
		t.Errorf("5 elements of no size: %v", e)
	}
	mustFree(t, a, s)
	mustFree(t, a, s)
	mustFree(t, a, e)
	mustFree(t, a, []byte(nil))
	if _, ok := Where(a, s); ok {
		t.Error("located nothing")
	}
	if u := a.Usage(); u != (Usage{}) {
		t.Errorf("nothing takes %+v", u)
	}
}

func TestAllocRefusesSizes(t *testing.T) {
	a := newArena(t, Config{Rank: 3})
	for _, n := range []int{-1, math.MinInt, math.MaxInt, math.MaxInt/8 + 2, maxBytes/8 + 1} {
		_, err := Alloc[float64](a, n)
		want := fmt.Sprintf("rank 3: arena: allocating %d elements of type float64, 8 bytes each", n)
		if !errors.Is(err, ErrSize) || !strings.Contains(err.Error(), want) {
			t.Errorf("%d elements: %v", n, err)
		}
	}
	if _, err := Alloc[struct{}](a, -1); !errors.Is(err, ErrSize) {
		t.Errorf("-1 elements of no size: %v", err)
	}
}

type point struct{ X, Y float32 }
type nested struct {
	ID   uintptr
	P    [3]point
	None [0]*int
}
type person struct {
	Age  int
	Refs [2]struct{ Name string }
}

func TestElementTypes(t *testing.T) {
	a := newArena(t, Config{})
	mustFree(t, a, mustAlloc[nested](t, a, 3))
	mustFree(t, a, mustAlloc[complex128](t, a, 3))
	mustFree(t, a, mustAlloc[bool](t, a, 3))
	for range 2 { // the second answer comes from the table of known types
		for err, want := range map[error]string{
			errOf(Alloc[person](a, 1)):           "arena.person: .Refs[0].Name is of kind string: holds pointers",
			errOf(Alloc[*int](a, 1)):             "*int: they are of kind ptr",
			errOf(Alloc[any](a, 0)):              "they are of kind interface",
			errOf(Alloc[[]byte](a, 1)):           "[]uint8: they are of kind slice",
			errOf(Alloc[map[int]int](a, 1)):      "map",
			errOf(Alloc[chan int](a, 1)):         "chan",
			errOf(Alloc[func()](a, 1)):           "func",
			errOf(Alloc[[4][1]*int](a, 1)):       "[0][0] is of kind ptr",
			errOf(Alloc[reflect.Value](a, 1)):    "reflect.Value: .typ_ is of kind ptr",
			errOf(Alloc[struct{ p *int }](a, 1)): ".p is of kind ptr",
		} {
			if !errors.Is(err, ErrElement) || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
	}
}

func errOf[T any](_ []T, err error) error { return err }

func TestReuse(t *testing.T) {
	a := newArena(t, Config{})
	for _, n := range []int{1, 100, 4096, 100_000, 5 << 20, 20 << 20, 300 << 20} {
		first := mustAlloc[byte](t, a, n)
		fill(first, 0xff)
		mustFree(t, a, first)
		second := mustAlloc[byte](t, a, n)
		if start(first) != start(second) {
			t.Errorf("%d bytes freed at %#x, reused at %#x", n, start(first), start(second))
		}
		if !all(second, 0) {
			t.Errorf("%d bytes of reused memory are not all zero", n)
		}
		mustFree(t, a, second)
	}
}

func TestReuseIsLastFreedFirst(t *testing.T) {
	a := newArena(t, Config{})
	x, y := mustAlloc[byte](t, a, 5000), mustAlloc[byte](t, a, 5000)
	mustFree(t, a, x)
	mustFree(t, a, y)
	if z := mustAlloc[byte](t, a, 6000); start(z) != start(y) {
		t.Error("not the extent freed last")
	}
}

// A big extent serves what is at most an eighth smaller, and the closest fit is taken.
func TestReuseOfBigExtents(t *testing.T) {
	var l freeLists
	for _, mib := range []int64{64, 20, 18, 72} {
		l.push(&block{class: class{band: big, size: mib << 20}})
	}
	for _, c := range []struct{ ask, want int64 }{{62, 64}, {40, 0}, {18, 18}, {18, 20}, {64, 72}, {64, 0}} {
		got := int64(0)
		if b := l.pop(class{band: big, size: c.ask << 20}); b != nil {
			got = b.class.size >> 20
		}
		if got != c.want {
			t.Errorf("asked for %d MiB: got %d, want %d", c.ask, got, c.want)
		}
	}
}

func TestFreeRefuses(t *testing.T) {
	a, other := newArena(t, Config{Rank: 3}), newArena(t, Config{})
	s := mustAlloc[int64](t, a, 1000)
	freed := mustAlloc[int64](t, a, 10)
	mustFree(t, a, freed)
	before := a.Usage()
	for _, c := range []struct {
		name string
		mem  []int64
		is   error
		want string
	}{
		{"the Go heap", make([]int64, 4), ErrForeign, "rank 3: arena: freeing memory at 0x"},
		{"another arena", mustAlloc[int64](t, other, 4), ErrForeign, "not an allocation of this arena"},
		{"an interior pointer", s[3:], ErrInterior, "freeing memory 24 bytes after the start of 8192 bytes at offset 0 of segment 1"},
		{"freed twice", freed, ErrDoubleFree, "already freed"},
		{"inside what is free", freed[1:], ErrInterior, "8 bytes after the start of 128 bytes"},
		{"never handed out", elements[int64](a.segments[0].mem[1<<19:], 8), ErrForeign, "offset 524288 of segment 1"},
	} {
		if err := Free(a, c.mem); !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if after := a.Usage(); after != before {
		t.Errorf("refused frees changed %+v to %+v", before, after)
	}
	mustFree(t, a, s[:0]) // a beginning names the allocation
}
