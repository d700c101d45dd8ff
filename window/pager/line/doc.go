// Package line is what a rank and the pager of its host say to each other, over a
// SOCK_SEQPACKET socket: one [Frame] is one packet.
//
//	rank                                      pager
//	Hello(Greeting) + leash               ->
//	                                      <-  Done(address)
//	Open(window, Spec)                    ->
//	                                      <-  Done(Opened) + cache, board
//	View(window, base) + userfaultfd      ->
//	                                      <-  Done
//	Want(window, first, n, mode)*         ->
//	                                      <-  Done, when the host has these pages; nothing
//	                                          where they are to be prefetched or evicted
//	Load, Store, Swap(window, place)*     ->      (instead of View and Want, where a rank
//	                                      <-  Done       may not watch pages)
//	Figures(window)                       ->
//	                                      <-  Done(Figures)
//	Shut(window)                          ->
//	                                      <-  Done
//
// Every request that is answered has a number, which its answer repeats: Done, or Failed with the
// reason. The leash is one end of a socket pair on which nothing is ever said: the
// kernel kills the rank when the pager's end closes.
//
// Frames from either end are decoded with suspicion: [Parse] is fuzzed.
package line
