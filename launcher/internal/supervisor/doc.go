// Package supervisor is the process that owns the ranks of one host: it starts
// them, answers their calls (launcher/boot), passes their memory segments on,
// carries their output and input, and tells the front what happens to them. It
// decides nothing: the front does, and all they have in common is the stream
// between them (launcher/internal/control). When that stream ends, the supervisor
// kills everything below it, removes its temporary files, and ends.
//
// Lock order: pagers.mu, then supervisor.mu, then a lock of job.Memory, proc.Children,
// desk.Desk or control.Conn. No lock is held over a system
// call that may wait, with one exception: a process is started, and its end
// reported, with mu held, so that nobody sees a rank that has ended and was never
// started.
//
// Goroutines: one reads the front's messages. A rank has one for its
// inherited socket, one for its private one, and one for each of its outputs, all
// of them parked in the network poller; whoever reads stdin has one more.
package supervisor
