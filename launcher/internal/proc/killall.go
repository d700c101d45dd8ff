package proc

import (
	"syscall"
	"time"
)

// Wait waits until there is no descendant any more, at most for d, and reports
// whether there is none. Bystanders count as descendants here.
func (c *Children) Wait(d time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wait(d, func() bool { return c.none })
	return c.none
}

// wait waits until done, at most for d. It is called and returns with mu held.
func (c *Children) wait(d time.Duration, done func() bool) {
	expired := false
	timer := time.AfterFunc(d, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		expired = true
		c.changed.Broadcast()
	})
	defer timer.Stop()
	for !done() && !expired {
		c.changed.Wait()
	}
}

// How long KillAll waits for what it has killed before it looks again.
const (
	firstLook = 2 * time.Millisecond
	lastLook  = 50 * time.Millisecond
)

// KillAll sends SIGKILL to every descendant, again and again, until there is
// none left, and returns how many of them Start had not started. From its call on Start fails. It returns only when
// everything is dead: a process that the kernel cannot kill keeps it.
//
// A descendant that forks while it is being looked for is found in the next
// round: whatever it leaves behind becomes a child of this process.
func (c *Children) KillAll() (strays int) {
	c.killGroups()
	seen := map[int]bool{}
	empty := 0
	for look := firstLook; !c.over(empty); look = min(2*look, lastLook) {
		before := c.reapedSoFar()
		if c.killFound(seen) == 0 {
			empty++
			continue
		}
		empty = 0
		c.mu.Lock()
		c.wait(look, func() bool { return c.reaped != before || c.none })
		c.mu.Unlock()
	}
	return len(seen)
}

// killFound walks through the tree once, kills, and adds strays to seen.
func (c *Children) killFound(seen map[int]bool) int {
	return c.scan(c.isBystander, func(pid int) {
		syscall.Kill(pid, syscall.SIGKILL)
		if !c.started(pid) {
			seen[pid] = true
		}
	})
}

func (c *Children) started(pid int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.live[pid] != nil
}

// killGroups kills what Start has started, which needs no walk through /proc.
func (c *Children) killGroups() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ending = true
	for pid := range c.live {
		syscall.Kill(-pid, syscall.SIGKILL)
	}
}

// over reports whether no descendant is left. wait(2) knows; but it also counts
// bystanders, and beside those only two walks that found nothing can tell.
func (c *Children) over(emptyWalks int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.none || len(c.bystanders) > 0 && emptyWalks >= 2
}

func (c *Children) reapedSoFar() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reaped
}

// isBystander is asked by scan.
func (c *Children) isBystander(pid int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bystanders[pid]
}

// KillOrphans sends SIGKILL, again and again, to every descendant that does not
// live below a process that Start started: those that a supervisor has left behind,
// once it is reaped. It returns when two walks found none.
func (c *Children) KillOrphans() {
	spared := func(pid int) bool { return c.isBystander(pid) || c.started(pid) }
	empty := 0
	for look := firstLook; empty < 2; look = min(2*look, lastLook) {
		before := c.reapedSoFar()
		if c.scan(spared, func(pid int) { syscall.Kill(pid, syscall.SIGKILL) }) == 0 {
			empty++
			continue
		}
		empty = 0
		c.mu.Lock()
		c.wait(look, func() bool { return c.reaped != before })
		c.mu.Unlock()
	}
}
