package stage

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/stage/manifest"
	"github.com/golaunch/golaunch/launcher/internal/stage/spread"
)

// A Content is a blob that the sender has.
type Content struct {
	manifest.Blob
	io.ReaderAt // for any goroutine
}

// Contents are those of opened sources, each once.
func Contents(sources manifest.Sources) []Content {
	var all []Content
	seen := map[manifest.Blob]bool{}
	for _, s := range sources {
		if !seen[s.Blob] {
			seen[s.Blob] = true
			all = append(all, Content{s.Blob, s})
		}
	}
	return all
}

// Push brings contents to hosts and returns what came of it, in the order of the
// hosts: nil for those that have everything. It returns when each host has
// everything or has failed, or when ctx ends. Hosts that come first in the list
// pass on to those that come later; the sender's own host, if it is one of them,
// had better be the first.
func Push(ctx context.Context, d Dialer, contents []Content, hosts []Host, o Options) []error {
	p := &push{
		dialer: d, options: o.withDefaults(), contents: contents, hosts: hosts, name: rand.Text(),
		events: make(chan event), index: make(map[string]int, len(hosts)), sessions: map[int]*session{},
	}
	if err := p.check(); err != nil {
		return p.failures(err)
	}
	for i, h := range hosts {
		p.index[h.Name] = i
	}
	var cancel context.CancelCauseFunc
	p.ctx, cancel = context.WithCancelCause(ctx)
	err := p.run()
	cancel(errOver)
	p.running.Wait()
	return p.failures(errors.Join(p.unchanged(), err))
}

// A push carries out what a spread.Push decides. It belongs to one goroutine, but
// for events.
type push struct {
	dialer   Dialer
	options  Options
	contents []Content
	hosts    []Host
	index    map[string]int
	name     string

	ctx     context.Context
	events  chan event
	running sync.WaitGroup

	plan     *spread.Push
	sessions map[int]*session
	quickest time.Duration // in which a host got everything; 0: none has
}

// A session is one that has not been closed.
type session struct {
	courier *courier
	cancel  context.CancelFunc
	began   time.Time
	overdue bool // that was dealt with
}

// An event is a report in a session, or its end.
type event struct {
	session int
	report  report
	ended   bool
	err     error
}

func (p *push) check() error {
	blobs := p.blobs()
	if len(blobs) > maxBlobs || len(p.hosts) > maxHosts {
		return fmt.Errorf("%d blobs for %d hosts: at most %d and %d", len(blobs), len(p.hosts), maxBlobs, maxHosts)
	}
	return errors.Join(checkBlobs(blobs), checkHosts(p.hosts))
}

func (p *push) blobs() []manifest.Blob {
	blobs := make([]manifest.Blob, len(p.contents))
	for i, c := range p.contents {
		blobs[i] = c.Blob
	}
	return blobs
}

// run returns when every host is settled, or with the reason why that was given up.
func (p *push) run() error {
	tick := time.NewTicker(p.options.Patience / 8)
	defer tick.Stop()
	plan, orders := spread.New(len(p.hosts))
	p.plan = plan
	p.obey(orders)
	for !p.plan.Over() {
		select {
		case e := <-p.events:
			p.obey(p.decide(e))
		case now := <-tick.C:
			p.hurry(now)
		case <-p.ctx.Done():
			return context.Cause(p.ctx)
		}
	}
	return nil
}

// unchanged says whether somebody has written to a source meanwhile, which explains
// that hosts found the wrong content.
func (p *push) unchanged() error {
	for _, c := range p.contents {
		if s, ok := c.ReaderAt.(interface{ Unchanged() error }); ok {
			if err := s.Unchanged(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *push) decide(e event) spread.Orders {
	if e.ended {
		return p.plan.Ended(e.session, fmt.Sprint(e.err))
	}
	host, known := p.index[e.report.Host]
	if !known {
		return spread.Orders{}
	}
	switch e.report.Outcome {
	case done:
		p.time(e.session)
		return p.plan.Reached(host)
	case failed:
		return p.plan.Failed(e.session, host, e.report.Error)
	}
	return p.plan.Lost(e.session, host, e.report.Error)
}

func (p *push) obey(o spread.Orders) {
	for _, s := range o.Open {
		p.open(s)
	}
	for _, number := range o.Close {
		p.sessions[number].cancel()
		delete(p.sessions, number)
	}
}

func (p *push) open(s *spread.Session) {
	o := order{Push: p.name, Session: s.Number, Blobs: p.blobs(), Parents: s.Parents}
	for _, h := range s.Hosts {
		o.Hosts = append(o.Hosts, p.hosts[h])
	}
	ctx, cancel := context.WithCancel(p.ctx)
	c := &courier{dialer: p.dialer, options: p.options, order: o, supply: p.supply}
	c.report = func(r report) { p.tell(ctx, event{session: s.Number, report: r}) }
	p.sessions[s.Number] = &session{courier: c, cancel: cancel, began: time.Now()}
	p.running.Go(func() {
		err := c.run(ctx)
		if err == nil {
			err = errors.New("the transfer ended without word of it")
		}
		p.tell(ctx, event{session: s.Number, ended: true, err: err})
	})
}

func (p *push) tell(ctx context.Context, e event) {
	select {
	case p.events <- e:
	case <-ctx.Done():
	}
}

// everything is a supply that is all there.
type everything int64

func (size everything) await(context.Context, int64) (int64, error) { return int64(size), nil }

func (p *push) supply(_ context.Context, blob int) (supply, io.ReaderAt, error) {
	return everything(p.contents[blob].Size), p.contents[blob].ReaderAt, nil
}

// hurry looks for sessions in which hosts wait for a slow one.
func (p *push) hurry(now time.Time) {
	for number, s := range p.sessions {
		if !s.overdue && p.isOverdue(now.Sub(s.began)) {
			s.overdue = true
			p.obey(p.plan.Overdue(number))
		}
	}
}

// time notes how long a host took, if all was sent to it.
func (p *push) time(number int) {
	s := p.sessions[number]
	if s == nil || s.courier.sent.Load() < p.total() {
		return
	}
	if took := time.Since(s.began); p.quickest == 0 || took < p.quickest {
		p.quickest = took
	}
}

func (p *push) total() (sum int64) {
	for _, c := range p.contents {
		sum += c.Size
	}
	return sum
}

// isOverdue compares a session with the host that took the least time.
func (p *push) isOverdue(lasted time.Duration) bool {
	if p.quickest > 0 {
		return lasted > p.options.Patience+3*p.quickest
	}
	atLeast := time.Duration(float64(p.total()) / p.options.Slowest * float64(time.Second))
	return lasted > 2*p.options.Patience+atLeast
}

// failures are the errors by host. err, if it is not nil, explains that a host has
// not got everything.
func (p *push) failures(err error) []error {
	all := make([]error, len(p.hosts))
	for i, h := range p.hosts {
		switch {
		case p.plan != nil && p.plan.IsReached(i):
		case err != nil:
			all[i] = fmt.Errorf("%s: %w", h.Name, err)
		default:
			all[i] = fmt.Errorf("%s: %s", h.Name, p.plan.Failure(i))
		}
	}
	return all
}
