// Package lines merges what many ranks print into golaunch's two outputs, so that
// lines of different ranks never interleave. It does no I/O and has no clock:
// bytes and the time go in, pieces to be written come out.
//
// A device is one place where text appears: stdout, stderr, or both when they are
// the same terminal or file. A stream may write to its device when it has
//
//   - a complete line,
//   - a partial line whose first byte is PartialWait old (a prompt), or that is
//     longer than LongLine, or that will never be completed.
//
// Who has shown a partial line owns the device. Others wait until the line is
// complete, or until the owner is silent for PartialWait, or has kept them for
// HoldMax; then a newline is put after the partial line, and it goes on later on
// a line of its own. A long line therefore stays whole as long as its rank goes on
// writing it, and nobody can keep the others for ever.
//
// With a single rank and no tags nothing is held or changed.
//
// Goroutine safety: none; a [Merger] belongs to one goroutine.
package lines
