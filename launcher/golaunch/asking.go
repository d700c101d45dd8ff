package main

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/golaunch/golaunch/launcher"
)

// accessFlags say which agent is asked.
func accessFlags(g *pflag.FlagSet, a *launcher.Access) {
	g.StringVar(&a.Agent, "agent", "", "ask the agent at `ADDR`, host[:port], instead of this host's")
	g.StringVar(&a.KeyFile, "key-file", "", "the cluster's key is in `FILE`; for --agent")
}

const nodesIntro = `golaunch nodes shows the hosts of the cluster.

Usage:
  golaunch nodes [flags]

Examples:
  golaunch nodes --watch                              again and again
  golaunch nodes --agent node-a --key-file key        from a host that is no member
`

func nodesCommand() *subcommand {
	s := newSubcommand("nodes", "the hosts of the cluster")
	s.intro = nodesIntro
	o := &launcher.NodesOptions{}
	accessFlags(s.flags.flags, &o.Access)
	s.flags.flags.BoolVar(&o.JSON, "json", false, "as JSON, on a line")
	s.flags.flags.Var(&timeoutValue{&o.Watch}, "watch", "again and again, every `TIME`")
	s.flags.flags.Lookup("watch").NoOptDefVal = (2 * time.Second).String()
	s.run = func([]string) int { return launcher.RunNodes(*o) }
	return s
}

const psIntro = `golaunch ps shows the jobs that run in the cluster, and how many ranks each host has.

Usage:
  golaunch ps [flags]

Example:
  golaunch ps --json                                  for scripts
`

func psCommand() *subcommand {
	s := newSubcommand("ps", "the jobs of the cluster")
	s.intro = psIntro
	o := &launcher.JobsOptions{}
	accessFlags(s.flags.flags, &o.Access)
	s.flags.flags.BoolVar(&o.JSON, "json", false, "as JSON, on a line")
	s.run = func([]string) int { return launcher.RunJobs(*o) }
	return s
}

const killIntro = `golaunch kill ends a job: its golaunch does what it does after SIGTERM. A second
time, it kills the ranks.

Usage:
  golaunch kill [flags] JOB

Example:
  golaunch kill 5f0c11d2                              JOB is what golaunch ps shows
`

func killCommand() *subcommand {
	s := newSubcommand("kill", "end a job")
	s.intro, s.args, s.offers = killIntro, "JOB", offersJobs
	o := &launcher.KillOptions{}
	accessFlags(s.flags.flags, &o.Access)
	s.run = func(args []string) int { o.Job = args[0]; return launcher.RunKill(*o) }
	return s
}

const logsIntro = `golaunch logs shows the output of a job that was started with --detach.

Usage:
  golaunch logs [flags] JOB

Example:
  golaunch --detach -n 64 ./prog                      prints JOB, 5f0c11d2
  golaunch logs -f 5f0c11d2                           what it says, until it ends
`

func logsCommand() *subcommand {
	s := newSubcommand("logs", "the output of a detached job")
	s.intro, s.args, s.offers = logsIntro, "JOB", offersJobs
	o := &launcher.LogsOptions{}
	accessFlags(s.flags.flags, &o.Access)
	s.flags.flags.BoolVarP(&o.Follow, "follow", "f", false, "go on until the job ends")
	s.run = func(args []string) int { o.Job = args[0]; return launcher.RunLogs(*o) }
	return s
}
