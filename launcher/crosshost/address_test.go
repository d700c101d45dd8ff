package crosshost

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/netns"
)

var reached = regexp.MustCompile(`rank (\d) on (\S+) reached all by (\[.*\]) in (\d+) us`)

// hello runs a job in which every rank reaches every other, 2 on each host, and
// returns how long the slowest has taken.
func (c *cluster) hello(flags ...string) time.Duration {
	c.t.Helper()
	n := 2 * len(c.Hosts)
	got := c.succeed(append(append(flags, "-n", strconv.Itoa(n)), self(c.t, "hello")...)...)
	all := reached.FindAllStringSubmatch(got.stdout, -1)
	if len(all) != n {
		c.t.Errorf("%d of %d ranks have reached the others: %s", len(all), n, got)
	}
	slowest := 0
	for _, m := range all {
		rank, _ := strconv.Atoi(m[1])
		if want := c.paths(rank); m[2] != c.Hosts[rank/2].Name || m[3] != want {
			c.t.Errorf("rank %d on %s by %s, want %s", rank, m[2], m[3], want)
		}
		us, _ := strconv.Atoi(m[4])
		slowest = max(slowest, us)
	}
	return time.Duration(slowest) * time.Microsecond
}

// paths is how rank reaches the others.
func (c *cluster) paths(rank int) string {
	var all []string
	for to := range 2 * len(c.Hosts) {
		switch {
		case to == rank:
			all = append(all, "self")
		case to/2 == rank/2:
			all = append(all, "shm")
		default:
			all = append(all, "tcp")
		}
	}
	return fmt.Sprint(all)
}

// Interfaces that lead nowhere, on which a connection would wait for minutes, cost
// milliseconds.
func TestDecoysCostLittle(t *testing.T) {
	t.Parallel()
	plain := newCluster(t, 3, netns.Options{}).hello()
	decoyed := newCluster(t, 3, netns.Options{Decoys: true}).hello()
	t.Logf("%v, with decoys %v", plain, decoyed)
	if decoyed > plain+500*time.Millisecond {
		t.Errorf("first contact takes %v with decoys, %v without", decoyed, plain)
	}
}

// --interface is obeyed: with the right one all is well, with one that leads
// nowhere no rank is reached, although there is a way.
func TestInterfaceIsForced(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, netns.Options{Decoys: true})
	c.hello("--interface", netns.Interface)
	begin := time.Now()
	got := c.start(append([]string{"--interface", "dead0", "--failure-timeout", silence.String(), "-n", "2"}, self(t, "hello")...)...).wait()
	if took := time.Since(begin); got.code == 0 || took > silence+slack {
		t.Errorf("after %v: %s\nwant that no rank is reached", took, got)
	}
	got = c.start(append([]string{"--interface", "nothing0", "-n", "2"}, self(t, "hello")...)...).wait()
	if got.code == 0 || !strings.Contains(got.stderr, `the interface "nothing0" does not exist; there are lo (`) {
		t.Errorf("%s", got)
	}
}

func TestOneFamilyOfAddresses(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]netns.Options{"IPv4": {NoIPv6: true}, "IPv6": {NoIPv4: true}, "IPv6 and decoys": {NoIPv4: true, Decoys: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newCluster(t, 2, o).hello()
		})
	}
}

// What ranks say can be read on the way unless it is encrypted.
func TestEncryption(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{"plain": nil, "encrypted": {"--encrypt"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, 2, netns.Options{})
			read := c.overhear(func() { c.hello(flags...) })
			if want := flags == nil; read != want {
				t.Errorf("it could be read: %v, want %v", read, want)
			}
		})
	}
}

// overhear tells whether the secret passed the switch while f ran.
func (c *cluster) overhear(f func()) (heard bool) {
	c.t.Helper()
	tap, err := c.Tap()
	if err != nil {
		c.t.Fatal(err)
	}
	frames, done := 0, make(chan struct{})
	go func() {
		defer close(done)
		for frame := make([]byte, 1<<16); ; frames++ {
			n, err := tap.Read(frame)
			if err != nil {
				return
			}
			heard = heard || bytes.Contains(frame[:n], []byte(secret))
		}
	}()
	f()
	tap.SetReadDeadline(time.Now())
	<-done
	tap.Close()
	if frames == 0 {
		c.t.Error("nothing has passed the switch")
	}
	return heard
}
