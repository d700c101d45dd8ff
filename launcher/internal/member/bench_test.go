package member

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkConverge measures how long it takes until every member knows: of all at the
// start (boot), of one more (join), of what one says of itself (update), that one has
// left (leave) or died (death). One operation is one of these; bytes are those that all
// members send meanwhile, per member.
func BenchmarkConverge(b *testing.B) {
	for _, profile := range []Profile{Local, LAN} {
		for _, n := range []int{5, 50, 200} {
			b.Run(fmt.Sprintf("%s/boot/members=%d", profile, n), func(b *testing.B) { benchBoot(b, profile, n) })
			b.Run(fmt.Sprintf("%s/members=%d", profile, n), func(b *testing.B) { benchNews(b, profile, n) })
		}
	}
}

// crowd starts members that call the first of them.
func crowd(b *testing.B, profile Profile, n int) []*Cluster {
	members := []*Cluster{newcomer(b, profile, 0, 0, nil)}
	for i := 1; i < n; i++ {
		members = append(members, newcomer(b, profile, i, 0, members[0]))
	}
	return members
}

func newcomer(b *testing.B, profile Profile, i, port int, seed *Cluster) *Cluster {
	o := Options{Name: fmt.Sprint("m", i), Bind: "127.0.0.1", Port: port, Keys: keyOf(b, "a"), Profile: profile}
	if seed != nil {
		o.Join = []string{seed.Self().Addr.String()}
	}
	c, err := Start(o)
	if err != nil {
		b.Fatal(err)
	}
	return c
}

func closeAll(members []*Cluster) {
	var closing sync.WaitGroup
	for _, c := range members {
		closing.Go(func() { c.Close() })
	}
	closing.Wait()
}

// everybody watches from now on; wait returns when all members have seen something in
// their events.
func everybody(b *testing.B, members []*Cluster, seen func(*Cluster, Event) bool) (wait func()) {
	var watching sync.WaitGroup
	late := time.After(5 * time.Minute)
	for _, c := range members {
		events, cancel := c.Watch()
		watching.Go(func() {
			defer cancel()
			for {
				select {
				case e, ok := <-events:
					if !ok || seen(c, e) {
						return
					}
				case <-late:
					b.Errorf("%s has not seen it", c.o.Name)
					return
				}
			}
		})
	}
	return watching.Wait
}

func sent(members []*Cluster) (sum float64) {
	for _, c := range members {
		bytes, _ := c.Traffic()
		sum += float64(bytes)
	}
	return sum
}

// settle waits until what is sent is no more than when nothing happens: pings, and now
// and then everything that is known of everybody.
func settle(members []*Cluster) {
	for {
		before := sent(members)
		<-time.After(time.Second)
		if (sent(members)-before)/float64(len(members)) < 600+15*float64(len(members)) {
			return
		}
	}
}

// Deaths are how often a member was told of the death of another, all of which live: those
// that have too little of a processor to answer in time.
func benchBoot(b *testing.B, profile Profile, n int) {
	for b.Loop() {
		before := used()
		members := crowd(b, profile, n)
		var deaths atomic.Int64
		everybody(b, members, func(c *Cluster, e Event) bool {
			if e.Change == Died {
				deaths.Add(1)
			}
			return int(c.alive.Load()) == n
		})()
		b.StopTimer()
		b.ReportMetric(sent(members)/float64(n), "B/member")
		b.ReportMetric((used().CPU-before.CPU).Seconds()*1e3/float64(n), "cpu-ms/member")
		b.ReportMetric(float64(deaths.Load())/float64(n), "deaths/member")
		closeAll(members)
		b.StartTimer()
	}
}

func benchNews(b *testing.B, profile Profile, n int) {
	members := crowd(b, profile, n)
	defer func() { closeAll(members) }()
	everybody(b, members, func(c *Cluster, _ Event) bool { return int(c.alive.Load()) == n })()
	name := fmt.Sprint("m", n-1) // of the one that everything happens to
	port := int(members[n-1].Self().Addr.Port())
	measure := func(what string, change Change, prepare func() *Cluster, act func(*Cluster)) {
		b.Run(what, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				one := prepare()
				settle(members)
				wait := everybody(b, members[:n-1], func(_ *Cluster, e Event) bool { return e.Change == change && e.Member.Name == name })
				before := sent(members[:n-1])
				b.StartTimer()
				act(one)
				wait()
				b.StopTimer()
				b.ReportMetric((sent(members[:n-1])-before)/float64(n-1), "B/member")
				b.StartTimer()
			}
		})
	}
	last := func() *Cluster { return members[n-1] }
	slots := uint32(0)
	measure("update", Updated, last, func(c *Cluster) { slots++; c.Update(Meta{Slots: slots}) })
	away := func(end func(*Cluster)) func(*Cluster) { return func(c *Cluster) { end(c); c.Close() } }
	back := func() *Cluster {
		if members[n-1].ctx.Err() != nil {
			members[n-1] = newcomer(b, profile, n-1, port, members[0])
			everybody(b, members, func(c *Cluster, _ Event) bool { return int(c.alive.Load()) == n })()
		}
		return members[n-1]
	}
	measure("leave", Departed, back, away(func(c *Cluster) { c.Leave(30 * time.Second) }))
	measure("death", Died, back, away(func(*Cluster) {}))
	gone := func() *Cluster {
		if c := members[n-1]; c.ctx.Err() == nil {
			wait := everybody(b, members[:n-1], func(_ *Cluster, e Event) bool { return e.Change == Departed && e.Member.Name == name })
			c.Leave(30 * time.Second)
			c.Close()
			wait()
		}
		return members[0]
	}
	measure("join", Joined, gone, func(seed *Cluster) { members[n-1] = newcomer(b, profile, n-1, port, seed) })
}
