package launcher

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"time"

	"github.com/golaunch/golaunch/launcher/boot"
	"github.com/golaunch/golaunch/launcher/internal/control"
	"github.com/golaunch/golaunch/launcher/internal/lifecycle"
	"github.com/golaunch/golaunch/runtime/job"
)

// Who reads golaunch's stdin, where it is not one rank.
const (
	StdinAll  = control.AllRanks
	StdinNone = control.NoRank
)

// CodeUsage is what golaunch exits with after a mistake in the command line.
const CodeUsage = lifecycle.CodeUsage

// FailureTimeout is how long a host or a peer may be silent, unless Options say
// something else.
const FailureTimeout = 10 * time.Second

// Version is golaunch's version, with what else one wants to know when something
// does not fit together.
func Version() string {
	return fmt.Sprintf("golaunch %s (rank protocol %d, %s %s/%s)", boot.Version, boot.Protocol, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// Options say what to run, and how.
type Options struct {
	Segments []Segment
	// Stdin is the rank that reads golaunch's stdin, StdinAll or StdinNone.
	Stdin int
	// Tag puts the rank before every line.
	Tag bool
	// OutputDir, if not empty, is a directory for files rank-N.out and rank-N.err
	// that get the output instead of the terminal.
	OutputDir string
	// Timeout is how long the ranks may run; 0: for ever.
	Timeout time.Duration
	// BindToCore binds each rank to one core.
	BindToCore bool
	// Continue lets the other ranks go on when one fails.
	Continue bool
	// VirtualHosts is how many hosts this machine plays, 1 or more.
	VirtualHosts int
	// Listen, if not empty, is the address at which golaunch waits for the
	// supervisors of Hosts hosts (RunSupervise), who hold the same Key, instead of
	// starting any.
	Listen string
	Hosts  int
	Key    Key
	// Cluster says how a cluster is reached, and where the ranks may go in it. The job
	// runs there if there is an agent, unless Local, Listen or several VirtualHosts say
	// something else.
	Cluster ClusterOptions
	Local   bool
	// Files are what is sent along with the programs: SRC, or SRC:NAME, as ranks find it
	// below EnvFiles.
	Files []string
	// Detach has the job run on when whoever started it is gone. Detached says that
	// this process is the golaunch of such a job (DetachedName).
	Detach, Detached bool
	// Transport says how ranks reach each other: "auto" (shared memory within a host,
	// between hosts RDMA devices where both ranks have one, else TCP), "shm", "tcp" or
	// "verbs".
	Transport string
	// Interface, if not empty, is the only network interface that ranks use.
	Interface string
	// Encrypt encrypts what ranks send each other over a network.
	Encrypt bool
	// FailureTimeout is how long a host or a peer may be silent before it is lost;
	// 0: the constant of that name, or less where members gossip more often.
	FailureTimeout time.Duration
	// Stats prints what the ranks report of the paths they used.
	Stats bool
	// Report, if not empty, is a file for a JSON report; "-" is stdout.
	Report string
	// Verbose tells of every rank's start and end.
	Verbose bool
}

// A Segment is some ranks that run the same program.
type Segment struct {
	Ranks   int
	Program string // as typed: a name, a path, or a Go package's directory
	Args    []string
	Env     []string // NAME=VALUE, or NAME to insist that it is set
	Dir     string   // working directory; "": golaunch's
}

// errUsage marks a mistake in the command line.
var errUsage = errors.New("")

func usage(format string, args ...any) error {
	return fmt.Errorf("%s%w", fmt.Sprintf(format, args...), errUsage)
}

// size is the number of ranks.
func (o *Options) size() (n int) {
	for _, s := range o.Segments {
		n += s.Ranks
	}
	return n
}

// check finds what is wrong whatever the machine looks like.
func (o *Options) check() error {
	for _, s := range o.Segments {
		if s.Ranks < 1 || s.Ranks > job.MaxRanks {
			return usage("-n %d: the number of ranks is 1 to %d", s.Ranks, job.MaxRanks)
		}
	}
	n := o.size()
	switch {
	case len(o.Segments) == 0:
		return usage("no program to run")
	case n > job.MaxRanks:
		return usage("%d ranks: there can be %d", n, job.MaxRanks)
	case o.Stdin >= n:
		return usage("--stdin %d: the ranks are 0 to %d", o.Stdin, n-1)
	case o.Timeout < 0:
		return usage("--timeout %v: it must not be negative", o.Timeout)
	case o.Transport == "verbs" && o.Encrypt:
		return usage("--transport verbs: RDMA has no encryption (--encrypt)")
	}
	return o.checkHosts(n)
}

// checkHosts finds what is wrong with the hosts and what is between them.
func (o *Options) checkHosts(ranks int) error {
	if o.OverCluster() {
		return o.checkCluster()
	}
	if given := o.given(); given != "" {
		return usage("%s: it is for jobs over a cluster, and %s", given, o.whyNoCluster())
	}
	hosts, flag := o.VirtualHosts, "--virtual-hosts"
	if o.overNetwork() {
		hosts, flag = o.Hosts, "--hosts"
	}
	switch {
	case !o.overNetwork() && (o.Hosts != 0 || o.Key.given()):
		return usage("--hosts, --secret-file and --secret-fd go with --listen")
	case o.overNetwork() && o.VirtualHosts != 1:
		return usage("--virtual-hosts: with --listen, every host has a machine, or namespace, of its own")
	case o.overNetwork() && !o.Key.given():
		return usage("--listen: --secret-file or --secret-fd is needed, a key that the hosts have, too")
	case hosts < 1:
		return usage("%s %d: the number of hosts is 1 or more", flag, hosts)
	case hosts > ranks:
		return usage("%s %d: the job has %s, and each host needs one at least", flag, hosts, ranksOf(ranks))
	case hosts > 1 && o.Transport == "shm":
		return usage("--transport shm: %d hosts share no memory", hosts)
	case !o.overNetwork():
		return checkInterface(o.Interface)
	}
	return nil
}

// checkInterface looks whether there is a network interface of that name.
func checkInterface(name string) error {
	if name == "" {
		return nil
	}
	if _, err := net.InterfaceByName(name); err != nil {
		return usage("--interface %s: there is no such network interface", name)
	}
	return nil
}

func ranksOf(n int) string {
	if n == 1 {
		return "1 rank"
	}
	return fmt.Sprint(n, " ranks")
}

// overNetwork reports whether hosts join.
func (o *Options) overNetwork() bool { return o.Listen != "" || o.OverCluster() }

func (o *Options) policy() lifecycle.Policy {
	if o.Continue {
		return lifecycle.ContinueOnFailure
	}
	return lifecycle.AbortOnFailure
}

// makeOutputDir makes the directory for the ranks' output, if one is wanted.
func (o *Options) makeOutputDir() error {
	if o.OutputDir == "" {
		return nil
	}
	if err := os.MkdirAll(o.OutputDir, 0o777); err != nil {
		return usage("--output-dir %s: %v", o.OutputDir, cause(err))
	}
	return nil
}

// cause is what went wrong, without the operation and the path that the message
// names already.
func cause(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
