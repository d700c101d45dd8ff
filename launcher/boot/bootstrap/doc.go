// Package bootstrap makes a job of processes that a process manager has started,
// with no golaunch process: they exchange what they are by the process manager's
// values (launcher/boot/pmi), the first rank of each host starts a helper process
// that plays the supervisor there (launcher/boot/helper), and the ranks join at it.
//
//	every rank                               first rank of a host, besides
//	put who I am; rank 0: the job's secret
//	fence; get who all are
//	                                         start the helper; put that it listens
//	fence; get that the helper listens
//	connect to the helper
//	                                         (only with several hosts:)
//	put my address
//	fence                                    get the others', give them to the helper
//
// So joining is collective here, as it is not under golaunch: it waits until every
// rank is there. Who is where is computed by each rank from the same cards, in the
// same way (arrange), and needs no agreement.
//
// Goroutine safety: a [Session] may be used from any goroutine.
package bootstrap
