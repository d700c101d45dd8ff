// Package transporttest is the suite that every transport passes, and the
// transports that make others misbehave.
//
//	func TestConformance(t *testing.T) {
//		transporttest.Run(t, func(t testing.TB, size int) *transporttest.World {
//			return transporttest.NewWorld(t, tcp.Provider{}, size)
//		})
//	}
//
// [Run] checks the rules written down in package transport, each in a function
// named for its rule, and nothing that only one transport has; what is optional
// ([transport.Mapper], [transport.Rester], [transport.TrySender], [transport.PutSender]) is
// asked of the endpoint or the connection. [RunWatched] checks the endpoints of ranks that
// wait for their descriptors ([transport.Waker], Config.Watches). [NewWorld] opens the endpoints of
// a whole job in this process, on a [Job] that plays the part of the world:
// segments, scratch memory, doorbells, waiting and failures.
//
// The memory is the Go heap unless [WithMemory] says otherwise, so that the race
// detector sees what a transport does with shared memory.
//
// [HideMapper], [Delaying] and [Failing] are providers around a provider. The
// first two keep the contract, so the suite runs over them as well.
//
// Goroutine safety: as package transport says; a Job and a Failing may be used from
// any goroutine.
//
// Lock order: none; no lock here is held while another is taken.
package transporttest
