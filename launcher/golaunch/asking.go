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

func nodesCommand() *subcommand {
	s := newSubcommand("nodes", "the hosts of the cluster")
	s.intro = "golaunch nodes shows the hosts of the cluster.\n\nUsage:\n  golaunch nodes [flags]\n"
	o := &launcher.NodesOptions{}
	accessFlags(s.flags.flags, &o.Access)
	s.flags.flags.BoolVar(&o.JSON, "json", false, "as JSON, on a line")
	s.flags.flags.Var(&timeoutValue{&o.Watch}, "watch", "again and again, every `TIME`")
	s.flags.flags.Lookup("watch").NoOptDefVal = (2 * time.Second).String()
	s.run = func([]string) int { return launcher.RunNodes(*o) }
	return s
}

func psCommand() *subcommand {
	s := newSubcommand("ps", "the jobs of the cluster")
	s.intro = "golaunch ps shows the jobs that run in the cluster.\n\nUsage:\n  golaunch ps [flags]\n"
	o := &launcher.JobsOptions{}
	accessFlags(s.flags.flags, &o.Access)
	s.flags.flags.BoolVar(&o.JSON, "json", false, "as JSON, on a line")
	s.run = func([]string) int { return launcher.RunJobs(*o) }
	return s
}

func killCommand() *subcommand {
	s := newSubcommand("kill", "end a job")
	s.intro = "golaunch kill ends a job: its golaunch does what it does after SIGTERM. A second\ntime, it kills the ranks.\n\nUsage:\n  golaunch kill [flags] JOB\n"
	s.args = "JOB"
	o := &launcher.KillOptions{}
	accessFlags(s.flags.flags, &o.Access)
	s.run = func(args []string) int { o.Job = args[0]; return launcher.RunKill(*o) }
	return s
}

func logsCommand() *subcommand {
	s := newSubcommand("logs", "the output of a detached job")
	s.intro = "golaunch logs shows the output of a job that was started with --detach.\n\nUsage:\n  golaunch logs [flags] JOB\n"
	s.args = "JOB"
	o := &launcher.LogsOptions{}
	accessFlags(s.flags.flags, &o.Access)
	s.flags.flags.BoolVarP(&o.Follow, "follow", "f", false, "go on until the job ends")
	s.run = func(args []string) int { o.Job = args[0]; return launcher.RunLogs(*o) }
	return s
}
