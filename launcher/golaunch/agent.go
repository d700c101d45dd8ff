package main

import (
	"fmt"
	"os"

	"github.com/golaunch/golaunch/launcher"
)

const agentIntro = `golaunch agent makes this host one of a cluster: it finds the others by gossip, and
starts what golaunch, on any of them, has placed here. docs/cluster.md is the manual.

Usage:
  golaunch agent [--join HOST,...] [flags]

Example, on two hosts that have the same key (golaunch keygen):
  node-a$ golaunch agent
  node-b$ golaunch agent --join node-a
  node-a$ golaunch nodes
  node-a$ golaunch -n 8 ./prog
`

const agentOutro = `
SIGTERM and SIGINT end the agent after it has told the others; jobs go on. SIGHUP has
it read the key file again.

Environment: GOLAUNCH_STATE, GOLAUNCH_RUNTIME, GOLAUNCH_CACHE, GOLAUNCH_KEY_FILE.
`

func agentCommand() *subcommand {
	s := newSubcommand("agent", "make this host one of a cluster")
	s.intro, s.outro = agentIntro, agentOutro
	o := &launcher.AgentOptions{Profile: "lan"}
	g := s.flags.flags
	g.StringSliceVar(&o.Join, "join", nil, "call `HOST`, or several, host[:port] each, to find the cluster")
	g.StringVar(&o.Bind, "bind", "", "listen at `ADDR`, host[:port]: gossip there, control one port\nfurther (default every interface, ports 7946 and 7947)")
	g.StringVar(&o.Advertise, "advertise", "", "be found at IP address `ADDR`")
	g.StringVar(&o.Name, "name", "", "call this host `NAME` instead of its host name")
	g.StringVar(&o.KeyFile, "key-file", "", "the cluster's key is in `FILE` (default /etc/golaunch/key, or\n~/.config/golaunch/key, if it is there)")
	g.Var(&choice{set: func(v string) { o.Profile = v }, among: []string{"lan", "wan", "local"}, value: o.Profile}, "profile", "how patient hosts are with each other")
	g.IntVar(&o.Slots, "slots", 0, "take `N` ranks; 0: one for each core")
	g.Var(&labelsValue{&o.Labels}, "label", "give this host label `NAME=VALUE` (may be repeated)")
	g.BoolVar(&o.Devices, "devices", false, "tell which accelerators and adapters there are")
	g.StringVar(&o.State, "state", "", "keep what outlives this process in `DIR`")
	g.StringVar(&o.Runtime, "runtime", "", "listen for this host's golaunch in `DIR`")
	g.StringVar(&o.Cache, "cache", "", "keep programs that were sent here in `DIR`")
	g.Var(&choice{set: func(v string) { o.JSON = v == "json" }, among: []string{"text", "json"}, value: "text"}, "log-format", "how to write what happens, to stderr")
	s.run = func([]string) int {
		if o.Slots < 0 {
			fmt.Fprintf(os.Stderr, "golaunch: agent: --slots %d: it must not be negative\n", o.Slots)
			return launcher.CodeUsage
		}
		return launcher.RunAgent(*o)
	}
	return s
}
