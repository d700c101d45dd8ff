package scale_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/netns"
	"github.com/golaunch/golaunch/launcher/internal/scale"
)

// BenchmarkAgents measures five agents that have nothing to do, each on a host of its own, a
// network namespace: everything that the process uses, and every byte of a packet.
func BenchmarkAgents(b *testing.B) {
	golaunch := os.Getenv(envGolaunch)
	if golaunch == "" {
		b.Skip(envGolaunch + " does not say where golaunch is")
	}
	for _, s := range []scale.Settings{scale.LAN(), scale.Local()} {
		b.Run(s.Name, func(b *testing.B) { benchAgents(b, golaunch, s) })
	}
}

func benchAgents(b *testing.B, golaunch string, s scale.Settings) {
	const hosts = 5
	n := netns.New(b, hosts, netns.Options{})
	dir, err := os.MkdirTemp("", "idle") // b.TempDir() may be too long for a socket
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	secret := filepath.Join(dir, "key")
	os.WriteFile(secret, key, 0o600)
	var pids []int
	for _, h := range n.Hosts {
		home := filepath.Join(dir, h.Name)
		cmd := exec.Command(golaunch, "agent", "--name", h.Name, "--bind", h.Addr().String(), "--profile", s.Name, "--key-file", secret,
			"--state", home+"/state", "--runtime", home+"/run", "--cache", home+"/cache", "--join", n.Hosts[0].Addr().String())
		if err := h.Start(cmd); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		pids = append(pids, cmd.Process.Pid)
	}
	idling := time.Duration(s.ExchangeEvery(hosts))
	<-time.After(idling)
	for range b.N {
		before := usedBy(pids)
		<-time.After(idling)
		usedBy(pids).report(b, before, idling.Seconds()*hosts)
	}
	b.ReportMetric(0, "ns/op")
}

// A use is what processes have used: CPU time in nanoseconds, bytes sent from their hosts,
// and the most kilobytes that one of them has had resident.
type use struct{ cpu, sent, memory float64 }

func (u use) report(b *testing.B, before use, seconds float64) {
	b.ReportMetric((u.cpu-before.cpu)/1e3/seconds, "us/s/agent")
	b.ReportMetric((u.sent-before.sent)/seconds, "B/s/agent")
	b.ReportMetric(u.memory/1e3, "MB")
}

func usedBy(pids []int) (u use) {
	for _, pid := range pids {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		for _, task := range tasks {
			u.cpu += figure(task, "", 0)
		}
		u.sent += figure(fmt.Sprintf("/proc/%d/net/dev", pid), netns.Interface+":", 8)
		u.memory = max(u.memory, figure(fmt.Sprintf("/proc/%d/status", pid), "VmHWM:", 0))
	}
	return u
}

// figure is the n-th one behind a word in a file of /proc.
func figure(file, word string, n int) (value float64) {
	text, _ := os.ReadFile(file)
	_, rest, _ := strings.Cut(string(text), word)
	if fields := strings.Fields(rest); n < len(fields) {
		fmt.Sscan(fields[n], &value)
	}
	return value
}
