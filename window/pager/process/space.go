package process

import (
	"fmt"
	"slices"

	"github.com/golaunch/golaunch/window/coherence"
	"github.com/golaunch/golaunch/window/pager/line"
	"github.com/golaunch/golaunch/window/pager/parcel"
	"github.com/golaunch/golaunch/window/pager/uffd"
)

// A space is a window, as far as this host is concerned: its part in the protocol, the
// pages it has, and what its ranks see of them.
type space struct {
	g     *pager
	id    uint64
	spec  line.Spec
	host  *coherence.Host
	plan  coherence.Planner
	cache *uffd.Cache
	views []*view

	out      []coherence.Msg // what is to be carried out
	spare    []coherence.Msg // the memory of an out that has been
	active   bool            // it is in pager.active
	waiters  waiters
	saved    map[coherence.Page]coherence.Data
	given    []coherence.Data // contents that the machine was given in this batch
	mentions []coherence.Data // and those that it has given away

	lease  coherence.Lease
	watch  coherence.Watch // of the root: host 0 of the space
	pulses []coherence.Pulse
	counts line.Counts
	taken  map[coherence.Page]uint32 // how often the page was taken away
	echoes []request                 // that have not come back, in order

	sharing map[coherence.Page]*sharing // of pages whose home this host is
	blocks  map[coherence.Page]uint8    // what the latest miss of a page was for, until it is asked for
}

func newSpace(g *pager, id uint64, spec line.Spec) (s *space, err error) {
	s = &space{g: g, id: id, spec: spec, waiters: newWaiters(), saved: map[coherence.Page]coherence.Data{}, taken: map[coherence.Page]uint32{},
		sharing: map[coherence.Page]*sharing{}, blocks: map[coherence.Page]uint8{}}
	s.host, err = coherence.New(coherence.Config{
		Self: spec.Self, Hosts: len(spec.Hosts), Pages: coherence.Page(spec.Pages),
		Blocks: spec.Blocks, BlockPages: coherence.Page(spec.BlockPages), FirstTouch: spec.FirstTouch, Limit: int(spec.Limit),
	})
	if err != nil {
		return nil, err
	}
	if s.cache, err = uffd.NewCache(int(spec.Pages)); err != nil {
		return nil, err
	}
	s.startLease()
	return s, nil
}

// paths is how this host reaches the others.
func (s *space) paths() []string {
	all := make([]string, len(s.spec.Hosts))
	for i, host := range s.spec.Hosts {
		if i != s.spec.Self {
			all[i] = s.g.far.Path(host).String()
		}
	}
	return all
}

// close gives everything up.
func (s *space) close() error {
	for _, d := range s.saved {
		s.g.contents.release(d)
	}
	for _, v := range s.views {
		_ = v.close()
	}
	return s.cache.Close()
}

// step gives the machine a message.
func (s *space) step(m coherence.Msg) error {
	var err error
	s.out, err = s.host.Step(m, s.out)
	if err != nil {
		return fmt.Errorf("window %#x: %w", s.id, err)
	}
	if !s.active && len(s.out) > 0 {
		s.active = true
		s.g.active = append(s.g.active, s)
	}
	return nil
}

// happens is step of what happens at this host.
func (s *space) happens(k coherence.Kind, p coherence.Page) error {
	self := uint8(s.spec.Self)
	return s.step(coherence.Msg{Kind: k, From: self, To: self, Page: p})
}

// heard is step of what another host says.
func (s *space) heard(host int, it parcel.Item, data coherence.Data) error {
	from := slices.Index(s.spec.Hosts, host)
	if from < 0 {
		return fmt.Errorf("window %#x: a message of host %d, which does not share it", s.id, host)
	}
	s.counts.MessagesIn++
	if it.Kind == echoAsk || it.Kind == echoAnswer {
		return s.echoed(host, it, data)
	}
	if isContent(data) {
		s.counts.PagesIn++
		s.given = append(s.given, data)
	}
	if isRequest(it.Kind) {
		s.asked(it.Page, uint8(from), it.Host)
		it.Host = 0
	}
	return s.step(coherence.Msg{Kind: it.Kind, From: uint8(from), To: uint8(s.spec.Self), Host: it.Host, Page: it.Page, Data: data})
}

// carryOut does what the machine has said, until it says nothing more.
func (s *space) carryOut() error {
	for len(s.out) > 0 {
		batch := s.out
		s.out = s.spare[:0]
		for rest := batch; len(rest) > 0; {
			orders, messages, more := s.plan.Next(rest)
			if err := s.obey(orders); err != nil {
				return err
			}
			s.say(messages)
			rest = more
		}
		s.spare = batch[:0]
		if err := s.endBatch(); err != nil {
			return err
		}
	}
	s.active = false
	return nil
}

// say queues messages for other hosts.
func (s *space) say(messages []coherence.Msg) {
	for _, m := range messages {
		m.Data = s.resolve(m.Page, m.Data)
		s.mention(m.Data)
		if isRequest(m.Kind) {
			m.Host = s.block(m.Page)
		}
		s.g.links[s.spec.Hosts[m.To]].send(s, m)
	}
}

// resolve makes Saved the content that was saved.
func (s *space) resolve(p coherence.Page, d coherence.Data) coherence.Data {
	if d != coherence.Saved {
		return d
	}
	return s.saved[p]
}

// mention notes that the machine has given a content away.
func (s *space) mention(d coherence.Data) {
	if isContent(d) && !s.g.contents.at(d).out {
		s.g.contents.at(d).out = true
		s.mentions = append(s.mentions, d)
	}
}

// endBatch drops the machine's references on what it has given away: content comes out
// of it in one Step. What it has kept must not stay in a slot.
func (s *space) endBatch() error {
	for _, d := range s.given {
		if x := s.g.contents.at(d); !x.out && x.link != nil {
			if err := s.g.contents.evacuate(d); err != nil {
				return err
			}
		}
	}
	s.given = s.given[:0]
	for p, d := range s.saved {
		switch x := s.g.contents.at(d); {
		case s.host.Keeps(p):
			if x.out {
				x.refs++ // the machine goes on having it
			}
		case x.out:
			delete(s.saved, p)
		default:
			delete(s.saved, p)
			s.g.contents.release(d)
		}
	}
	for _, d := range s.mentions {
		s.g.contents.at(d).out = false
		s.g.contents.release(d)
	}
	s.mentions = s.mentions[:0]
	return nil
}
