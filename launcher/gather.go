package launcher

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/golaunch/golaunch/launcher/boot"
	"github.com/golaunch/golaunch/launcher/internal/control"
	"github.com/golaunch/golaunch/launcher/internal/relay"
)

// helloWait is how long a supervisor that has proved the key may take to say who
// it is.
const helloWait = 10 * time.Second

// A joiner is a supervisor that wants to join.
type joiner struct {
	*host
	hello *control.Hello
}

// errInterrupted ends the wait for hosts; its value is the signal.
type errInterrupted syscall.Signal

func (e errInterrupted) Error() string { return "interrupted by " + signalName(int(e)) }

// gather waits until all hosts have joined, and places the ranks.
func (f *front) gather() error {
	key, err := f.Key.read()
	if err != nil {
		return err
	}
	if err := f.openTree(f.Listen, key); err != nil {
		return usage("--listen %s: %v", f.Listen, err)
	}
	f.say("waiting at %s for %s", f.tree.Addr(), hostsText(f.Hosts))
	err = f.await()
	if err == nil {
		err = f.placeBySlots()
	}
	if err != nil {
		f.dismiss(err.Error())
	}
	return err
}

// openTree lets hosts attach to the launch tree, at an address.
func (f *front) openTree(address string, key []byte) (err error) {
	f.joiners, f.strangers, f.gathered = make(chan joiner), make(chan string), make(chan struct{})
	f.tree, err = relay.Listen(address, key, f.failureTimeout(), func(from net.Addr, why error) {
		select {
		case f.strangers <- fmt.Sprintf("refused a connection from %s: %v", from, why):
		case <-f.gathered:
		}
	})
	if err == nil {
		go f.meet()
	}
	return err
}

// closeTree tells the hosts that nothing more will come.
func (f *front) closeTree() {
	if f.tree != nil {
		f.tree.Close()
	}
}

func hostsText(n int) string {
	if n == 1 {
		return "1 host"
	}
	return fmt.Sprint(n, " hosts")
}

// meet lets every host that has attached say who it is, until the tree is closed.
func (f *front) meet() {
	for {
		stream, err := f.tree.Accept()
		if err != nil {
			return
		}
		go func() {
			j, err := f.introduce(stream)
			if err != nil {
				return
			}
			select {
			case f.joiners <- j:
			case <-f.gathered:
				refuse(j.conn, "the job has its hosts")
			}
		}()
	}
}

// introduce exchanges hellos.
func (f *front) introduce(stream *relay.Host) (joiner, error) {
	h := &host{conn: control.NewPromptConn(stream), stream: stream, where: stream.Where(), greeted: true}
	late := time.AfterFunc(helloWait, func() { h.conn.Close() })
	defer late.Stop()
	h.conn.Send(&control.Hello{Protocol: control.Protocol, Version: boot.Version, PID: os.Getpid()})
	j := joiner{host: h}
	for {
		m, err := h.conn.Receive()
		if err != nil {
			h.conn.Close()
			return j, err
		}
		switch m := m.(type) {
		case *control.Hello:
			j.hello, h.name, h.pid = m, m.Host, m.PID
			if m.Protocol != control.Protocol { // its Offer may look different
				return j, nil
			}
		case *control.Offer:
			if j.hello != nil {
				h.slots = m.Slots
				return j, nil
			}
		}
	}
}

// refuse tells a supervisor why it is not wanted, and closes.
func refuse(conn *control.Conn, why string) {
	conn.Send(&control.Refused{Text: why})
	late := time.AfterFunc(time.Second, func() { conn.Close() })
	defer late.Stop()
	conn.Flush()
	conn.Close()
}

// await takes supervisors in until there are enough, and nobody after that.
func (f *front) await() error {
	defer close(f.gathered)
	defer f.tree.Full()
	for len(f.hosts) < f.Hosts {
		select {
		case j := <-f.joiners:
			f.admit(j)
		case text := <-f.strangers:
			f.verbose("%s", text)
		case err := <-f.hopeless:
			if err == (silentError{}) {
				err = silentError{fmt.Sprintf("hosts have not joined within %v: %s", f.joinTimeout(), f.missing())}
			}
			return err
		case l := <-f.lost:
			if f.OverCluster() {
				return silentError{l.reason}
			}
			f.hosts = slices.DeleteFunc(f.hosts, func(h *host) bool { return h == l.host })
			f.say("host %s has gone again; %d of %d are here", l.host.name, len(f.hosts), f.Hosts)
		case w := <-f.output.written:
			f.output.took(w)
		case sig := <-f.signals:
			if err := f.interrupted(sig.(syscall.Signal)); err != nil {
				return err
			}
		}
	}
	return nil
}

// admit takes a supervisor in, or refuses it.
func (f *front) admit(j joiner) {
	why := ""
	switch {
	case j.hello.Protocol != control.Protocol || j.hello.Version != boot.Version:
		why = otherVersion(j.name, j.hello)
	case j.name == "" || len(j.name) > maxHostName:
		why = fmt.Sprintf("a host's name has 1 to %d bytes, and not %d", maxHostName, len(j.name))
	case slices.ContainsFunc(f.hosts, func(h *host) bool { return h.name == j.name }):
		why = fmt.Sprintf("a host called %s has joined already: --host gives this one another name", j.name)
	case f.expected(j.name) != "":
		why = f.expected(j.name)
	case j.slots < 0:
		why = fmt.Sprintf("it takes %d ranks", j.slots)
	}
	if why != "" {
		f.say("refused host %s (%s): %s", j.name, j.where, why)
		go refuse(j.conn, why)
		return
	}
	f.hosts = append(f.hosts, j.host)
	f.obituaries.joined(j.name, j.stream)
	f.verbose("host %s (%s) has joined; %d of %d are here", j.name, j.where, len(f.hosts), f.Hosts)
	j.conn.Send(&control.Keep{Timeout: int64(f.failureTimeout())})
	go f.receive(j.host)
}

const maxHostName = 255

// dismiss sends the hosts that have joined away.
func (f *front) dismiss(why string) {
	var refusing sync.WaitGroup
	for _, h := range f.hosts {
		refusing.Go(func() { refuse(h.conn, why) })
	}
	refusing.Wait()
	f.closeTree()
}

// placeBySlots gives each host its ranks, in the order of their names: who came
// first makes no difference.
func (f *front) placeBySlots() error {
	slices.SortFunc(f.hosts, func(a, b *host) int { return strings.Compare(a.name, b.name) })
	slots := make([]int, len(f.hosts))
	for i, h := range f.hosts {
		slots[i] = h.slots
	}
	sizes := share(f.size(), slots)
	if sizes == nil {
		var offers []string
		for _, h := range f.hosts {
			offers = append(offers, fmt.Sprintf("%s %d", h.name, h.slots))
		}
		return usage("the job has %s, and its hosts take fewer: %s", ranksOf(f.size()), strings.Join(offers, ", "))
	}
	f.place(sizes)
	return nil
}

// share divides ranks among hosts as evenly as their slots (0: any number) allow;
// nil: they do not suffice.
func share(ranks int, slots []int) []int {
	sizes := make([]int, len(slots))
	for ranks > 0 {
		var open []int // hosts with room
		for i, n := range slots {
			if n == 0 || sizes[i] < n {
				open = append(open, i)
			}
		}
		if len(open) == 0 {
			return nil
		}
		for k, i := range open {
			part := (ranks + len(open) - k - 1) / (len(open) - k)
			if slots[i] > 0 {
				part = min(part, slots[i]-sizes[i])
			}
			sizes[i] += part
			ranks -= part
		}
	}
	return sizes
}

// concludeGathering ends a front that has not got its hosts.
func (f *front) concludeGathering(err error) int {
	code := exitCode(err)
	var interrupted errInterrupted
	if errors.As(err, &interrupted) {
		code = 128 + int(interrupted)
	}
	if err == errDryRun {
		code = 0
	} else {
		f.say("%v", err)
	}
	f.endBuilder()
	f.flush()
	return code
}
