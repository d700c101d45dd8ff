package process

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/golaunch/golaunch/window/coherence"
	"github.com/golaunch/golaunch/window/pager/line"
	"github.com/golaunch/golaunch/window/pager/uffd"
)

// obey carries out the orders of a plan, run by run.
func (s *space) obey(orders []coherence.Msg) error {
	for len(orders) > 0 {
		n := coherence.Run(orders)
		if err := s.order(orders[:n]); err != nil {
			return fmt.Errorf("window %#x: %v of pages %d to %d: %w", s.id, orders[0].Kind, orders[0].Page, orders[n-1].Page, err)
		}
		orders = orders[n:]
	}
	return nil
}

// order carries out orders of one kind for pages that follow each other.
func (s *space) order(run []coherence.Msg) error {
	first, n := run[0].Page, len(run)
	switch run[0].Kind {
	case coherence.Protect:
		return s.protect(first, n)
	case coherence.Drop:
		s.counts.Invalidations += uint64(n)
		for i := range n {
			s.taken[first+coherence.Page(i)]++
		}
		return s.dropPages(first, n)
	case coherence.Discard:
		s.counts.Evictions += uint64(n)
		return s.dropPages(first, n)
	case coherence.Kill:
		return s.g.killRanks(fmt.Sprintf("host %d has lost touch with the job's first host", s.g.greeting.Host))
	}
	for _, m := range run {
		if err := s.orderPage(m); err != nil {
			return err
		}
	}
	return nil
}

func (s *space) orderPage(m coherence.Msg) error {
	switch m.Kind {
	case coherence.Save:
		return s.save(m.Page)
	case coherence.Fill, coherence.FillWritable:
		return s.fill(m)
	case coherence.Unprotect:
		return s.unprotect(m.Page)
	case coherence.Wake:
		return s.wake(m.Page)
	case coherence.Hold:
		s.g.holds.push(hold{s.g.now() + holdTime.Nanoseconds(), s, m.Page})
	case coherence.Free:
		s.mention(s.resolve(m.Page, m.Data))
	case coherence.Fail:
		return s.fail(m.Page)
	}
	return nil
}

// each does something in every view of a rank that lives.
func (s *space) each(do func(v *view) error) error {
	for _, v := range s.views {
		if !v.gone {
			if err := v.settled(do(v)); err != nil {
				return err
			}
		}
	}
	return nil
}

// protect: who wants to write faults from now on.
func (s *space) protect(first coherence.Page, n int) error {
	for p := first; p < first+coherence.Page(n); p++ {
		if s.host.State(p) == coherence.Shared { // else it is about to be dropped
			s.counts.Downgrades++
			s.taken[p]++
		}
	}
	for _, v := range s.views {
		for i := range n {
			v.board[int(first)+i] = min(v.board[int(first)+i], line.BoardReadable)
		}
	}
	return s.each(func(v *view) error { return v.Protect(int(first), n) })
}

// dropPages: who wants to read faults from now on. The pages are write-protected in all
// views already; they are again afterwards, because a hole may have lost its marker.
func (s *space) dropPages(first coherence.Page, n int) error {
	for _, v := range s.views {
		clear(v.board[first:][:n])
	}
	if err := s.cache.Punch(int(first), n); err != nil {
		return err
	}
	return s.each(func(v *view) error { return v.Protect(int(first), n) })
}

func (s *space) save(p coherence.Page) error {
	if old, some := s.saved[p]; some && !s.g.contents.at(old).out {
		s.g.contents.release(old)
	}
	d, err := s.g.contents.save(s.cache.Page(int(p)))
	s.saved[p] = d
	return err
}

// fill installs a page, for who waits for it, or else for anybody.
func (s *space) fill(m coherence.Msg) error {
	data := s.resolve(m.Page, m.Data)
	s.mention(data)
	content := s.g.contents.bytes(data)
	v := s.waiters.writer(m.Page)
	if v == nil || v.gone {
		v = s.anyView()
	}
	for ; v != nil; v = s.anyView() {
		err := v.settled(v.Fill(int(m.Page), content))
		if errors.Is(err, uffd.ErrPresent) {
			return errors.New("the page was there: somebody has written to the cache")
		}
		if err != nil {
			return err
		}
		if !v.gone {
			break
		}
	}
	if v == nil { // nobody looks: the page is kept for other hosts
		copy(s.cache.Page(int(m.Page)), content)
	}
	writable := m.Kind == coherence.FillWritable
	for _, other := range s.views {
		other.board[m.Page] = line.BoardReadable
		if writable && other.isCarried() {
			other.board[m.Page] = line.BoardWritable
		}
	}
	if writable && v != nil {
		return s.allow(v, m.Page)
	}
	return nil
}

func (s *space) anyView() *view {
	for _, v := range s.views {
		if !v.gone {
			return v
		}
	}
	return nil
}

// allow lets a view write a page that the host may write.
func (s *space) allow(v *view, p coherence.Page) (err error) {
	if !v.isCarried() {
		err = v.settled(v.Unprotect(int(p), 1))
	}
	v.board[p] = line.BoardWritable
	return err
}

// unprotect allows writing where somebody waits for that. Others fault in their turn.
func (s *space) unprotect(p coherence.Page) error {
	s.counts.Upgrades++
	for x := s.waiters.of[p]; x != nil; x = x.next {
		if v := x.view; x.write && (v.isCarried() || !v.gone) && v.board[p] != line.BoardWritable {
			if err := s.allow(v, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// wake has everybody who waits for a page look again.
func (s *space) wake(p coherence.Page) error {
	for x := s.waiters.take(p); x != nil; x = s.waiters.drop(x) {
		var err error
		switch {
		case x.fault && !x.view.gone:
			err = x.view.settled(x.view.Wake(int(p), 1))
		case x.request != nil:
			err = s.recheck(p, x)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// recheck counts a page of a request that is there, and asks again for one that is not.
func (s *space) recheck(p coherence.Page, x *waiter) error {
	if s.has(x.view, p, x.write) {
		x.request.arrived()
		return nil
	}
	s.waiters.add(p, waiter{view: x.view, write: x.write, request: x.request})
	return s.happens(faultOf(x.write), p)
}

// has tells whether a rank may do with a page what it wants: by word of the machine, and
// because what it has ordered has been done.
func (s *space) has(v *view, p coherence.Page, write bool) bool {
	state := s.host.State(p)
	if write {
		return state.Writable() && v.board[p] == line.BoardWritable
	}
	return state.Readable() && v.board[p] != line.BoardNone
}

// fail tells who waits for a page that its content is lost. A request gets an error; an
// access cannot, so its rank ends.
func (s *space) fail(p coherence.Page) error {
	why := fmt.Sprintf("page %d is lost: the only host that had it has died", p)
	for x := s.waiters.take(p); x != nil; x = s.waiters.drop(x) {
		switch {
		case x.request != nil:
			x.request.failed(why)
		case x.fault && !x.view.gone:
			if err := s.g.killRank(x.view.member, why); err != nil {
				return err
			}
		}
	}
	return nil
}

// want begins a rank's request. What is only advice is answered at once.
func (s *space) want(v *view, f line.Frame) error {
	if uint64(f.First)+uint64(f.N) > uint64(s.spec.Pages) {
		v.member.post(f.ID, fmt.Errorf("pages %d to %d of %d", f.First, uint64(f.First)+uint64(f.N), s.spec.Pages))
		return nil
	}
	switch f.Mode {
	case line.Read, line.Write:
		return s.await(v, f)
	}
	for p := coherence.Page(f.First); p < coherence.Page(f.First+f.N); p++ {
		var err error
		if f.Mode == line.Evict {
			err = s.happens(coherence.Evict, p)
		} else {
			err = v.prefetch(p, f.Mode == line.PrefetchWrite)
		}
		if err != nil {
			return err
		}
	}
	v.member.post(f.ID, nil)
	return nil
}

// await answers when all pages are there that are not yet.
func (s *space) await(v *view, f line.Frame) error {
	write := f.Mode == line.Write
	r := &request{member: v.member, id: f.ID, left: 1}
	if len(f.Body) == 2 && !s.has(v, coherence.Page(f.First), write) {
		s.wanted(coherence.Page(f.First), int(binary.LittleEndian.Uint16(f.Body)))
	}
	for p := coherence.Page(f.First); p < coherence.Page(f.First+f.N); p++ {
		if err := r.await(v, p, write); err != nil {
			return err
		}
	}
	r.arrived()
	return nil
}

// await has a request wait for a page, unless it is there.
func (r *request) await(v *view, p coherence.Page, write bool) error {
	s := v.space
	if s.has(v, p, write) {
		return nil
	}
	r.left++
	if write {
		s.counts.WriteMisses++
	} else {
		s.counts.ReadMisses++
	}
	s.waiters.add(p, waiter{view: v, write: write, request: r})
	return v.miss(p, write)
}

// arrived counts one page, or that all have been asked for.
func (r *request) arrived() {
	switch r.left--; {
	case r.left > 0:
	case r.access == nil:
		r.member.post(r.id, nil)
	default:
		r.member.done(r.id, r.carryOut())
	}
}

// failed answers with an error, once.
func (r *request) failed(why string) {
	switch {
	case r.left == 0:
		return
	case r.access == nil:
		r.member.post(r.id, errors.New(why))
	default:
		r.member.refuse(r.id, why)
	}
	r.left = 0
}
