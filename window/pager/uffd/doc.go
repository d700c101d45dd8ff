// Package uffd is what the pager can do to the pages of a coherent window: to the
// memory that holds them on a host, the [Cache], and to what one rank sees of it, its
// [View]. It is userfaultfd(2) and a memfd, and decides nothing.
//
// A cache is a memfd with the pages that the host has. A rank maps it and has the
// mapping's faults sent elsewhere: to the pager, another process, which gets the
// view's file (SCM_RIGHTS). A handler in the rank's own process could not work: a
// goroutine that waits for a page holds its P, and a stop of the world waits for it.
//
// # What a page can be
//
//	in the cache   in a view          a load                 a store
//	no             marked             Fault                  Fault{Write}
//	yes            marked, unmapped   the kernel maps it     Fault{Write}
//	yes            protected          goes on                Fault{Write, Protected}
//	yes            writable           goes on                goes on
//
// Marked means that the kernel keeps a write-protect marker where no page is mapped.
// Every view has one on every page that is not in the cache: without it a second rank
// of the host that comes to a page after it was filled would map it by itself, and
// could write it.
//
//	fill, to be read      View.Fill                      in one view; the others are marked
//	fill, to be written   View.Fill, View.Unprotect      in that view only
//	allow writing         View.Unprotect                 in a view whose rank asks for it
//	stop writing          View.Protect of every view     then the page's content is final
//	take away             View.Protect of every view, read Cache.Page if it was written,
//	                      Cache.Punch, View.Protect of every view, View.Wake of every view
//
// Protect comes before Punch so that no write is lost, and again behind it because a
// hole may have no marker: a page that was writable leaves none, and one that was
// protected may lose its own to a load that comes at the same moment (once in tens of
// thousands of times on Linux 6.18). A fault that comes in between finds the page absent or
// protected, and is told of: it may be dropped, if Wake follows, which has the access
// tried again. The same fault may be told of many times (a signal interrupts the
// thread that waits): what is to be done depends on the page, not on the message.
//
// A hole must not be read through Cache.Page: that would fill it with zeros. Nor may
// the cache's memory be registered with a NIC or io_uring: the pages that they hold
// would not be those of the mapping after a Punch.
//
// Protecting 4,096 pages that are there takes 0.3 to 0.4 ms in one call, 16 times as
// long in one call for each, and 23 times as long by mprotect, which for every other
// page takes 3.7 times as long as one call for each (BenchmarkProtect, Linux 6.18).
//
// # Goroutine safety
//
// A View and a Cache may be used by several goroutines at once; what they do to one
// page is in the order in which the kernel does it. Close comes last.
package uffd
