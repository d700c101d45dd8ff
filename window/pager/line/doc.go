// Package line is what a rank and the pager of its host say to each other: by a
// SOCK_SEQPACKET socket, where one [Frame] is one packet, and by [Mail], memory that
// both share, where one Frame is one place of a ring.
//
//	rank                                      pager
//	Hello(Greeting) + leash               ->
//	                                      <-  Done(address) + mail, bell
//	Open(window, Spec)                    ->
//	                                      <-  Done(Opened) + cache, board
//	View(window, base) + userfaultfd      ->
//	                                      <-  Done
//	Want(window, first, n, mode)*, Echo*  ->      (by mail)
//	                                      <-  Done, when the host has these pages; at once
//	                                          where they are to be prefetched or evicted
//	Load, Store, Swap(window, place)*     ->      (instead of View and Want, where a rank
//	                                      <-  Done       may not watch pages)
//	Figures(window)                       ->
//	                                      <-  Done(Figures)
//	Shut(window)                          ->
//	                                      <-  Done
//
// Every request has a number, which its answer repeats the way it came: Done, or Failed with the
// reason. The leash is one end of a socket pair on which nothing is ever said: the
// kernel kills the rank when the pager's end closes.
//
// What a miss waits for goes by mail, which costs a system call only where the other one
// sleeps: the pager is woken by the bell, an eventfd that its one epoll watches, and the rank
// at the ring, a futex. A rank has at most [Places] requests there that are not answered, so
// either ring has room for what is sent.
//
// Frames from either end, either way, are decoded with suspicion: [Parse] and [Reader] are
// fuzzed.
package line
