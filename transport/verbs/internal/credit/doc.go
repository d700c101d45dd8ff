// Package credit decides which peer may send how many messages into one queue of
// receive buffers. It is pure: no device, no lock, no clock, and is explored
// exhaustively.
//
// A peer sends a message only with credit, and credit is granted only for a buffer that
// is posted: so no message ever waits at the device, where it would hold up what comes
// behind it. Buffers cost registered memory. As long as peers are few each has as many
// as it can use. When they are many they share what there is:
//
//	share     Limits.Budget divided by the peers, but at least Least and at most Most
//	grant     up to the share, from buffers that nobody has
//	reserve   Least buffers of each peer are never granted to another one
//
// Nobody takes credit away. A peer that has more than its share is granted none for what
// it sends, until it has its share; what it does not use it keeps. So credit goes to who
// sends, and Budget is exceeded only by the reserve.
//
// # Fewer buffers than messages that must be accepted
//
// Any peer may send Full messages although the program takes none. A peer with so many
// buffers leaves them there. Of one with fewer each message is copied when it arrives,
// and its buffer posted again and granted at once, until Full of its messages wait.
package credit
