package launcher

import (
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/join"
	"github.com/golaunch/golaunch/launcher/internal/lifecycle"
	"github.com/golaunch/golaunch/launcher/internal/proc"
	"github.com/golaunch/golaunch/launcher/internal/supervisor"
)

// SuperviseOptions say which job one host's supervisor joins.
type SuperviseOptions struct {
	// Join is where the front listens: host:port.
	Join string
	Key  Key
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

// check finds what is wrong with them. key is the key.
func (o *SuperviseOptions) check() (key []byte, err error) {
	if o.Join == "" {
		return nil, usage("supervise: --join says where golaunch listens, and is needed")
	}
	if _, _, err := net.SplitHostPort(o.Join); err != nil {
		return nil, usage("supervise: --join %s: it is an address and a port, such as node-a:4711", o.Join)
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
	code, err := guard(supervisor.JoinOptions{Address: o.Join, Key: key, Host: o.Host, Slots: o.Slots, Wait: o.Wait})
	if err != nil {
		fmt.Fprintf(os.Stderr, "golaunch: supervise: %v\n", err)
		return 1
	}
	return code
}

// guard starts the supervisor and waits for its end, or ends it at a signal.
func guard(o supervisor.JoinOptions) (code int, err error) {
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
