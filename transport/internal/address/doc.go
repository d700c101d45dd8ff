// Package address decides at which addresses of its host a rank can be found,
// and in which order a peer tries them.
//
// Nobody can know from the outside which of a host's addresses leads to it: one
// is on the cluster's network, one belongs to a bridge for containers that is
// called the same and numbered the same on every host, one is behind a
// firewall. So a rank offers them all, a peer tries them by likelihood, and what
// decides is the handshake: the address is right if the rank behind it proves to
// be the right one. A wrong guess here costs milliseconds, never the connection.
//
//	a rank                                   its peer
//	listen, offer := Local(...)
//	listen there; offer.Port = the port
//	addr := Encode(offer)              ->    theirs := Decode(addr)
//	                                         try Order(mine, theirs), one by one
//
// # What is offered
//
// The addresses of all interfaces that are up, or of the one that the user has
// named. Not offered: link-local IPv6, which needs a zone, and a zone means
// nothing on another host; multicast; and loopback but for 127.0.0.1 and ::1,
// which are for ranks of the same host. An encoded offer has at most [MaxEncoded]
// bytes, room for 36 IPv4 or 12 IPv6 addresses; a host with more offers the
// likeliest.
//
// # Order
//
// First the class, the likeliest first; in a class IPv4 before IPv6; then what
// has the longest prefix in common with an address of the peer's own; then as
// offered.
//
//	loopback       when both are on one host
//	neighbour      in a subnet of the peer's own, or its own when both are on one host
//	global         any other unicast address, private ranges included
//	bridge         of docker*, br-*, veth* and the like, whatever its subnet; or in
//	               172.17.0.0/16 without being a neighbour
//	link-local     169.254.0.0/16
//	doubtful       loopback, or the peer's own address, if nobody can tell whether
//	               they are on one host
//
// Loopback and the peer's own addresses are left out when the two are known to
// be on different hosts: they would lead back to the peer.
//
// # Which host
//
// A [Host] stands for one network stack of one boot of one kernel: containers
// with a network of their own are hosts of their own, those that share the
// machine's are not. Clones of a running virtual machine look like one host; they
// find out at the cost of a refused connection.
//
// Everything but [Local] is a function of its arguments. Everything may be
// called from any goroutine.
package address
