package scale_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/keys"
	"github.com/golaunch/golaunch/launcher/internal/member"
	"github.com/golaunch/golaunch/launcher/internal/scale"
)

// A crowd is members in this process.
type crowd struct {
	b       testing.TB
	profile member.Profile
	members []*member.Cluster
}

// gather starts members one after the other. The first knows all of them then.
func gather(b testing.TB, profile member.Profile, n int) *crowd {
	c := &crowd{b: b, profile: profile}
	for i := range n {
		c.members = append(c.members, c.enter(i))
		c.awaits(c.members[0], i+1)
	}
	return c
}

// enter starts one that calls the first.
func (c *crowd) enter(i int) *member.Cluster {
	k, err := keys.New(key)
	if err != nil {
		c.b.Fatal(err)
	}
	o := member.Options{Name: fmt.Sprintf("node-%05d", i), Bind: "127.0.0.1", Keys: keys.Ring{k}, Profile: c.profile}
	if len(c.members) > 0 {
		o.Join = []string{c.members[0].Self().Addr.String()}
	}
	m, err := member.Start(o)
	if err != nil {
		c.b.Fatal(err)
	}
	return m
}

func (c *crowd) close() {
	var closing sync.WaitGroup
	for _, m := range c.members {
		closing.Go(func() { m.Close() })
	}
	closing.Wait()
}

// awaits waits until a member knows so many.
func (c *crowd) awaits(m *member.Cluster, n int) {
	events, cancel := m.Watch()
	defer cancel()
	late := time.After(deadline)
	for len(m.Members()) < n {
		select {
		case <-events:
		case <-late:
			c.b.Fatalf("%s knows %d members, not %d", m.Self().Name, len(m.Members()), n)
		}
	}
}

// news does something, and returns when half of members and all of them have learnt of
// it.
func (c *crowd) news(members []*member.Cluster, change member.Change, name string, act func()) (half, all time.Duration) {
	learnt := make(chan time.Time, len(members))
	late := time.Now().Add(deadline)
	for _, m := range members {
		events, cancel := m.Watch()
		go func() {
			defer cancel()
			if !learns(m, events, change, name, late) {
				c.b.Errorf("%s is not told of %v %s", m.Self().Name, change, name)
			}
			learnt <- time.Now()
		}()
	}
	began := time.Now()
	act()
	for i := range members {
		at := (<-learnt).Sub(began)
		if i == len(members)/2 {
			half = at
		}
		all = max(all, at)
	}
	return half, all
}

// learns waits until a member has seen an event. false: it has not.
func learns(m *member.Cluster, events <-chan member.Event, change member.Change, name string, late time.Time) bool {
	over := time.After(time.Until(late))
	for {
		select {
		case e, ok := <-events:
			if ok && (e.Change != change || e.Member.Name != name) {
				continue
			}
			return ok
		case <-over:
			return false
		}
	}
}

// BenchmarkGossip: all idle, then one joins and dies, several times.
func BenchmarkGossip(b *testing.B) {
	for _, p := range []member.Profile{member.LAN, member.Local} {
		for _, n := range []int{5, 50, 200} {
			b.Run(fmt.Sprintf("%s/members=%d", p, n), func(b *testing.B) { benchGossip(b, p, n) })
		}
	}
}

func benchGossip(b *testing.B, p member.Profile, n int) {
	const newcomers = 5
	c := gather(b, p, n)
	defer c.close()
	for _, m := range c.members {
		c.awaits(m, n)
	}
	c.idle(b, n)
	var joinHalf, joinAll, diesHalf, diesAll time.Duration
	for i := range b.N * newcomers {
		name := fmt.Sprintf("node-%05d", n+i)
		var one *member.Cluster
		half, all := c.news(c.members, member.Joined, name, func() { one = c.enter(n + i) })
		joinHalf, joinAll = joinHalf+half, joinAll+all
		half, all = c.news(c.members, member.Died, name, func() { one.Close() })
		diesHalf, diesAll = diesHalf+half, diesAll+all
	}
	report := func(d time.Duration, name string) { b.ReportMetric(d.Seconds()/float64(b.N*newcomers), name) }
	report(joinHalf, "s/join50%")
	report(joinAll, "s/join100%")
	report(diesHalf, "s/death50%")
	report(diesAll, "s/death100%")
	b.ReportMetric(0, "ns/op")
}

// idle measures what members use that have nothing to say. They exchange everything at
// times that are spread over the least interval between two exchanges: after that, each
// starts one exchange in any interval.
func (c *crowd) idle(b *testing.B, n int) {
	sum := func() (bytes float64) {
		for _, m := range c.members {
			s, _ := m.Traffic()
			bytes += float64(s)
		}
		return bytes
	}
	s := scale.LAN()
	if c.profile == member.Local {
		s = scale.Local()
	}
	idling := time.Duration(s.ExchangeEvery(n))
	<-time.After(time.Duration(s.Exchange))
	bytes, used := sum(), cpu()
	<-time.After(idling)
	b.ReportMetric((sum()-bytes)/idling.Seconds()/float64(n), "B/s/member")
	b.ReportMetric(float64((cpu()-used).Microseconds())/idling.Seconds()/float64(n), "us/s/member")
}

// BenchmarkExchange: a newcomer exchanges everything with a member that knows some. Bytes
// are those that it receives, CPU is both ends'.
func BenchmarkExchange(b *testing.B) {
	for _, n := range []int{5, 85} {
		b.Run(fmt.Sprint("members=", n), func(b *testing.B) {
			c := gather(b, member.WAN, n)
			defer c.close()
			var bytes uint64
			var used time.Duration
			for i := range b.N {
				before := cpu()
				one := c.enter(n + i)
				c.awaits(one, n)
				used += cpu() - before
				_, in := one.Traffic()
				bytes += in
				one.Close()
			}
			perUnit(b, used, 1, "us/exchange")
			b.ReportMetric(float64(bytes)/float64(b.N), "B/exchange")
		})
	}
}
