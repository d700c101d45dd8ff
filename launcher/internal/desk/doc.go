// Package desk answers what the ranks of one host ask for over their private
// sockets (launcher/boot), whoever keeps the desk: golaunch's supervisor, or the
// helper process of a job that a process manager has started. It passes the ranks'
// memory segments on, and hands to its keeper what it cannot answer by itself.
//
// Lock order: a keeper's lock, then Desk.mu. Nothing of the keeper's is called, and
// no answer is sent, with Desk.mu held.
//
// Goroutines: Serve runs on its caller's; a rank that waits for a segment is
// answered by one that lives until the answer is sent.
package desk
