// Package verbs is the transport over RDMA devices: InfiniBand and RoCE, through
// libibverbs.
//
// Puts, Gets and atomics are the device's own (RDMA WRITE, READ, FETCH_ADD and
// CMP_SWAP): nothing runs at the target. Messages are SENDs into the target's shared
// receive queue. The library is loaded when an endpoint is opened and is not linked
// with; a program that was built without cgo, or a host without library, device or
// active port, gets an error from Open that says so.
//
// # Connections
//
// A connection belongs to the rank that dials it (an origin); two ranks that dial each
// other have two, which know nothing of each other, and a rank reaches itself by one
// through its device. Its two queue pairs are made when it is dialled. What they must
// know of each other goes over an authenticated TCP connection, which stays: it says
// goodbye, or by breaking that the peer has died, of which an idle queue pair knows
// nothing.
//
// # Keys
//
// A device that meets a key it does not know ends the connection, but the contract
// lets it live. So no operation leaves that could meet one: an origin looks a region
// up in the target's directory, by a read of its own, checks bounds against what it
// has found, and keeps that until the target has closed any region, whose count each
// target writes to each origin before Region.Close has the device forget the memory.
// An operation that overlaps with the Close of its region still ends the connection.
//
// # What is bounded
//
// Messages: a target posts buffers for the credit that it grants its origins, and each
// origin counts what it has sent and not got back. So a message never waits at the device
// for a buffer, where it would hold up the Puts behind it. internal/credit says how many
// buffers there are, and who has them. Requests: originDepth on each
// connection. Memory that the device does not know: two pools of bounce buffers.
// Operations with an OpID: places for completions.
//
// # Completion
//
// A request is signalled when somebody waits for it, when no signalled one is under
// way, or when there was none for a while; the device works in order, so the end of
// one tells of all before it. Flush lets the last request report, or adds one that
// writes nothing.
//
// # Who takes completions
//
// Everything ends in one completion queue, and in one handler (endpoint.dispatch),
// which waits for nothing and allocates nothing. Poll calls it, so does a call that
// waits, for about a round trip; watcher says who else.
//
// # Lock order
//
// poller.mu (Poll), then endpoint.harvesting (who takes completions; the table), then
// origin.mu or target.mu (who posts), then arrivals.mu, credits.mu and pool.mu, which are leaves.
// endpoint.mu, dial.turn, locals.mu, then directory.mu, watcher.mu and waiters.mu are
// held together with none of the first three but harvesting below dial.turn. Only
// dial.turn, which nothing but another Dial of the same rank needs, is held while
// something is waited for. Config.Ring is called under locks, Config.Progress under
// endpoint.telling only, which keeps its calls apart.
package verbs
