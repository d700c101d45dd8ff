package pmi

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/golaunch/golaunch/launcher/boot/pmi/wire"
)

// A manager is a process manager of one rank, played by the test.
type manager struct {
	t       *testing.T
	speaks  string            // the versions that it knows
	longest int               // of values
	lies    map[string]string // what it answers to a command instead, raw; "": it hangs up

	brief bool // it hangs up behind a lie

	mu     sync.Mutex
	values map[string]string
	heard  []string
	done   sync.WaitGroup
}

// startManager makes this process look like rank 0 of 1 and returns its manager.
func startManager(t *testing.T, speaks string, lies map[string]string) *manager {
	t.Helper()
	m := &manager{t: t, speaks: speaks, longest: 1024, lies: lies, values: map[string]string{}}
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	syscall.SetNonblock(fds[0], true)
	ours := os.NewFile(uintptr(fds[0]), "manager")
	t.Setenv(EnvFD, strconv.Itoa(fds[1]))
	t.Setenv(EnvRank, "0")
	t.Setenv(EnvSize, "1")
	m.done.Go(func() { m.serve(ours) })
	t.Cleanup(func() { syscall.Close(fds[1]); ours.Close(); m.done.Wait() })
	return m
}

func (m *manager) serve(conn io.ReadWriteCloser) {
	defer conn.Close()
	in, d := bufio.NewReader(conn), lines()
	for {
		ask, err := d.read(in)
		if err != nil {
			return
		}
		m.note(ask)
		answer, next := m.answer(ask, d)
		if answer == "" {
			return
		}
		if _, err := io.WriteString(conn, answer); err != nil {
			return
		}
		if _, lied := m.lies[ask.Command]; lied && m.brief || ask.Command == "finalize" {
			return
		}
		d = next
	}
}

func (m *manager) note(ask wire.Message) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.heard = append(m.heard, ask.Command)
}

// answer is what it writes, and what it speaks next.
func (m *manager) answer(ask wire.Message, d *dialect) (string, *dialect) {
	if lie, ok := m.lies[ask.Command]; ok {
		return lie, d
	}
	say := func(command string, pairs ...wire.Pair) string {
		b, err := d.append(wire.Message{Command: command, Pairs: pairs}, nil)
		if err != nil {
			m.t.Error(err)
		}
		return string(b)
	}
	key, _ := ask.Value("key")
	switch ask.Command {
	case "init":
		version, _ := ask.Value("pmi_version")
		if !strings.Contains(m.speaks, version) {
			return "cmd=response_to_init pmi_version=" + m.speaks + " pmi_subversion=0 rc=-1\n", d
		}
		return "cmd=response_to_init pmi_version=" + version + " pmi_subversion=0 rc=0\n", map[string]*dialect{"1": lines(), "2": frames()}[version]
	case "initack":
		return "cmd=initack rc=0\ncmd=set size=1\ncmd=set rank=0\ncmd=set debug=0\n", d
	case "get_maxes":
		return fmt.Sprintf("cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=%d\n", m.longest), d
	case "get_my_kvsname":
		return "cmd=my_kvsname kvsname=kvs_1\n", d
	case "fullinit":
		return say("fullinit-response", wire.Pair{Key: "rank", Value: "0"}, wire.Pair{Key: "size", Value: "1"}, wire.Pair{Key: "rc", Value: "0"}), d
	case d.put.name:
		m.values[key], _ = ask.Value("value")
		if len(m.values[key]) >= m.longest {
			m.t.Errorf("%s: a value of %d bytes", key, len(m.values[key]))
		}
		return say(d.put.answer, wire.Pair{Key: "rc", Value: "0"}), d
	case d.get.name:
		value, found := m.values[key]
		switch {
		case found:
			return say(d.get.answer, wire.Pair{Key: "rc", Value: "0"}, wire.Pair{Key: "found", Value: "TRUE"}, wire.Pair{Key: "value", Value: value}), d
		case d.version == "1":
			return say(d.get.answer, wire.Pair{Key: "rc", Value: "-1"}, wire.Pair{Key: "msg", Value: "key_not_found"}), d
		}
		return say(d.get.answer, wire.Pair{Key: "rc", Value: "0"}, wire.Pair{Key: "found", Value: "FALSE"}), d
	case d.fence.name:
		return say(d.fence.answer), d
	case d.finalize.name:
		return say(d.finalize.answer, wire.Pair{Key: "rc", Value: "0"}), d
	}
	return "", d
}
