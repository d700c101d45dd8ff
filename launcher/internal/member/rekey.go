package member

import (
	"errors"
	"slices"
	"strconv"

	"github.com/hashicorp/memberlist"

	"github.com/golaunch/golaunch/launcher/internal/keys"
)

// gossipKeys are the keys under which packets may come, in the ring's order, and which
// of them packets are sent under.
type gossipKeys struct {
	keys  [][]byte
	short []uint32 // what members call them among themselves
	used  int
}

func newGossipKeys(ring keys.Ring) (gossipKeys, error) {
	derived, err := ring.Gossip()
	g := gossipKeys{keys: derived}
	for _, name := range ring.Names() {
		n, _ := strconv.ParseUint(name[:8], 16, 32)
		g.short = append(g.short, max(1, uint32(n))) // 0 is none
	}
	return g, err
}

// names are those of the first keys, for the others to know.
func (g *gossipKeys) names() (names [4]uint32) {
	copy(names[:], g.short)
	return names
}

// index is where a key is; -1: nowhere.
func (g *gossipKeys) index(key []byte) int {
	return slices.IndexFunc(g.keys, func(k []byte) bool { return string(k) == string(key) })
}

// choose returns which key to use: the first that everybody knows, or the one that is
// used if there is none.
func (g *gossipKeys) choose(known [][4]uint32) int {
	for i, short := range g.short {
		if !slices.ContainsFunc(known, func(names [4]uint32) bool { return !slices.Contains(names[:], short) }) {
			return i
		}
	}
	return g.used
}

// setRing is called once, before there is anything that uses keys.
func (c *Cluster) setRing(ring keys.Ring) (err error) {
	if c.gossip, err = newGossipKeys(ring); err != nil || len(ring) == 0 {
		return err
	}
	c.ring, err = memberlist.NewKeyring(c.gossip.keys, c.gossip.keys[0])
	return err
}

// Rekey changes the keys, of which the first is to be used as soon as everybody has it.
// One that is not in the ring is accepted no more. Without a key there is nothing to
// change: a member that started without one cannot get one, nor lose its last.
func (c *Cluster) Rekey(ring keys.Ring) error {
	c.changing.Lock()
	defer c.changing.Unlock()
	if c.ring == nil {
		return errors.New("this member was started without a key, and can only be started again with one")
	}
	if len(ring) == 0 {
		return errors.New("a member with a key cannot do without")
	}
	next, err := newGossipKeys(ring)
	if err != nil {
		return err
	}
	if err := c.wire.setKeys(ring); err != nil {
		return err
	}
	next.used = max(0, next.index(c.gossip.keys[c.gossip.used]))
	if err := install(c.ring, next); err != nil {
		return err
	}
	c.gossip = next
	c.o.Log.Info("keys changed", "keys", ring.Names(), "used", next.used)
	if err := c.say(); err != nil {
		return err
	}
	c.spread()
	c.wakeUp()
	return nil
}

// install makes a keyring hold the keys of g, the used one in front. A key to be
// removed must be the last: memberlist moves those behind it, which others are reading.
func install(ring *memberlist.Keyring, g gossipKeys) error {
	for _, k := range g.keys {
		if err := ring.AddKey(k); err != nil {
			return err
		}
	}
	for _, k := range append(slices.Clone(g.keys), g.keys[g.used]) { // each moves to the front
		if err := ring.UseKey(k); err != nil {
			return err
		}
	}
	for all := ring.GetKeys(); len(all) > len(g.keys); all = ring.GetKeys() {
		if err := ring.RemoveKey(all[len(all)-1]); err != nil {
			return err
		}
	}
	return nil
}

// chooseKey changes over to a key when the last member has it.
func (c *Cluster) chooseKey() {
	c.changing.Lock()
	defer c.changing.Unlock()
	if len(c.gossip.keys) < 2 {
		return
	}
	var known [][4]uint32
	for _, m := range c.Members() {
		if m.State == Alive && m.Name != c.o.Name {
			known = append(known, m.Meta.keys)
		}
	}
	if len(known) > 0 {
		c.use(c.gossip.choose(known))
	}
}

// otherKey: nobody has answered. Maybe they cannot read what is sent.
func (c *Cluster) otherKey() {
	c.changing.Lock()
	defer c.changing.Unlock()
	if len(c.gossip.keys) > 1 && c.alive.Load() <= 1 {
		c.use((c.gossip.used + 1) % len(c.gossip.keys))
	}
}

// use is called with changing held.
func (c *Cluster) use(i int) {
	if i == c.gossip.used {
		return
	}
	if err := c.ring.UseKey(c.gossip.keys[i]); err != nil {
		c.o.Log.Error("changing the gossip key", "error", err)
		return
	}
	c.gossip.used = i
	c.o.Log.Info("gossip key changed", "place", i)
}
