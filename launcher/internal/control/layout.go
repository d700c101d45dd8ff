package control

// The numbers of the kinds are part of the protocol.
const (
	kindHello uint8 = 1 + iota
	kindBuild
	kindBuilt
	kindStart
	kindSignal
	kindKill
	kindFinish
	kindStdin
	kindStdinEnd
	kindCredit
	kindStarted
	kindNotStarted
	kindJoined
	kindLeft
	kindLost
	kindAborted
	kindExited
	kindOutput
	kindClosed
	kindStdinCredit
	kindStdinClosed
	kindTrouble
	kindDone
	kindAddress
	kindFate
	kindReport
	kindOffer
	kindKeep
	kindRefused
	kindHosts
)

// makers returns an empty message, by kind.
var makers = [...]func() Message{
	kindHello:       func() Message { return new(Hello) },
	kindBuild:       func() Message { return new(Build) },
	kindBuilt:       func() Message { return new(Built) },
	kindStart:       func() Message { return new(Start) },
	kindSignal:      func() Message { return new(Signal) },
	kindKill:        func() Message { return new(Kill) },
	kindFinish:      func() Message { return new(Finish) },
	kindStdin:       func() Message { return new(Stdin) },
	kindStdinEnd:    func() Message { return new(StdinEnd) },
	kindCredit:      func() Message { return new(Credit) },
	kindStarted:     func() Message { return new(Started) },
	kindNotStarted:  func() Message { return new(NotStarted) },
	kindJoined:      func() Message { return new(Joined) },
	kindLeft:        func() Message { return new(Left) },
	kindLost:        func() Message { return new(Lost) },
	kindAborted:     func() Message { return new(Aborted) },
	kindExited:      func() Message { return new(Exited) },
	kindOutput:      func() Message { return new(Output) },
	kindClosed:      func() Message { return new(Closed) },
	kindStdinCredit: func() Message { return new(StdinCredit) },
	kindStdinClosed: func() Message { return new(StdinClosed) },
	kindTrouble:     func() Message { return new(Trouble) },
	kindDone:        func() Message { return new(Done) },
	kindAddress:     func() Message { return new(Address) },
	kindFate:        func() Message { return new(Fate) },
	kindReport:      func() Message { return new(Report) },
	kindOffer:       func() Message { return new(Offer) },
	kindKeep:        func() Message { return new(Keep) },
	kindRefused:     func() Message { return new(Refused) },
	kindHosts:       func() Message { return new(Hosts) },
}

func (*Hello) kind() uint8       { return kindHello }
func (*Build) kind() uint8       { return kindBuild }
func (*Built) kind() uint8       { return kindBuilt }
func (*Start) kind() uint8       { return kindStart }
func (*Signal) kind() uint8      { return kindSignal }
func (*Kill) kind() uint8        { return kindKill }
func (*Finish) kind() uint8      { return kindFinish }
func (*Stdin) kind() uint8       { return kindStdin }
func (*StdinEnd) kind() uint8    { return kindStdinEnd }
func (*Credit) kind() uint8      { return kindCredit }
func (*Started) kind() uint8     { return kindStarted }
func (*NotStarted) kind() uint8  { return kindNotStarted }
func (*Joined) kind() uint8      { return kindJoined }
func (*Left) kind() uint8        { return kindLeft }
func (*Lost) kind() uint8        { return kindLost }
func (*Aborted) kind() uint8     { return kindAborted }
func (*Exited) kind() uint8      { return kindExited }
func (*Output) kind() uint8      { return kindOutput }
func (*Closed) kind() uint8      { return kindClosed }
func (*StdinCredit) kind() uint8 { return kindStdinCredit }
func (*StdinClosed) kind() uint8 { return kindStdinClosed }
func (*Trouble) kind() uint8     { return kindTrouble }
func (*Done) kind() uint8        { return kindDone }
func (*Address) kind() uint8     { return kindAddress }
func (*Fate) kind() uint8        { return kindFate }
func (*Report) kind() uint8      { return kindReport }
func (*Offer) kind() uint8       { return kindOffer }
func (*Keep) kind() uint8        { return kindKeep }
func (*Refused) kind() uint8     { return kindRefused }
func (*Hosts) kind() uint8       { return kindHosts }

func (m *Hello) fields(c *coder) {
	c.number(&m.Protocol)
	c.text(&m.Version)
	c.text(&m.Host)
	c.number(&m.PID)
}

func (m *Build) fields(c *coder) {
	c.text(&m.Scratch)
	c.text(&m.Dir)
	c.texts(&m.Env)
}

func (m *Built) fields(c *coder) {
	c.text(&m.Dir)
	c.text(&m.Path)
	c.text(&m.Output)
}

func (m *Start) fields(c *coder) {
	c.text(&m.Job)
	c.number(&m.Size)
	c.number(&m.Stdin)
	c.flag(&m.Bind)
	c.number(&m.Core)
	c.number(&m.Sharers)
	c.bytes(&m.Secret)
	list(c, &m.Programs, 6*4, (*Program).fields)
	c.number(&m.Host)
	c.flag(&m.Apart)
	m.Settings.fields(c)
}

// list writes a list, or reads one whose elements are at least least bytes long.
func list[T any](c *coder, v *[]T, least int, fields func(*T, *coder)) {
	n := c.count(len(*v), least)
	if c.reading {
		*v = make([]T, n)
	}
	for i := range *v {
		fields(&(*v)[i], c)
	}
}

func (m *Hosts) fields(c *coder) { list(c, &m.Hosts, 4+8, (*Host).fields) }

func (h *Host) fields(c *coder) {
	c.text(&h.Name)
	c.number(&h.Ranks)
}

func (s *Settings) fields(c *coder) {
	c.text(&s.Transport)
	c.text(&s.Interface)
	c.flag(&s.Loopback)
	c.flag(&s.Encrypt)
	c.flag(&s.Stats)
	c.long(&s.Timeout)
}

func (p *Program) fields(c *coder) {
	c.number(&p.First)
	c.number(&p.Count)
	c.text(&p.Path)
	c.texts(&p.Args)
	c.texts(&p.Env)
	c.text(&p.Dir)
}

func (m *Signal) fields(c *coder) {
	c.number(&m.Sig)
	c.flag(&m.SpareLeft)
}

func (m *Kill) fields(*coder) {}

func (m *Finish) fields(c *coder) { c.long(&m.Linger) }

func (m *Stdin) fields(c *coder) { c.bytes(&m.Data) }

func (m *StdinEnd) fields(*coder) {}

func (m *Credit) fields(c *coder) {
	c.number(&m.Rank)
	c.number(&m.Stream)
	c.number(&m.Bytes)
}

func (m *Started) fields(c *coder) {
	c.number(&m.Rank)
	c.number(&m.PID)
}

func (m *NotStarted) fields(c *coder) {
	c.number(&m.Rank)
	c.number(&m.Errno)
	c.text(&m.Text)
}

func (m *Joined) fields(c *coder) {
	c.number(&m.Rank)
	c.number(&m.PID)
}

func (m *Left) fields(c *coder) { c.number(&m.Rank) }

func (m *Lost) fields(c *coder) {
	c.number(&m.Rank)
	c.number(&m.PID)
}

func (m *Aborted) fields(c *coder) {
	c.number(&m.Rank)
	c.number(&m.Code)
	c.text(&m.Text)
}

func (m *Exited) fields(c *coder) {
	c.number(&m.Rank)
	c.number(&m.Code)
	c.number(&m.Signal)
	c.text(&m.Why)
	c.flag(&m.CoreDumped)
	c.long(&m.Wall)
	c.long(&m.User)
	c.long(&m.System)
	c.long(&m.MaxRSS)
}

func (m *Output) fields(c *coder) {
	c.number(&m.Rank)
	c.number(&m.Stream)
	c.bytes(&m.Data)
}

func (m *Closed) fields(c *coder) {
	c.number(&m.Rank)
	c.number(&m.Stream)
}

func (m *StdinCredit) fields(c *coder) { c.number(&m.Bytes) }

func (m *StdinClosed) fields(*coder) {}

func (m *Trouble) fields(c *coder) { c.text(&m.Text) }

func (m *Done) fields(c *coder) { c.number(&m.Killed) }

func (m *Address) fields(c *coder) {
	c.number(&m.Rank)
	c.bytes(&m.Address)
}

func (m *Fate) fields(c *coder) {
	c.number(&m.Rank)
	c.number(&m.State)
	c.number(&m.Code)
}

func (m *Report) fields(c *coder) {
	c.number(&m.Rank)
	c.bytes(&m.Figures)
}

func (m *Offer) fields(c *coder) { c.number(&m.Slots) }

func (m *Keep) fields(c *coder) { c.long(&m.Timeout) }

func (m *Refused) fields(c *coder) { c.text(&m.Text) }
