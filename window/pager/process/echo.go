package process

import (
	"errors"
	"fmt"

	"github.com/golaunch/golaunch/window/coherence"
	"github.com/golaunch/golaunch/window/pager/line"
	"github.com/golaunch/golaunch/window/pager/parcel"
)

// An echo goes the way of a miss, from a rank to the pager of another host and back with
// a content, past the protocol and without touching a page: so that what these cost can be
// told from what the way costs.

// What an item of an echo has as its kind: no message of the protocol.
const (
	echoAsk coherence.Kind = 0xfe - iota
	echoAnswer
)

// echo begins one, to the first other host of the window.
func (v *view) echo(f line.Frame) {
	s := v.space
	if len(s.spec.Hosts) < 2 {
		v.member.post(f.ID, fmt.Errorf("window %#x has no other host", f.Window))
		return
	}
	other := 0
	if s.spec.Self == 0 {
		other = 1
	}
	s.echoes = append(s.echoes, request{member: v.member, id: f.ID})
	s.g.links[s.spec.Hosts[other]].send(s, coherence.Msg{Kind: echoAsk})
}

// echoed deals with either half of one.
func (s *space) echoed(host int, it parcel.Item, data coherence.Data) error {
	if isContent(data) {
		s.g.contents.release(data)
	}
	if it.Kind == echoAsk {
		d, err := s.g.contents.save(s.g.contents.zero)
		if err != nil {
			return err
		}
		s.g.links[host].send(s, coherence.Msg{Kind: echoAnswer, Data: d})
		s.g.contents.release(d)
		return nil
	}
	if len(s.echoes) == 0 {
		return errors.New("an echo that nobody has called for")
	}
	s.echoes[0].member.post(s.echoes[0].id, nil)
	s.echoes = s.echoes[1:]
	return nil
}
