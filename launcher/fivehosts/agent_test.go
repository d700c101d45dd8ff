package fivehosts

import (
	"slices"
	"strings"
	"syscall"
	"testing"
)

// Agents are killed while a job runs on their hosts: golaunch's own, and another. The
// job goes on; agents that are started again know it.
func TestAgentsAreKilled(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "local")
	r := c.hold(0, ranks, "-n 20")
	before := c.theJob(1, hosts)
	c.killAgents(0, 2)
	after := c.theJob(2, hosts)
	for i, p := range after.Places {
		if p.PID != before.Places[i].PID {
			t.Errorf("%+v, before %+v", p, before.Places[i])
		}
	}
	if free := c.free(0); !slices.Equal(free, make([]int, hosts)) {
		t.Errorf("%v slots are free", free)
	}
	if got := c.launch(2, "-n", "1", "true"); got.code != 2 || !strings.Contains(got.stderr, "there is room for 0") {
		t.Error(got)
	}
	r.end(ranks)
	c.quiet()

	r = c.begin(0, with("-n 20", stays...)...)
	r.ready(ranks)
	c.killAgents(0, 3)
	job := c.theJob(3, hosts)
	has(t, c.succeed(3, "ps"), job.Name)
	c.succeed(3, "kill", job.Name)
	if got := r.wait(); got.code != 128+int(syscall.SIGTERM) {
		t.Error(got)
	}
	c.quiet()
}

// killAgents kills agents, and starts them again.
func (c *cluster) killAgents(which ...int) {
	c.t.Helper()
	for _, i := range which {
		c.signal(i, syscall.SIGKILL)
		c.agents[i].Wait()
	}
	for _, i := range which {
		c.start(i, c.join(i)...)
	}
	c.whole()
}

func TestAgentLeavesAndJoins(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "local")
	c.signal(4, syscall.SIGTERM)
	if err := c.agents[4].Wait(); err != nil {
		t.Error(err)
	}
	for i := range hosts - 1 {
		c.await("the news that it has left", func() bool { s := c.states(i); return len(s) == hosts && s[4] == "left" })
	}
	if got := c.launch(1, with("-n 17", "true")...); got.code != 2 || !strings.Contains(got.stderr, "there is room for 16") {
		t.Error(got)
	}
	c.succeed(1, with("-n 16", "true")...)
	c.start(4) // it knows the others: nobody tells it to join
	c.whole()
	c.meet(4)
	c.quiet()
}
