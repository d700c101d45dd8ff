package main

import (
	"io"

	"github.com/spf13/pflag"

	"github.com/golaunch/golaunch/launcher"
)

// A group is the flags that the help shows together.
type group struct {
	title string
	flags *pflag.FlagSet
}

func newGroup(title string) group {
	fs := pflag.NewFlagSet(title, pflag.ContinueOnError)
	fs.SortFlags = false
	return group{title, fs}
}

// A command is what a command line asks for.
type command struct {
	options launcher.Options
	hosts   string // of --hosts, a number or names

	help       bool
	version    bool
	completion string
}

// segmentFlags are those that each program of a job has its own of.
func segmentFlags(s *launcher.Segment) group {
	g := newGroup("Ranks (each program of a job has its own)")
	g.flags.IntVarP(&s.Ranks, "ranks", "n", 1, "run `N` ranks of the program")
	g.flags.StringArrayVarP(&s.Env, "env", "x", nil, "set `NAME=VALUE` in the ranks' environment; NAME alone insists that\ngolaunch's own environment has it (may be repeated)")
	g.flags.StringVar(&s.Dir, "wdir", "", "run the ranks in directory `DIR`")
	return g
}

// jobFlags are those that stand before the first program.
func (c *command) jobFlags() []group {
	o := &c.options
	inout := newGroup("Input and output")
	inout.flags.Var(&stdinValue{&o.Stdin}, "stdin", "`WHO` reads golaunch's stdin: none, all or a rank's number")
	inout.flags.BoolVar(&o.Tag, "tag-output", false, "put the rank before every line: [3] stdout, [3]<stderr> stderr")
	inout.flags.StringVar(&o.OutputDir, "output-dir", "", "write the ranks' output to files rank-N.out and rank-N.err in `DIR`\ninstead of the terminal")

	running := newGroup("Running")
	running.flags.Var(&choice{set: func(v string) { o.BindToCore = v == "core" }, among: []string{"none", "core"}, value: "none"},
		"bind-to", "bind each rank to a core, in turn")
	running.flags.Var(&choice{set: func(v string) { o.Continue = v == "continue" }, among: []string{"abort", "continue"}, value: "abort"},
		"on-failure", "what the other ranks do when one fails: stop, or go on")
	running.flags.Var(&timeoutValue{&o.Timeout}, "timeout", "stop the job after `TIME`: 90, 90s, 1h30m")

	hosts := newGroup("Hosts, and what is between them")
	hosts.flags.IntVar(&o.VirtualHosts, "virtual-hosts", 1, "let this machine play `K` hosts that share no memory")
	hosts.flags.StringVar(&o.Listen, "listen", "", "wait at `ADDR`, host:port, for hosts that join (golaunch supervise)")
	hosts.flags.StringVar(&c.hosts, "hosts", "", "with --listen: wait for `K` of them; over a cluster: use these hosts\nonly, a,b,c")
	keyFlags(hosts.flags, &o.Key)
	hosts.flags.Var(&choice{set: func(v string) { o.Transport = v }, among: []string{"auto", "shm", "tcp", "verbs"}, value: "auto"},
		"transport", "how ranks reach each other, a `PATH`: shm, tcp, verbs or auto,\nwhich is shared memory within a host, and between hosts\nRDMA devices where both ranks have one, else TCP")
	hosts.flags.StringVar(&o.Interface, "interface", "", "use the network interface `NAME` only")
	hosts.flags.BoolVar(&o.Encrypt, "encrypt", false, "encrypt what ranks send each other over a network (TLS 1.3)")
	o.FailureTimeout = launcher.FailureTimeout
	hosts.flags.Var(&timeoutValue{&o.FailureTimeout}, "failure-timeout", "who is silent for `TIME` is lost: a host, or a rank's peer")

	reports := newGroup("Telling")
	reports.flags.StringVar(&o.Report, "json", "", "at the end, print a report in JSON as the last line of stdout,\nor write it to `FILE`")
	reports.flags.Lookup("json").NoOptDefVal = "-"
	reports.flags.BoolVar(&o.Stats, "stats", false, "at the end, print what went over shared memory, TCP and RDMA devices")
	reports.flags.BoolVarP(&o.Verbose, "verbose", "v", false, "tell of each rank's start and end")
	reports.flags.BoolVar(&c.version, "version", false, "print the version")
	reports.flags.Var(&choice{set: func(v string) { c.completion = v }, among: shells}, "completion", "print the completion script of a shell")
	reports.flags.BoolVarP(&c.help, "help", "h", false, "print this")
	return []group{inout, running, c.clusterFlags(), hosts, reports}
}

// clusterFlags are for jobs over a cluster.
func (c *command) clusterFlags() group {
	o := &c.options.Cluster
	g := newGroup("Over a cluster: if an agent runs on this host, or --agent names one")
	accessFlags(g.flags, &o.Access)
	g.flags.BoolVar(&c.options.Local, "local", false, "run on this machine alone")
	g.flags.Var(&choice{set: func(v string) { o.MapBy = v }, among: launcher.Policies()}, "map-by",
		"fill hosts one after the other, use all alike, or those that have\nthe least to do (default slot)")
	g.flags.IntVar(&o.PerHost, "ppn", 0, "put `N` ranks on a host at most")
	g.flags.Var(&labelsValue{&o.Labels}, "label", "use hosts with label `NAME=VALUE` only (may be repeated)")
	g.flags.BoolVar(&o.Oversubscribe, "oversubscribe", false, "put more ranks on hosts than they have slots")
	g.flags.StringArrayVar(&c.options.Files, "file", nil, "send `SRC`, or SRC:NAME, along with the program: ranks find it in\n$GOLAUNCH_FILES (may be repeated)")
	g.flags.BoolVar(&o.DryRun, "dry-run", false, "print where the ranks would go")
	g.flags.BoolVar(&c.options.Detach, "detach", false, "run on without this terminal, print the job's name, and keep the\noutput for golaunch logs")
	return g
}

// groups returns all flags of the first program, and where they go.
func (c *command) groups(s *launcher.Segment) []group {
	return append([]group{segmentFlags(s)}, c.jobFlags()...)
}

// flagSet joins groups into one set. Flags end at the first argument that is none:
// the program, whose own flags follow.
func flagSet(groups ...group) *pflag.FlagSet {
	fs := pflag.NewFlagSet("golaunch", pflag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	fs.SetInterspersed(false)
	for _, g := range groups {
		fs.AddFlagSet(g.flags)
	}
	return fs
}
