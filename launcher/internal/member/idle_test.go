package member

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/keys"
)

// intervals are the least and, among n members, the actual time between two exchanges of
// everything that a member starts. When the first of them are spread over the least, each
// member starts one in any actual interval: so long must be measured.
func intervals(b *testing.B, p Profile, n int) (least, actual time.Duration) {
	s, err := p.settings()
	if err != nil {
		b.Fatal(err)
	}
	const few = 32 // memberlist's pushPullScaleThreshold
	times := max(1, 1+math.Ceil(math.Log2(float64(n)/few)))
	return s.PushPullInterval, s.PushPullInterval * time.Duration(times)
}

// usage is what a process has used so far.
type usage struct {
	CPU            time.Duration
	Sent, Received uint64
	RSS            int // bytes, at most
}

func (u usage) report(b *testing.B, before usage, over time.Duration, members int) {
	n := over.Seconds() * float64(members)
	b.ReportMetric(100*(u.CPU-before.CPU).Seconds()/n, "%core/member")
	b.ReportMetric(float64(u.Sent-before.Sent)/n, "sentB/s/member")
	b.ReportMetric(float64(u.Received-before.Received)/n, "recvB/s/member")
	b.ReportMetric(float64(u.RSS)/1e6, "MB")
}

func used(members ...*Cluster) (u usage) {
	var r syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	u.CPU = time.Duration(r.Utime.Nano() + r.Stime.Nano())
	u.RSS = peak()
	for _, c := range members {
		s, r := c.Traffic()
		u.Sent += s
		u.Received += r
	}
	return u
}

// peak is the most memory that this process has had resident, in bytes. (What getrusage
// says begins with the parent's.)
func peak() int {
	text, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	kb, _ := strconv.Atoi(strings.Fields(rest + " 0")[0])
	return kb << 10
}

// BenchmarkIdle measures what members cost that have nothing to say: five processes,
// each with an address of its own, and many in one process.
func BenchmarkIdle(b *testing.B) {
	for _, p := range []Profile{LAN, Local} {
		b.Run(string(p)+"/processes=5", func(b *testing.B) { benchProcesses(b, p, 5) })
		for _, n := range []int{5, 200} {
			b.Run(fmt.Sprintf("%s/members=%d", p, n), func(b *testing.B) { benchIdle(b, p, n) })
		}
	}
}

func benchIdle(b *testing.B, p Profile, n int) {
	members := crowd(b, p, n)
	defer closeAll(members)
	everybody(b, members, func(c *Cluster, _ Event) bool { return int(c.alive.Load()) == n })()
	settle(members)
	least, idling := intervals(b, p, n)
	<-time.After(least)
	for b.Loop() {
		before := used(members...)
		<-time.After(idling)
		used(members...).report(b, before, idling, n)
	}
}

// idleMember, in the environment, makes the test binary a member: its options. For
// every line of its stdin it prints what it has used.
const idleMember = "GOLAUNCH_TEST_IDLE_MEMBER"

func runIdle(options string) error {
	var o Options
	if err := json.Unmarshal([]byte(options), &o); err != nil {
		return err
	}
	key, err := keys.New([]byte("the key of idle members"))
	if err != nil {
		return err
	}
	o.Keys = keys.Ring{key}
	c, err := Start(o)
	if err != nil {
		return err
	}
	defer c.Close()
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		json.NewEncoder(os.Stdout).Encode(used(c))
	}
	return nil
}

type process struct {
	in  io.WriteCloser
	out *json.Decoder
}

func startProcess(b *testing.B, o Options) process {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	text, err := json.Marshal(o)
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), idleMember+"="+string(text))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { in.Close(); cmd.Wait() })
	return process{in, json.NewDecoder(out)}
}

func (p process) used(b *testing.B) (u usage) {
	io.WriteString(p.in, "\n")
	if err := p.out.Decode(&u); err != nil {
		b.Fatal(err)
	}
	return u
}

func benchProcesses(b *testing.B, p Profile, n int) {
	var processes []process
	for i := range n {
		processes = append(processes, startProcess(b, Options{
			Name: fmt.Sprint("m", i), Bind: fmt.Sprint("127.0.0.", i+1), Port: 17946, Profile: p, Join: []string{"127.0.0.1:17946"},
		}))
	}
	sum := func() (u usage) {
		for _, p := range processes {
			one := p.used(b)
			u.CPU += one.CPU
			u.Sent += one.Sent
			u.Received += one.Received
			u.RSS = max(u.RSS, one.RSS)
		}
		return u
	}
	least, idling := intervals(b, p, n)
	<-time.After(least)
	for b.Loop() {
		before := sum()
		<-time.After(idling)
		sum().report(b, before, idling, n)
	}
}
