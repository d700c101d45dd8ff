package proc

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// reap reaps every child, started or adopted, as long as this process lives.
func (c *Children) reap() {
	for {
		starts := c.startsSoFar()
		// Look without taking: the taking is done with the lock held.
		err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOWAIT|unix.WALL, nil)
		switch err {
		case nil:
			for _, done := range c.collect() {
				done()
			}
		case unix.ECHILD:
			c.waitForStart(starts)
		}
	}
}

func (c *Children) startsSoFar() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.starts
}

// waitForStart records that there is no child, and waits until there is one.
// Without children there are no descendants that could become children.
func (c *Children) waitForStart(starts int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.starts == starts {
		c.none = true
		c.changed.Broadcast()
		c.changed.Wait()
	}
}

// collect reaps what has ended and returns what is to be called for it.
func (c *Children) collect() (calls []func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		var status unix.WaitStatus
		var usage unix.Rusage
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG|unix.WALL, &usage)
		if err == unix.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			return calls
		}
		if ended := c.live[pid]; ended != nil {
			calls = append(calls, func() { ended.exited(exitOf(status, &usage, ended.started)) })
		}
		delete(c.live, pid)
		delete(c.bystanders, pid)
		c.reaped++
		c.changed.Broadcast()
	}
}

func exitOf(status unix.WaitStatus, usage *unix.Rusage, started time.Time) Exit {
	e := Exit{
		Code:   status.ExitStatus(),
		Wall:   time.Since(started),
		User:   time.Duration(usage.Utime.Nano()),
		System: time.Duration(usage.Stime.Nano()),
		MaxRSS: usage.Maxrss << 10,
	}
	if status.Signaled() {
		e.Signal, e.CoreDumped = syscall.Signal(status.Signal()), status.CoreDump()
	}
	return e
}
