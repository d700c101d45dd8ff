package slots

import "slices"

// A Verb is what a message asks a host for.
type Verb int

// The verbs.
const (
	Reserve Verb = iota
	Release
)

// A Message is to be sent to a host.
type Message struct {
	Verb Verb
	Host string
}

// An Answer is what became of a message to reserve.
type Answer int

// The answers.
const (
	Granted Answer = iota
	Refused        // the host does not hold the slots
	Unknown        // whether it does, nobody knows
)

// A Claim reserves slots of several hosts, of all or of none.
type Claim struct {
	open    []string // hosts that have not answered
	held    []string // that may hold slots
	refused bool
}

// NewClaim returns a claim and what is to be sent for it.
func NewClaim(hosts []string) (*Claim, []Message) {
	return &Claim{open: slices.Clone(hosts), held: slices.Clone(hosts)}, to(hosts, Reserve)
}

func to(hosts []string, verb Verb) (list []Message) {
	for _, h := range hosts {
		list = append(list, Message{verb, h})
	}
	return list
}

// Answered takes note of a host's answer and returns what is to be sent. Once every
// host has answered, Decided is true.
func (c *Claim) Answered(host string, a Answer) []Message {
	i := slices.Index(c.open, host)
	if i < 0 {
		return nil
	}
	c.open = slices.Delete(c.open, i, i+1)
	c.refused = c.refused || a != Granted
	if a == Refused {
		c.held = slices.DeleteFunc(c.held, func(h string) bool { return h == host })
	}
	if len(c.open) > 0 || !c.refused {
		return nil
	}
	return c.Abandon()
}

// Abandon gives up what is held, or may be.
func (c *Claim) Abandon() []Message {
	messages := to(c.held, Release)
	c.held, c.open, c.refused = nil, nil, true
	return messages
}

// Decided reports whether every host has answered; holds: they all hold their slots.
func (c *Claim) Decided() (decided, holds bool) {
	return len(c.open) == 0, len(c.open) == 0 && !c.refused
}
