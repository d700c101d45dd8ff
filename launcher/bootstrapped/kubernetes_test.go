package bootstrapped

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/netns"
)

// A kubelet starts the pods of a manifest, each on a host of its own. hosts is their
// /etc/hosts, in which names appear as pods start.
type kubelet struct {
	*netns.Network
	t     *testing.T
	m     manifest
	hosts string
	known []string
}

func newKubelet(t *testing.T) *kubelet {
	t.Helper()
	m := readManifest(t)
	k := &kubelet{Network: netns.New(t, m.pods, netns.Options{NoIPv6: true}), t: t, m: m, hosts: filepath.Join(t.TempDir(), "hosts")}
	k.name("127.0.0.1 localhost")
	return k
}

// name adds a line to the hosts file. It is written in place: pods have it mounted.
func (k *kubelet) name(line string) {
	k.t.Helper()
	k.known = append(k.known, line)
	if err := os.WriteFile(k.hosts, []byte(strings.Join(k.known, "\n")+"\n"), 0o644); err != nil {
		k.t.Fatal(err)
	}
}

// start starts the pod of an index, and tells the others its name.
func (k *kubelet) start(index int) *running {
	k.t.Helper()
	name := k.m.host(index)
	k.name(fmt.Sprintf("%s %s.%s %s", k.Hosts[index].Addr(), name, k.m.domain, name))
	p := pod{
		Host: name, Command: k.m.command, User: k.m.user, Group: k.m.group, Root: k.t.TempDir(),
		Env:    slices.Concat([]string{"PATH=/usr/local/bin:/bin", "HOSTNAME=" + name, fmt.Sprint("JOB_COMPLETION_INDEX=", index)}, k.m.env),
		Secret: k.m.secretPath, SecretMode: k.m.secretMode, Key: "a key that is long enough to be one\n",
		Files: map[string]string{"/etc/nsswitch.conf": "hosts: files\n"},
		Binds: map[string]string{
			"/etc/hosts": k.hosts, "/src": filepath.Join(goRoot(k.t), "src", "strings"),
			"/usr/local/bin/golaunch": binary(k.t, "golaunch"), "/usr/local/bin/wordcount": binary(k.t, "wordcount"),
		},
	}
	for _, dir := range []string{"/bin", "/lib", "/lib64"} { // the shell
		if _, err := os.Stat(dir); err == nil {
			p.Binds[dir] = dir
		}
	}
	text, err := json.Marshal(p)
	if err != nil {
		k.t.Fatal(err)
	}
	cmd := exec.Command(self(k.t))
	cmd.Env = []string{envRole + "=pod", envPod + "=" + string(text)}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWUTS | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC}
	return launch(k.t, cmd, func() error { return k.Hosts[index].Start(cmd) })
}

// lateness is how long after the others the last pod starts.
const lateness = 3 * time.Second

// The manifest's own command, with its own environment and no name but those that
// Kubernetes gives, makes a job of the pods; whichever starts late.
func TestKubernetesJob(t *testing.T) {
	t.Parallel()
	for late := range readManifest(t).pods {
		t.Run(fmt.Sprint("pod ", late, " is late"), func(t *testing.T) {
			t.Parallel()
			k := newKubelet(t)
			pods := make([]*running, k.m.pods)
			for i := range pods {
				if i != late {
					pods[i] = k.start(i)
				}
			}
			<-time.After(lateness)
			for i, p := range pods {
				if p != nil && len(p.done) > 0 {
					t.Fatalf("pod %d did not wait: %s", i, p.wait())
				}
			}
			pods[late] = k.start(late)
			got := pods[0].wait()
			if got.code != 0 || !strings.Contains(got.stdout, "verified") {
				t.Errorf("pod 0: %s", got)
			}
			for i, p := range pods[1:] {
				if got := p.wait(); got.code != 0 {
					t.Errorf("pod %d: %s", i+1, got)
				}
			}
			if left := k.Gone(5 * time.Second); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// A pod that is lost ends the job, and its first pod says which it was.
func TestKubernetesPodIsLost(t *testing.T) {
	t.Parallel()
	k := newKubelet(t)
	script := k.m.command[len(k.m.command)-1]
	endless := strings.Replace(script, "wordcount --verify /src", `sh -c 'echo ready; while :; do sleep 1; done'`, 1)
	if endless == script {
		t.Fatal("the manifest does not run wordcount")
	}
	k.m.command[len(k.m.command)-1] = endless
	var pods []*running
	for i := range k.m.pods {
		pods = append(pods, k.start(i))
	}
	pods[0].await(6, "ready")
	if err := pods[2].cmd.Process.Kill(); err != nil { // with all of its namespace
		t.Fatal(err)
	}
	got := pods[0].wait()
	if got.code != 1 || !strings.Contains(got.stderr, k.m.host(2)) {
		t.Errorf("pod 0: %s", got)
	}
	for _, p := range pods[1:] {
		p.wait()
	}
}
