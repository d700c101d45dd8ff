package coherence

// cache is the host's side: what its ranks may do with each page.
type cache struct {
	*port
	placement
	steps   *[states][kinds]cacheStep
	entries table[entry]
	dead    *hostSet

	// used counts pages of other homes that take memory here or soon will.
	//
	//	Invariant: used = |{p : home(p) != self, state(p) != Invalid}|
	//	Invariant: after every Step, limit == 0, used <= limit, or all of them are held or asked for
	limit, used int
	oldest      ring // pages of other homes, in the order in which they came; each at most once
	putOff      int  // demands that wait for the end of a hold
}

// A cacheStep is what a message does to a page in one state.
type cacheStep func(c *cache, e *entry, m Msg)

// cacheSteps has a function for each state and message. What is missing is a
// violation of the protocol.
var cacheSteps = [states][kinds]cacheStep{
	Invalid: {
		ReadFault: want(Read, Reading), WriteFault: want(Write, Writing),
		PrefetchRead: ask(Read, Reading), PrefetchWrite: ask(Write, Writing),
		Evict:      ignore,
		Invalidate: ackGone(InvalidateAck), Recall: ackGone(InvalidateAck), Fetch: ackGone(FetchAck),
		Store: storeAgain, Located: locatedAgain,
	},
	Reading: {
		ReadFault: join, WriteFault: join,
		PrefetchRead: ignore, PrefetchWrite: ignore,
		Evict:      ignore,
		Invalidate: ackGone(InvalidateAck), Recall: ackGone(InvalidateAck), Fetch: ackGone(FetchAck),
		GrantRead: grantRead, Located: located(Read), Lost: fail(Invalid),
	},
	Writing: {
		ReadFault: join, WriteFault: join,
		PrefetchRead: ignore, PrefetchWrite: ignore,
		Evict:      ignore,
		Invalidate: ackGone(InvalidateAck), Recall: ackGone(InvalidateAck), Fetch: ackGone(FetchAck),
		GrantWrite: grantWrite, Store: storeWhileWriting, Located: located(Write), Lost: fail(Invalid),
	},
	Shared: {
		ReadFault: wake, WriteFault: want(Upgrade, Upgrading),
		PrefetchRead: ignore, PrefetchWrite: ask(Upgrade, Upgrading),
		Evict: unlessBusy(evictShared), HoldOver: holdOver,
		Invalidate: unlessHeld(dropShared), Recall: unlessHeld(recallShared), Fetch: sendShared, Located: locatedAgain,
	},
	Upgrading: {
		ReadFault: wake, WriteFault: join,
		PrefetchRead: ignore, PrefetchWrite: ignore,
		Evict: ignore, HoldOver: holdOver,
		Invalidate: unlessHeld(dropUpgrading), Recall: unlessHeld(recallUpgrading), Fetch: sendShared, Located: locatedAgain,
		GrantWrite: grantUpgrade, Lost: fail(Shared),
	},
	Modified: {
		ReadFault: wake, WriteFault: allow,
		PrefetchRead: ignore, PrefetchWrite: ignore,
		Evict: unlessBusy(evictModified), HoldOver: holdOver,
		Recall: unlessHeld(recallModified), Fetch: unlessHeld(downgrade), Located: locatedAgain,
	},
}

func (c *cache) step(m Msg) {
	e := c.entries.at(m.Page)
	do := c.steps[e.state][m.Kind]
	if do == nil {
		c.violate(m, e.state.String())
		return
	}
	do(c, e, m)
}

// enter changes the state of a page, and counts.
func (c *cache) enter(e *entry, p Page, s State) {
	if !c.isHome(e, p) {
		switch {
		case e.state == Invalid && s != Invalid:
			c.used++
		case e.state != Invalid && s == Invalid:
			c.used--
		}
	}
	e.state = s
}

func ignore(*cache, *entry, Msg) {}
