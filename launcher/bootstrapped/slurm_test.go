package bootstrapped

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// slurm is srun, of a cluster of this machine that the first test which needs it
// starts.
func slurm(t *testing.T, n int, flags []string, program ...string) *exec.Cmd {
	t.Helper()
	srun := installed(t, "srun", "slurm-wlm")
	cluster.Do(func() { cluster.err = cluster.start(t) })
	switch {
	case cluster.lacks != "":
		t.Skip("bootstrapped: Slurm: " + cluster.lacks)
	case cluster.err != nil:
		t.Fatal("bootstrapped: Slurm does not start: ", cluster.err)
	}
	args := slices.Concat([]string{"--mpi=pmi2", "--quiet", "--overcommit", "--kill-on-bad-exit=1", "-n", strconv.Itoa(n)}, flags, program)
	cmd := exec.Command(srun, args...)
	cmd.Env = []string{cluster.conf()}
	return cmd
}

// cluster is Slurm's daemons and their directory.
var cluster slurmCluster

type slurmCluster struct {
	sync.Once
	lacks   string // what this machine lacks
	err     error
	dir     string
	daemons []*exec.Cmd // in the order of their start
}

// startWait bounds how long the daemons may take.
const startWait = 60 * time.Second

func (c *slurmCluster) conf() string { return "SLURM_CONF=" + c.dir + "/slurm.conf" }

func (c *slurmCluster) start(t *testing.T) error {
	if os.Geteuid() != 0 {
		c.lacks = "its daemons take root"
		return nil
	}
	for program, pkg := range map[string]string{"munged": "munge", "slurmctld": "slurm-wlm", "slurmd": "slurm-wlm"} {
		if _, err := exec.LookPath(program); err != nil {
			c.lacks = fmt.Sprintf("%s (Debian: %s) is not installed", program, pkg)
			return nil
		}
	}
	var err error
	if c.dir, err = os.MkdirTemp("", "golaunch-slurm-"); err != nil {
		return err
	}
	if err := c.configure(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(t.Context(), startWait)
	defer cancel()
	key, at := filepath.Join(c.dir, "munge.key"), c.dir+"/munge"
	if err := c.daemon("munged", "--foreground", "--force", "--key-file="+key, "--socket="+at+".sock", "--pid-file="+at+".pid",
		"--log-file="+at+".log", "--seed-file="+at+".seed"); err != nil {
		return err
	}
	if err := until(ctx, func() bool { _, err := os.Stat(at + ".sock"); return err == nil }); err != nil {
		return fmt.Errorf("munged: %w", err)
	}
	if err := errors.Join(c.daemon("slurmctld", "-D", "-c"), c.daemon("slurmd", "-D")); err != nil {
		return err
	}
	return c.idle(ctx)
}

// idle waits until there is a node to run on.
func (c *slurmCluster) idle(ctx context.Context) error {
	var said []byte
	err := until(ctx, func() bool {
		cmd := exec.CommandContext(ctx, "sinfo", "-h", "-o", "%t")
		cmd.Env = append(os.Environ(), c.conf())
		said, _ = cmd.CombinedOutput()
		return strings.TrimSpace(string(said)) == "idle"
	})
	if err == nil {
		return nil
	}
	for _, log := range []string{"slurmctld.log", "slurmd.log"} {
		text, _ := os.ReadFile(filepath.Join(c.dir, log))
		said = append(append(said, "\n"+log+":\n"...), text...)
	}
	return fmt.Errorf("%w: %s", err, said)
}

// until waits for something that nobody tells of.
func until(ctx context.Context, ready func() bool) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ready() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (c *slurmCluster) configure() error {
	key := make([]byte, 1024)
	rand.Read(key)
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	ports, err := freePorts(2)
	if err != nil {
		return err
	}
	conf := strings.NewReplacer("DIR", c.dir, "HOST", host, "PORT0", ports[0], "PORT1", ports[1]).Replace(slurmConf)
	return errors.Join(os.WriteFile(filepath.Join(c.dir, "munge.key"), key, 0o600),
		os.WriteFile(filepath.Join(c.dir, "slurm.conf"), []byte(conf), 0o644),
		os.Chmod(c.dir, 0o755), os.Mkdir(filepath.Join(c.dir, "state"), 0o700), os.Mkdir(filepath.Join(c.dir, "spool"), 0o755))
}

// slurmConf claims more CPUs than there are, so that jobs need not wait for each
// other.
const slurmConf = `ClusterName=golaunch
SlurmctldHost=HOST(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=DIR/munge.sock
CredType=cred/munge
SlurmctldPort=PORT0
SlurmdPort=PORT1
StateSaveLocation=DIR/state
SlurmdSpoolDir=DIR/spool
SlurmctldPidFile=DIR/slurmctld.pid
SlurmdPidFile=DIR/slurmd.pid
SlurmctldLogFile=DIR/slurmctld.log
SlurmdLogFile=DIR/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SlurmdParameters=config_overrides
NodeName=HOST NodeAddr=127.0.0.1 CPUs=256 State=UNKNOWN
PartitionName=all Nodes=HOST Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:64
`

func freePorts(n int) (ports []string, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		ports = append(ports, strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
	}
	return ports, nil
}

// daemon starts one in the foreground.
func (c *slurmCluster) daemon(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), c.conf())
	cmd.Dir = c.dir
	if err := cmd.Start(); err != nil {
		return err
	}
	c.daemons = append(c.daemons, cmd)
	return nil
}

// stop ends the daemons, the last first.
func (c *slurmCluster) stop() error {
	for _, d := range slices.Backward(c.daemons) {
		d.Process.Signal(syscall.SIGTERM)
		kill := time.AfterFunc(10*time.Second, func() { d.Process.Kill() })
		d.Wait()
		kill.Stop()
	}
	if c.dir == "" {
		return nil
	}
	return os.RemoveAll(c.dir)
}
