// Package netns lets tests have hosts: network namespaces of this machine that
// are joined by a switch, in which processes run as on machines of their own.
//
//	network := netns.New(t, 3, netns.Options{})
//	network.Hosts[0].Start(exec.Command("golaunch", ...))
//	network.Hosts[2].Unplug()
//
// Each host has a loopback of its own and one interface, whose cable leads to a
// port of the switch, a bridge in a namespace of its own. Nothing leads out of
// there, and nothing there exists outside: the namespaces have no names, every
// interface is made inside of one, and all of it ends with this process, however
// it ends. Two runs therefore never meet, and what a killed test leaves is nothing.
//
//	 host 0                switch                host 1
//	lo  eth0 ────────── port0  port1 ────────── eth0  lo
//	                       bridge
//
// It takes root, in a kernel with veth and bridge; without, [New] skips the test
// and says why.
//
// A namespace is a thread that is in it and stays in it until the network is
// closed. Whatever must happen inside is sent to that thread; processes are
// forked by it and die with it (PR_SET_PDEATHSIG follows the thread). Goroutines
// that it starts run elsewhere, in the process's own network.
//
// Everything may be called from any goroutine.
package netns
