// Package handshake turns TCP connections into authenticated ones between two
// ranks of one job. [Dial] finds a rank at one of its addresses, a [Listener]
// lets the ranks in and nobody else. Neither end takes a byte of the job's data
// before the other has proved that it knows the job's secret.
//
// # Frames
//
// All frames have fixed sizes. Numbers are little-endian, names padded with
// zeros. Every frame begins with the header: "GoLh", protocol (u16), kind (u8),
// detail (u8; the flags of a hello, the reason of a refusal, else 0).
//
//	kind  frame      bytes  behind the header
//	1     hello        180  from, to, size (u32 each), nonce (32), version (64), job (64)
//	2     challenge     40  nonce (32)
//	3     proof         40  code (32)
//	4     accept        40  code (32)
//	5     confirm       40  code (32)
//	6     refusal      144  rank, size (u32 each), version (64), job (64)
//
//	dialer                              listener
//	hello                          ->   does it agree with what I am?
//	                               <-   challenge, or refusal
//	proof                          ->   does it know the secret?
//	                               <-   accept, or refusal
//	does the listener know it?
//	confirm, and the job's data    ->   out of Accept
//
// A code is HMAC-SHA256, under a key derived from the secret, of
//
//	kind || the whole hello || the whole challenge || binding
//
// so it covers who speaks (the kind), protocol, version, job and its size, both
// ranks in their roles, and both nonces, 32 random bytes each, fresh for every
// connection. A code that was made for one frame, direction, connection, pair of
// ranks or job is wrong for every other: nothing can be reflected, replayed or
// carried elsewhere. Codes are compared in constant time. The last frame lets a
// dialer that reaches a rank at two addresses keep one: what it does not confirm
// never comes out of Accept.
//
// The header and the refusal keep their layout in all protocols to come, so that
// each end can say what it is. A refusal has no free text: the dialer makes the
// message, which names both versions, jobs or ranks, and quotes what comes from
// outside.
//
// # Encryption
//
// With Identity.Encrypt the connection is TLS 1.3 first, and the same frames
// follow inside. Every rank derives the same ed25519 key and certificate from the
// secret by HKDF, shows it, and takes no other. The binding is then the TLS
// exporter's value for this connection, else zeros: frames that somebody carries
// from one TLS connection into another prove nothing there. The certificate is
// judged only when version and job agree, so that these can be named; nothing but
// a hello is sent before.
//
// Without encryption the handshake is authenticated and what follows is not:
// somebody who can change packets on the way can wait for the handshake to end,
// and then read and write. And whoever has the secret can be any rank of the job:
// it proves membership, not which rank one is.
//
// # Strangers
//
// Whoever reaches a listener's port learns, by asking with a well-formed hello,
// the version, the job's name and size and the rank; nothing that depends on the
// secret. What it costs is bounded, whatever it does:
//
//	connections   128, and then the oldest of those that have come least far is
//	              dropped for the newest; those of the kernel's queue come on top
//	memory        7 KiB each (one goroutine, one frame); 26 KiB with encryption,
//	              where 16 KiB are read at most before the other end is known
//	time          Identity.Timeout each, for everything it may say
//	output        one refusal of 144 bytes (and TLS's own); nothing is logged
//
// A rank that dials among them is let in if it speaks before 128 others have
// come behind it; see pending. A connection that is dropped all the same is
// dialled again after some milliseconds, until the time is up. Measured with
// 10,000 strangers of five kinds within one to two seconds, on two shared cores
// that also run the strangers: a rank connects in 0.2 to 0.8 ms, 99 in 100 within
// 2 to 16 ms, the slowest in 14 to 136 ms; encrypted 2 to 5 ms, 5 to 38 ms and 7
// to 53 ms. What it does not withstand: strangers that keep more cores busy than
// the listener has, and with encryption each of them that speaks TLS costs the
// listener a key exchange and a signature.
//
// # Addresses
//
// Which of a rank's addresses leads to it, nobody knows before trying. Dial tries
// them in the order given: the next one 30 ms after the last, or at once when one
// fails. The first that proves to be the right rank wins.
//
// # Inside
//
// The two sides are machines without I/O (dialing, answering), fed with whole
// frames; exchange.go moves the frames. A Listener has a goroutine for each
// socket and for each handshake under way; pending.mu guards the bookkeeping and
// is held over no system call.
package handshake
