// Package wire is the format of what two ranks say to each other over TCP, once
// they have proved who they are: frames of a fixed header and a payload. It is
// pure; docs/wire.md explains the format.
//
// [Header] is one header and its encoding, [Reader] takes a stream of bytes apart
// wherever the network cut it, and tells a [Sink] what it found. Everything that
// arrives was written by somebody else: whatever does not hold is an error that
// says what and why, and ends the connection.
//
// Goroutine safety: none; a Reader belongs to whoever reads the connection.
package wire
