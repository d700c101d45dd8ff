package launcher

import (
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/launcher/internal/agent"
	"github.com/golaunch/golaunch/launcher/internal/join"
	"github.com/golaunch/golaunch/launcher/internal/lifecycle"
	"github.com/golaunch/golaunch/launcher/internal/proc"
	"github.com/golaunch/golaunch/launcher/internal/supervisor"
)

// SuperviseOptions say which job one host's supervisor joins.
type SuperviseOptions struct {
	// Join is where the front listens: host:port. In a tree it is a list,
	// "PARENT,GRANDPARENT,...,FRONT": the first that lives is joined, now and when
	// that one is lost.
	Join string
	// Serve, if not empty, is the address at which hosts below this one may join
	// through it: host:port, :0 for any port. Where it listens is written to the
	// descriptor Ready, "ADDRESS\n", before this host joins, and "joined\n" when it has.
	// Ready is closed then, or when this host cannot.
	Serve string
	Ready int // 0: nobody wants to know
	Key   Key
	// Host is what this host is called; "": its host name.
	Host string
	// Slots is how many ranks this host takes; 0: any number.
	Slots int
	// Wait is how long the front may take to listen.
	Wait time.Duration
}

// A Key is where the key comes from that the front and the supervisors of a job
// share: a file, or an open descriptor if File is empty. A negative one is none.
type Key struct {
	File string
	FD   int
}

// given reports whether there is one.
func (k Key) given() bool { return k.File != "" || k.FD >= 0 }

// read reads it.
func (k Key) read() ([]byte, error) {
	if k.File != "" {
		key, err := join.ReadKeyFile(k.File)
		if err != nil {
			return nil, usage("--secret-file %v", err)
		}
		return key, nil
	}
	f := os.NewFile(uintptr(k.FD), "secret")
	defer f.Close()
	key, err := join.ReadKey(f)
	if err != nil {
		return nil, usage("--secret-fd %d: %v", k.FD, err)
	}
	return key, nil
}

// parents are the addresses in Join.
func (o *SuperviseOptions) parents() []string { return strings.Split(o.Join, ",") }

// check finds what is wrong with them. key is the key.
func (o *SuperviseOptions) check() (key []byte, err error) {
	if o.Join == "" {
		return nil, usage("supervise: --join says where golaunch listens, and is needed")
	}
	for _, address := range o.parents() {
		if _, _, err := net.SplitHostPort(address); err != nil {
			return nil, usage("supervise: --join %s: it is an address and a port, such as node-a:4711", address)
		}
	}
	if o.Slots < 0 {
		return nil, usage("supervise: --slots %d: it must not be negative", o.Slots)
	}
	if !o.Key.given() {
		return nil, usage("supervise: --secret-file or --secret-fd is needed: the key that golaunch has")
	}
	return o.Key.read()
}

// RunSupervise is the whole life of a process that stands for one host of a job
// whose front is elsewhere, and returns its exit code: that of the supervisor, which
// it starts. There are two processes for the same reason as at the front: each
// clears up when the other one is killed.
func RunSupervise(o SuperviseOptions) int {
	key, err := o.check()
	if err != nil {
		fmt.Fprintf(os.Stderr, "golaunch: %v\n", err)
		return CodeUsage
	}
	ready := o.ready()
	defer ready.Close()
	code, err := guard(supervisor.JoinOptions{
		Parents: o.parents(), Serve: o.Serve, Key: key, Host: o.Host, Slots: o.Slots, Wait: o.Wait,
	}, ready)
	if err != nil {
		fmt.Fprintf(os.Stderr, "golaunch: supervise: %v\n", err)
		return 1
	}
	return code
}

// ready is the descriptor on which somebody waits for the address of Serve and for this
// host to join; nil, which can be closed, too: nobody.
func (o *SuperviseOptions) ready() *os.File {
	if o.Ready <= 0 {
		return nil
	}
	unix.CloseOnExec(o.Ready)
	return os.NewFile(uintptr(o.Ready), "ready")
}

// tellSteps passes on where the supervisor serves others, and that it has joined.
func tellSteps(stream io.Reader, ready *os.File) {
	defer ready.Close()
	err := supervisor.ReadSteps(stream, func(address string) {
		if address != "" && ready != nil {
			fmt.Fprintln(ready, address)
		}
	})
	if err == nil && ready != nil {
		fmt.Fprintln(ready, agent.Joined)
	}
}

// guard starts the supervisor and waits for its end, or ends it at a signal.
func guard(o supervisor.JoinOptions, ready *os.File) (code int, err error) {
	children, err := proc.New()
	if err != nil {
		return 1, err
	}
	signals := make(chan os.Signal, 16)
	catch(signals, syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT)
	ended := make(chan proc.Exit, 1)
	_, stream, err := spawnSupervisor(children, func(e proc.Exit) { ended <- e }, joins)
	if err != nil {
		return 1, err
	}
	defer children.KillAll()
	if err := supervisor.WriteOptions(stream, o); err != nil {
		return 1, fmt.Errorf("the supervisor does not listen: %w", err)
	}
	go tellSteps(stream, ready)
	select {
	case e := <-ended:
		if e.Signal != 0 {
			return 1, fmt.Errorf("the supervisor %s; every rank of this host was stopped with it", endingOf(e.Code, int(e.Signal), e.CoreDumped))
		}
		return e.Code, nil
	case sig := <-signals:
		stream.Close()
		select {
		case <-ended:
		case <-time.After(time.Duration(lifecycle.KillWait)):
		case <-signals:
		}
		return 128 + int(sig.(syscall.Signal)), nil
	}
}
