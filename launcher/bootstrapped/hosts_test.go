package bootstrapped

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/golaunch/golaunch/launcher/internal/netns"
)

// hosts are network namespaces that hydra starts its proxies on, as it would by ssh:
// a script in ssh's place enters them.
type hosts struct {
	*netns.Network
	script string
	names  []string // their addresses
}

func newHosts(t *testing.T, n int) *hosts {
	t.Helper()
	installed(t, "mpiexec.hydra", "mpich")
	nsenter := installed(t, "nsenter", "util-linux")
	h := &hosts{Network: netns.New(t, n, netns.Options{NoIPv6: true}), script: filepath.Join(t.TempDir(), "enter")}
	var enter strings.Builder
	for _, host := range h.Hosts {
		address := host.Addr().String()
		h.names = append(h.names, address)
		fmt.Fprintf(&enter, "%s) ns=%d;;\n", address, inhabit(t, host))
	}
	// hydra calls it as it calls ssh: options, the host, the command.
	text := fmt.Sprintf("#!/bin/sh\nwhile :; do case $1 in -*) shift;; *) break;; esac; done\ncase $1 in\n%s*) exit 1;;\nesac\nshift\n"+
		"exec %s --net=/proc/$ns/ns/net sh -c \"$*\"\n", enter.String(), nsenter)
	if err := os.WriteFile(h.script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return h
}

// inhabit starts a process on a host that does nothing until the test ends.
func inhabit(t *testing.T, host *netns.Host) (pid int) {
	t.Helper()
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	return cmd.Process.Pid
}

// start starts n ranks, spread over the hosts in turn, ppn at a time.
func (h *hosts) start(t *testing.T, n, ppn int, env []string, program ...string) *running {
	t.Helper()
	args := slices.Concat([]string{"-launcher", "ssh", "-launcher-exec", h.script, "-iface", netns.Interface,
		"-hosts", strings.Join(h.names, ","), "-ppn", strconv.Itoa(ppn), "-n", strconv.Itoa(n)}, program)
	cmd := exec.Command("mpiexec.hydra", args...)
	cmd.Env = slices.Concat(os.Environ(), env, []string{"GORACE=atexit_sleep_ms=0", fmt.Sprintf("%s=%s-%d", envMark, t.Name(), n)})
	return launch(t, cmd, func() error { return h.Hosts[0].Start(cmd) })
}

// Hosts are told apart although they share a machine, its name and its boot: they
// share no network. Ranks need not be in blocks.
func TestRanksOfSeveralHosts(t *testing.T) {
	t.Parallel()
	h := newHosts(t, 2)
	for _, version := range []string{"1", "2"} {
		for ppn, on := range map[int][]int{1: {0, 1, 0, 1}, 2: {0, 0, 1, 1}} {
			got := h.start(t, 4, ppn, []string{envRole + "=hello", "GOLAUNCH_PMI=" + version}, self(t)).wait()
			var want []string
			for rank, host := range on {
				var paths []string
				for to := range on {
					switch {
					case to == rank:
						paths = append(paths, "self")
					case on[to] == host:
						paths = append(paths, "shm")
					default:
						paths = append(paths, "tcp")
					}
				}
				want = append(want, fmt.Sprintf("rank %d of 4 on %s/%d reached all by %v", rank, hostname(t), host, paths))
			}
			if got.code != 0 || !slices.Equal(lines(got.stdout), want) {
				t.Errorf("PMI-%s, %d at a time: %s\nwant %q", version, ppn, got, want)
			}
		}
	}
}

// What ranks say between hosts is what the job's environment asks for.
func TestSettingsAcrossHosts(t *testing.T) {
	t.Parallel()
	h := newHosts(t, 2)
	for _, tt := range []struct {
		env  string
		code int
		says string
	}{
		{"GOLAUNCH_ENCRYPT=1", 0, "reached all by"},
		{"GOLAUNCH_INTERFACE=eth0", 0, "reached all by"},
		{"GOLAUNCH_INTERFACE=eth9", 1, `the interface "eth9" does not exist`},
		{"GOLAUNCH_TRANSPORT=shm", 1, "transport shm is asked for, and there are 2 hosts"},
		{"GOLAUNCH_FAILURE_TIMEOUT=never", 1, `GOLAUNCH_FAILURE_TIMEOUT="never": want a time`},
	} {
		got := h.start(t, 2, 1, []string{envRole + "=hello", tt.env}, self(t)).wait()
		if (got.code == 0) != (tt.code == 0) || !strings.Contains(got.stdout+got.stderr, tt.says) {
			t.Errorf("%s: %s", tt.env, got)
		}
	}
}

func TestWordcountAcrossHosts(t *testing.T) {
	t.Parallel()
	source := filepath.Join(goRoot(t), "src", "strings")
	h := newHosts(t, 2)
	for _, n := range []int{2, 4} {
		got := h.start(t, n, n/2, nil, binary(t, "wordcount"), "--verify", source).wait()
		if got.code != 0 || !strings.Contains(got.stdout, "\nverified") {
			t.Errorf("%d ranks: %s", n, got)
		}
	}
}

func TestConformanceAcrossHosts(t *testing.T) {
	t.Parallel()
	h := newHosts(t, 2)
	conform(t, func(t *testing.T, n int, program ...string) result {
		return h.start(t, n, (n+1)/2, nil, program...).wait()
	}, 4)
}
