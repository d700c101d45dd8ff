package world

import "context"

// What windows do at this rank for others, whatever its program does.

// Context ends when the rank leaves.
func (in *Inside) Context() context.Context { return in.comm.process.ctx }

// Go runs f in a goroutine that Leave waits for: f returns soon after Context has
// ended, and may use whatever the rank has until then. A handler may call it.
func (in *Inside) Go(f func()) { in.comm.process.background.Go(f) }

// SameMachine reports whether a member runs on this rank's machine: on the same
// host, or on another one that the same machine plays.
func (in *Inside) SameMachine(member int) bool {
	mem := in.comm.process.mem
	return in.Local(member) || mem.Sharers() == mem.Size()
}
