package coherence

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
)

// Many pages, several homes and a limit: what the exploration of one page cannot see.
// Contents are numbers that grow with each write.
type crowd struct {
	*rand.Rand
	hosts    []*Host
	limit    int
	memory   []map[Page]Data
	saved    []map[Page]Data
	timers   []Msg
	mail     [][]wireOf
	written  []Data  // of each page
	planned  [][]Msg // if not nil: what hosts put off, to do it by plans
	planner  Planner
	careless bool // plans are not ended where they must
}

type wireOf []Msg

func newCrowd(seed uint64, n int, pages Page, limit int, firstTouch bool) *crowd {
	c := &crowd{Rand: rand.New(rand.NewPCG(seed, 3)), limit: limit, written: make([]Data, pages)}
	blocks := make([]uint8, pages)
	for p := range blocks {
		blocks[p] = uint8(p % n)
		c.written[p] = Data(p + 1) // stands for zero
	}
	for i := range n {
		h, err := New(Config{Self: i, Hosts: n, Pages: pages, Blocks: blocks, BlockPages: 1, Limit: limit, FirstTouch: firstTouch})
		if err != nil {
			panic(err)
		}
		c.hosts = append(c.hosts, h)
		c.memory = append(c.memory, map[Page]Data{})
		c.saved = append(c.saved, map[Page]Data{})
		c.mail = append(c.mail, make([]wireOf, n))
	}
	return c
}

// happen lets one thing happen.
func (c *crowd) happen() error {
	i, p := c.IntN(len(c.hosts)), Page(c.IntN(len(c.written)))
	switch c.IntN(8) {
	case 0, 1, 2:
		return c.arrive(i, c.IntN(len(c.hosts)))
	case 3:
		return c.end()
	case 4:
		return c.access(i, p)
	}
	k := []Kind{ReadFault, WriteFault, PrefetchRead, PrefetchWrite, Evict}[c.IntN(5)]
	return c.step(Msg{Kind: k, From: uint8(i), To: uint8(i), Page: p})
}

func (c *crowd) arrive(i, from int) error {
	x := &c.mail[from][i]
	if len(*x) == 0 {
		return nil
	}
	m := (*x)[0]
	*x = (*x)[1:]
	return c.step(m)
}

func (c *crowd) end() error {
	if len(c.timers) == 0 {
		return nil
	}
	i := c.IntN(len(c.timers))
	m := c.timers[i]
	c.timers[i] = c.timers[len(c.timers)-1]
	c.timers = c.timers[:len(c.timers)-1]
	return c.step(m)
}

// access loads the page, and stores to it, if the host may.
func (c *crowd) access(i int, p Page) error {
	if c.planned != nil && len(c.planned[i]) > 0 {
		return nil // its views are not yet what its machine says
	}
	state := c.hosts[i].State(p)
	if seen := c.memory[i][p]; state.Readable() && seen != c.written[p] {
		return fmt.Errorf("host %d sees %d in page %d, where %d was written", i, seen, p, c.written[p])
	}
	if state.Writable() {
		c.written[p] += Data(len(c.written))
		c.memory[i][p] = c.written[p]
	}
	return nil
}

func (c *crowd) step(m Msg) error {
	h := c.hosts[m.To]
	out, err := h.Step(m, nil)
	c.obey(int(m.To), out)
	if err != nil {
		return err
	}
	return c.checkLimit(int(m.To))
}

// obey carries orders out, or some time later, by plans.
func (c *crowd) obey(i int, out []Msg) {
	if c.planned == nil {
		for _, o := range out {
			c.carryOut(o)
		}
		c.forget(i)
		return
	}
	if c.planned[i] = append(c.planned[i], out...); c.IntN(4) == 0 {
		c.carryOutPlans(i)
	}
}

func (c *crowd) carryOut(o Msg) {
	self := o.From
	switch o.Data {
	case Saved:
		o.Data = c.saved[self][o.Page]
	case Zero:
		o.Data = o.dataOfZero()
	}
	switch o.Kind {
	case Fill, FillWritable:
		c.memory[self][o.Page] = o.Data
	case Save:
		c.saved[self][o.Page] = c.memory[self][o.Page]
	case Drop, Discard:
		delete(c.memory[self], o.Page)
	case Hold:
		c.timers = append(c.timers, Msg{Kind: HoldOver, From: self, To: self, Page: o.Page})
	default:
		if !o.Kind.isOrder() {
			c.mail[self][o.To] = append(c.mail[self][o.To], o)
		}
	}
}

// forget drops what was put aside at a host and will not come out any more, so that it is
// missing if it does.
func (c *crowd) forget(i int) {
	for p := range c.saved[i] {
		if !c.hosts[i].Keeps(p) {
			delete(c.saved[i], p)
		}
	}
}

func (m Msg) dataOfZero() Data { return Data(m.Page + 1) }

// checkLimit: the pages are counted right, and either the limit is kept or all are busy.
func (c *crowd) checkLimit(i int) error {
	h := c.hosts[i]
	used, busy := 0, 0
	h.cache.entries.each(func(p Page, e *entry) {
		if e.state == Invalid || h.cache.isHome(e, p) {
			return
		}
		used++
		if e.state.pending() || e.flags&held != 0 {
			busy++
		}
	})
	if used != h.Cached() || h.limit() > 0 && used > max(h.limit(), busy) {
		return fmt.Errorf("host %d caches %d pages, %d of them busy; it counts %d, its limit is %d", i, used, busy, h.Cached(), h.limit())
	}
	if h.limit() > 0 && used > h.limit() && h.PutOff() == 0 {
		return fmt.Errorf("host %d caches %d pages, its limit is %d, and it is in no hurry", i, used, h.limit())
	}
	return nil
}

func (h *Host) limit() int { return h.cache.limit }

// settle lets everything under way arrive and end.
func (c *crowd) settle() error {
	for steps := 0; ; steps++ {
		quiet := len(c.timers) == 0
		for i := range c.hosts {
			for j := range c.hosts {
				quiet = quiet && len(c.mail[i][j]) == 0
				if err := c.arrive(j, i); err != nil {
					return err
				}
			}
		}
		if err := c.end(); err != nil {
			return err
		}
		if quiet {
			return c.checkSettled()
		}
		if steps > 100_000 {
			return fmt.Errorf("it does not settle")
		}
	}
}

func (c *crowd) checkSettled() error {
	for i, h := range c.hosts {
		if h.PutOff() != 0 || len(h.directory.active) != 0 {
			return fmt.Errorf("host %d: %d demands put off, %d pages busy", i, h.PutOff(), len(h.directory.active))
		}
		for p := range c.written {
			if h.State(Page(p)).pending() {
				return fmt.Errorf("host %d still waits for page %d", i, p)
			}
		}
	}
	return nil
}

func TestManyPages(t *testing.T) {
	for seed := range uint64(60) {
		for _, limit := range []int{0, 1, 3} {
			c := newCrowd(seed, 2+int(seed%4), 12, limit, seed%2 == 1)
			for range 4000 {
				if err := c.happen(); err != nil {
					t.Fatalf("seed %d, limit %d: %v", seed, limit, err)
				}
			}
			if err := c.settle(); err != nil {
				t.Fatalf("seed %d, limit %d: %v", seed, limit, err)
			}
		}
	}
}

// The checks find an eviction that leaves the page where it is.
func TestLimitMistakeIsFound(t *testing.T) {
	c := newCrowd(1, 3, 12, 1, false)
	steps := cacheSteps
	steps[Shared][Evict] = ignore
	for _, h := range c.hosts {
		h.cache.steps = &steps
	}
	for range 4000 {
		if c.happen() != nil {
			return
		}
	}
	t.Error("not found")
}

// A Step needs no memory once pages have been touched, and tens of nanoseconds.
func BenchmarkStep(b *testing.B) {
	b.Run("fault on a page that is there", func(b *testing.B) {
		c := newCrowd(1, 2, 1<<16, 0, false)
		h, out := c.hosts[0], make([]Msg, 0, 64)
		out, _ = h.Step(Msg{Kind: WriteFault}, out)
		for b.Loop() {
			out, _ = h.Step(Msg{Kind: ReadFault}, out[:0])
		}
	})
	b.Run("a write miss, with a recall", func(b *testing.B) {
		c := newCrowd(1, 3, 1<<16, 0, false)
		out := make([]Msg, 0, 64)
		p, pass := Page(0), 0
		for b.Loop() {
			if p += 3; p >= 1<<16-2 {
				p, pass = 0, pass+1
			}
			out = miss(c.hosts, p, 1+pass%2, out)
		}
	})
}

// miss gives a page of host 0 to a host for writing.
func miss(hosts []*Host, p Page, to int, out []Msg) []Msg {
	out, _ = hosts[to].Step(Msg{Kind: PrefetchWrite, From: uint8(to), To: uint8(to), Page: p}, out[:0])
	for i := 0; i < len(out); i++ {
		if m := out[i]; !m.Kind.isOrder() {
			if m.Data != NoData {
				m.Data = 1
			}
			out, _ = hosts[m.To].Step(m, out)
		}
	}
	return out
}

// What there is for each of millions of pages is small.
func TestSizes(t *testing.T) {
	for what, size := range map[string][2]uintptr{
		"a page at a host that uses it": {reflect.TypeFor[entry]().Size(), 4},
		"a page at its home":            {reflect.TypeFor[hostSet]().Size(), 8},
		"a message":                     {reflect.TypeFor[Msg]().Size(), 12},
	} {
		if size[0] != size[1] {
			t.Errorf("%s: %d bytes, not %d", what, size[0], size[1])
		}
	}
}

func TestStepNeedsNoMemory(t *testing.T) {
	c := newCrowd(1, 3, 3, 0, false)
	out, to := make([]Msg, 0, 64), 1
	if n := testing.AllocsPerRun(100, func() { out, to = miss(c.hosts, 0, to, out), 3-to }); n != 0 {
		t.Errorf("%v allocations a miss", n)
	}
}
