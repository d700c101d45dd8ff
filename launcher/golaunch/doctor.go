package main

import "github.com/golaunch/golaunch/launcher"

const doctorIntro = `golaunch doctor looks for what keeps this host from being a good member of a cluster:
key, directories, ports and limits, its agent, and whether the other members are
reached, run the same golaunch and have the same time. It says what to change, and
changes nothing itself. Without an agent it examines the rest.

Usage:
  golaunch doctor [flags]

Example, where the agent was given the same:
  golaunch doctor --key-file cluster.key --bind 10.0.0.1
`

const doctorOutro = `
Exit code: 1 if something does not work; 0 if all does, or may.
`

func doctorCommand() *subcommand {
	s := newSubcommand("doctor", "what is wrong with this host, and what to change")
	s.intro, s.outro = doctorIntro, doctorOutro
	o := &launcher.DoctorOptions{}
	g := s.flags.flags
	g.StringVar(&o.Agent, "agent", "", "ask the agent at `ADDR`, host[:port], instead of this host's")
	g.StringVar(&o.KeyFile, "key-file", "", "the cluster's key is in `FILE`")
	g.StringVar(&o.Bind, "bind", "", "the agent listens, or is to listen, at `ADDR`, host[:port]")
	g.StringVar(&o.State, "state", "", "the agent's `DIR` for what outlives it")
	g.StringVar(&o.Runtime, "runtime", "", "the agent's `DIR` for its socket")
	g.StringVar(&o.Cache, "cache", "", "the agent's `DIR` for programs")
	g.BoolVar(&o.JSON, "json", false, "as JSON")
	s.run = func([]string) int { return launcher.RunDoctor(*o) }
	return s
}
