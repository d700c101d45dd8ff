package process

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/runtime/relax"
)

const (
	// lookTime is for how long the loop looks for what comes before it sleeps, when a rank of this
	// host has begun to wait for other hosts or has got what it waited for, or another host has
	// said something: the next follows at once, as often as not. Meanwhile it uses a core that would
	// fall asleep, and that takes as long to wake, on a virtual machine, as the answer takes. Whoever
	// else wants the core has it first: the other host may be played by the same machine.
	lookTime = 250 * time.Microsecond
	// A look that took crowdTime, and another one within nearTime, were at a core that somebody computes
	// on: who has it when the loop yields keeps it until the kernel's next tick, which is milliseconds,
	// where a loop that sleeps is woken at once. So for crowdedTime the loop sleeps. A single one says
	// nothing: a virtual machine stands still for as long a few times a second.
	crowdTime   = 200 * time.Microsecond
	nearTime    = 10 * time.Millisecond
	crowdedTime = 100 * time.Millisecond
)

// A lookout says whether the loop looks for what comes, or sleeps until it does. It is the
// loop's alone, but for heard.
type lookout struct {
	now   int64 // when goOn was last called
	until int64 // the loop looks until then; 0: it sleeps
	waits bool  // a rank waited for other hosts when the loop last came round
	heard bool  // another host has said something since then; guarded by pager.mu
	mail  bool  // the last look found mail, and so did not ask for events: the next one does
	// crowded is until when others want the core: while no rank waits, and while one does, which
	// leaves its own.
	crowded [2]int64
	long    [2]int64 // and when a look last took crowdTime, or when crowded last ended
}

// next waits for events, and for mail: it looks for them once, or until there are some.
func (g *pager) next(events []unix.EpollEvent) (int, error) {
	if g.look.until == 0 {
		return g.sleep(events)
	}
	relax.Yield()
	g.look.took(g.look.now, g.now())
	if g.look.mail = !g.look.mail && g.hasMail(); g.look.mail {
		return 0, nil
	}
	return unix.EpollWait(g.epoll, events, 0)
}

func (l *lookout) index() int {
	if l.waits {
		return 1
	}
	return 0
}

// took notes how long a look has taken.
func (l *lookout) took(before, now int64) {
	if now-before < crowdTime.Nanoseconds() {
		return
	}
	i := l.index()
	if l.long[i] != 0 && now-l.long[i] < nearTime.Nanoseconds() {
		now += crowdedTime.Nanoseconds()
		l.crowded[i] = now
	}
	l.long[i] = now
}

// goOn decides what the loop does next, at a time when a rank waits for other hosts, or none does, and
// after events, or none.
func (l *lookout) goOn(now int64, waits, events bool) {
	begins := l.heard || waits != l.waits || waits && events
	l.now, l.heard, l.waits = now, false, waits
	switch {
	case now < l.crowded[l.index()]:
		l.until = 0
	case begins:
		l.until = now + lookTime.Nanoseconds()
	case now >= l.until:
		l.until = 0
	}
}

// awaited reports whether a rank waits for something that another host says.
func (g *pager) awaited() bool {
	for _, s := range g.spaces {
		if len(s.waiters.of)+len(s.echoes) > 0 && len(s.spec.Hosts) > 1 {
			return true
		}
	}
	return false
}
