// Package control is the protocol between golaunch's front, which owns the
// terminal, and a supervisor, which owns the ranks of one host. They talk over
// one byte stream and share nothing else: no descriptor and no memory. The stream is
// a socket between two processes of one machine, or goes over the launch tree
// (launcher/internal/relay).
//
// A frame is a length (u32, little-endian, of what follows), a kind (u8) and the
// message's fields. Numbers are 8 bytes little-endian, strings and byte strings a
// u32 length and their bytes, lists a u32 count and their elements. One method a
// message, fields, states its layout for both directions; decoding is strict (no
// byte may be missing or left over) and fuzzed.
//
// # Conversation
//
//	front                                supervisor
//	Hello                             ->
//	                                  <- Hello
//	Build*                            ->
//	                                  <- Built*
//	Start                             ->
//	                                  <- Started or NotStarted, for each rank
//	                                  <- Joined, Left, Lost, Aborted, Exited
//	                                  <- Address, Report
//	Fate, Address, of ranks elsewhere ->
//	                                  <- Output, Closed for each stream of each rank
//	Signal, Kill                      ->
//	Finish, when every rank has ended ->
//	                                  <- Done; both close
//
// Whoever sees the stream end before Done kills all descendants it has.
//
// Over the tree the supervisor's Hello is followed by Offer, and the front answers
// with Keep or Refused. What every host is to know is sent to all: Signal, Kill, Finish,
// Address and Fate reach the host, too, whose rank they tell of, in the order in which the
// front sent them among those to that host alone: Start is before them.
// Hello and Refused stay as they are for ever, and so do their kinds, so that
// programs of different versions can refuse each other by name.
//
// # Flow control
//
// Send never blocks: what it queues is bounded by credit. A stream of a rank may
// have Window bytes of Output under way; the front returns Credit for what it has
// written. Stdin has a window of the same size in the other direction. Everything
// else is a few small messages a rank. A terminal that has stopped therefore
// never holds up the news of a failed rank.
//
// Goroutine safety: Send, Flush and Close may be called from any goroutine,
// Receive from one at a time. A Conn has one mutex, held over no system call.
package control

// Protocol is the number of this protocol; it changes with any message's layout.
const Protocol = 4

// Window is how many bytes may be under way in one stream without credit.
const Window = 64 << 10

// MaxFrame is the length of the longest frame; Start holds arguments and
// environments.
const MaxFrame = 16 << 20
