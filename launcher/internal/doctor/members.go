package doctor

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// maxSkew is how far clocks may be apart before logs of hosts cannot be read side by
// side.
const maxSkew = time.Second

// clock looks at this host's alone.
func (c *Config) clock() []Finding {
	const check = "clock"
	if now := c.Now(); now.Year() < 2025 {
		return []Finding{fail(check, "timedatectl set-ntp true, or set it", "it shows %s", now.Format(time.DateTime))}
	}
	return nil
}

// atOnce is how many members are asked at the same time.
const atOnce = 32

// members asks every member, and says what is wrong with each.
func (c *Config) members(ctx context.Context, nodes []Node) []Finding {
	found := make([]Finding, len(nodes))
	var asking sync.WaitGroup
	places := make(chan struct{}, atOnce)
	for i, n := range nodes {
		places <- struct{}{}
		asking.Go(func() {
			found[i] = c.member(ctx, n)
			<-places
		})
	}
	asking.Wait()
	if len(nodes) == 1 && nodes[0].Self {
		found = append(found, warn("members", "golaunch agent --join HOST names another; has it the same key, and does a firewall "+
			"let TCP and UDP through between them?", "this host is alone"))
	}
	return found
}

func (c *Config) member(ctx context.Context, n Node) Finding {
	check := "member " + n.Name
	switch {
	case n.State == "left":
		return ok(check, "it has left")
	case n.State != "alive":
		return warn(check, "is it switched on, and its agent running? it is forgotten after a day", "gossip has found it dead, at %s", n.Address)
	case n.Problem != "":
		return fail(check, "the same key and golaunch on every host, and no firewall between them", "it cannot be used: %s", n.Problem)
	case c.KeyFile == "" && !n.Self:
		return warn(check, "--key-file names the cluster's key", "it is not asked, for there is no key to prove")
	}
	skew, fuzz, err := c.skew(ctx, n)
	if err != nil {
		return fail(check, fmt.Sprintf("a firewall between here and there, or another key? its agent listens at %s (TCP)", n.Address),
			"gossip reaches it, but its agent at %s does not answer: %v", n.Address, err)
	}
	switch {
	case n.Version != "" && n.Version != c.Version:
		return fail(check, "the same golaunch on every host, and their agents started again", "it runs version %s, and this is %s", n.Version, c.Version)
	case max(skew, -skew) > maxSkew+fuzz:
		return warn(check, "timedatectl set-ntp true, on both", "it answers, but its clock is %s", apart(skew))
	}
	return ok(check, "it answers within %v", fuzz.Round(100*time.Microsecond))
}

// skew is how far the clock of a member is ahead of this host's; the answer took fuzz,
// and is not more exact than that.
func (c *Config) skew(ctx context.Context, n Node) (skew, fuzz time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.Wait)
	defer cancel()
	before := c.Now()
	there, err := c.Cluster.Clock(ctx, n)
	if err != nil {
		return 0, 0, err
	}
	fuzz = c.Now().Sub(before)
	return there.Sub(before.Add(fuzz / 2)), fuzz, nil
}

func apart(skew time.Duration) string {
	if skew < 0 {
		return fmt.Sprintf("%v behind", (-skew).Round(10*time.Millisecond))
	}
	return fmt.Sprintf("%v ahead", skew.Round(10*time.Millisecond))
}
