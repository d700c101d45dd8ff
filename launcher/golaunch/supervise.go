package main

import (
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/golaunch/golaunch/launcher"
)

const superviseIntro = `golaunch supervise starts the ranks of one host, of a job that golaunch --listen
runs elsewhere. It ends with the job. When it loses golaunch, it kills its ranks.

Usage:
  golaunch supervise --join ADDR --secret-file FILE [flags]

Example, on two hosts and a third:
  node-a$ golaunch supervise --join node-c:4711 --secret-file job.key
  node-b$ golaunch supervise --join node-c:4711 --secret-file job.key
  node-c$ golaunch --listen :4711 --hosts 2 --secret-file job.key -n 8 /opt/prog
`

const superviseOutro = `
The program is not sent: it must be at the same path on every host.

Exit code: 0 when the job has had its end, whatever that was; 1 when golaunch was
lost or has refused this host; 2 for a mistake in the command line; 128+N after
signal N, which kills the ranks.
`

func superviseCommand() *subcommand {
	s := newSubcommand("supervise", "a host of a job (golaunch --listen)")
	s.intro, s.outro, s.stray = superviseIntro, superviseOutro, "; the program is named to golaunch --listen"
	o := &launcher.SuperviseOptions{Wait: 10 * time.Second}
	g := s.flags.flags
	g.StringVar(&o.Join, "join", "", "join the job whose golaunch listens at `ADDR`, host:port")
	keyFlags(g, &o.Key)
	g.StringVar(&o.Host, "host", "", "call this host `NAME` instead of its host name")
	g.IntVar(&o.Slots, "slots", 0, "take `N` ranks at most; 0: any number")
	g.Var(&timeoutValue{&o.Wait}, "wait", "try for `TIME` to reach golaunch")
	hold := forAgents(g, o)
	s.run = func([]string) int {
		for _, fd := range *hold {
			syscall.CloseOnExec(fd) // open until this process ends: somebody looks at its lock
		}
		return launcher.RunSupervise(*o)
	}
	return s
}

// forAgents are flags that agents use. hold are descriptors to be kept open.
func forAgents(g *pflag.FlagSet, o *launcher.SuperviseOptions) (hold *[]int) {
	g.StringVar(&o.Serve, "serve", "", "let hosts below this one join at `ADDR`")
	g.IntVar(&o.Ready, "ready-fd", 0, "say at descriptor `N` where they may")
	hold = g.IntSlice("hold-fd", nil, "keep descriptors `N,...` open")
	for _, name := range []string{"serve", "ready-fd", "hold-fd"} {
		g.Lookup(name).Hidden = true
	}
	return hold
}

// keyFlags say where the key is that golaunch and its hosts share.
func keyFlags(flags *pflag.FlagSet, key *launcher.Key) {
	flags.StringVar(&key.File, "secret-file", "", "the key is in `FILE`, which only its owner may read (16 bytes or more)")
	flags.IntVar(&key.FD, "secret-fd", -1, "the key is read from descriptor `N`, to the end")
}
