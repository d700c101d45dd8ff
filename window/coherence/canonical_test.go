package coherence

import "bytes"

// Hosts that are neither the block's host nor anything else in particular are alike:
// of the worlds that differ only in their numbers, one is visited.

// A coder says what tells one world from others.
type coder struct {
	n     int
	perms [][maxHosts]uint8 // perms[.][old] = new
	a, b  []byte
}

func newCoder(n int) *coder {
	c := &coder{n: n}
	var p [maxHosts]uint8
	c.permute(p, 1, 0)
	return c
}

// permute lists every renumbering that leaves host 0 alone.
func (c *coder) permute(p [maxHosts]uint8, i int, used uint8) {
	if i == c.n {
		c.perms = append(c.perms, p)
		return
	}
	for v := 1; v < c.n; v++ {
		if used>>v&1 == 0 {
			p[i] = uint8(v)
			c.permute(p, i+1, used|1<<v)
		}
	}
}

// code is the least encoding of w under all renumberings. It is valid until the next
// call.
func (c *coder) code(w *world) []byte {
	c.a = w.encode(c.a[:0], &c.perms[0])
	for i := 1; i < len(c.perms); i++ {
		c.b = w.encode(c.b[:0], &c.perms[i])
		if bytes.Compare(c.b, c.a) < 0 {
			c.a, c.b = c.b, c.a
		}
	}
	return c.a
}

func (w *world) encode(to []byte, p *[maxHosts]uint8) []byte {
	var old [maxHosts]uint8
	for i := range w.n {
		old[p[i]] = i
	}
	for i := range w.n {
		to = w.sides[old[i]].encode(to, p, w.n)
	}
	for i := range w.n {
		for j := range w.n {
			x := &w.wires[old[i]][old[j]]
			to = append(to, x.n)
			for _, k := range x.packets[:x.n] {
				host := k.host
				if k.kind == Located {
					host = p[host]
				}
				to = append(to, byte(k.kind), host<<4|byte(k.data))
			}
		}
	}
	return to
}

func (s *side) encode(to []byte, p *[maxHosts]uint8, n uint8) []byte {
	to = append(to, byte(s.entry.state)<<4|byte(s.entry.flags&^listed), byte(s.entry.demand), renumbered(s.entry.home, p)<<4|renumbered(s.placed, p),
		byte(s.memory)<<4|byte(s.saved)<<2|bit(s.open), s.timers<<4|bit(s.fenced)<<1|bit(s.busy)|bit(s.failed)<<2, set(s.sharers, p, n), set(s.dead, p, n))
	if s.busy {
		t := &s.tr
		to = append(to, byte(t.by.kind)<<4|p[t.by.host], set(t.awaited, p, n), byte(t.data), t.queued)
		for _, r := range t.queue[:t.queued] {
			to = append(to, byte(r.kind)<<4|p[r.host])
		}
	}
	return to
}

// renumbered is for numbers that are stored plus one.
func renumbered(v uint8, p *[maxHosts]uint8) uint8 {
	if v == 0 {
		return 0
	}
	return p[v-1] + 1
}

func set(s hostSet, p *[maxHosts]uint8, n uint8) byte {
	if s == lost {
		return 0xff
	}
	var r hostSet
	s.each(func(h uint8) { r = r.with(p[h]) })
	return byte(r)
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}
