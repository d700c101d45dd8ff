// Package boot is a rank's line to the supervisor that started it. It is all
// that a rank program needs of the launcher, and imports nothing but the
// standard library.
//
// golaunch starts every rank with one end of a SOCK_SEQPACKET socket, whose
// number stands in [EnvSocket]. That socket may be shared: a shell script that is
// started as a rank hands it on to whatever it runs. It is therefore used once
// only, for a hello that carries one end of a fresh socket pair; everything else
// goes over that private pair, so an answer cannot reach the wrong process, the
// kernel tells the supervisor who joined (SO_PEERCRED), and the pair's closing
// tells it that the rank is gone.
//
//	rank                              supervisor
//	hello(version) + private end  ->
//	                              <-  welcome(rank, size, host) + job memory, or refused(text)
//	                              <-  more(details)*: the job's secret, its hosts and settings
//	address(address)              ->
//	                              <-  done: it stands in the job's memory
//	publish(key, bytes) + memfd   ->
//	                              <-  done
//	open(rank, key)               ->
//	                              <-  done + memfd, once published; or failed(text)
//	report(figures)               ->
//	                              <-  done
//	pager(host)                   ->
//	                              <-  done + a socket to the host's pager
//	leave                         ->
//	                              <-  done: the exit that follows is no failure
//
// Every message is one packet ([Packet]); every request carries an id that its
// answer repeats. Packets of ranks are decoded by the supervisor and the other
// way round, and neither trusts them: [ParsePacket] is fuzzed.
//
// Goroutine safety: a [Session] may be used from any goroutine. One mutex guards
// the table of unanswered requests; it is never held across a system call.
package boot
