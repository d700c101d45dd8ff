package coherence

import "fmt"

// port is where the two machines of a host put what they say.
type port struct {
	self  uint8
	local []Msg // between the two machines: delivered within the same Step, in order
	out   []Msg // to other hosts, and orders for the pager
	err   error
}

func (p *port) send(m Msg) {
	m.From = p.self
	if m.To == p.self {
		p.local = append(p.local, m)
		return
	}
	p.out = append(p.out, m)
}

// order tells the pager to do something to the page.
func (p *port) order(k Kind, page Page, data Data) {
	p.out = append(p.out, Msg{Kind: k, From: p.self, To: p.self, Page: page, Data: data})
}

// A Violation is a message that no host that keeps the protocol sends in this state.
type Violation struct {
	Msg   Msg
	State string // of the page, at the machine that got the message
}

func (v *Violation) Error() string {
	return fmt.Sprintf("host %d: coherence: %v of page %d from host %d (data %#x) while the page is %s",
		v.Msg.To, v.Msg.Kind, v.Msg.Page, v.Msg.From, uint32(v.Msg.Data), v.State)
}

func (p *port) violate(m Msg, state string) {
	if p.err == nil {
		p.err = &Violation{m, state}
	}
}
