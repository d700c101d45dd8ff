package main

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"github.com/golaunch/golaunch/launcher/internal/scale"
	"github.com/golaunch/golaunch/launcher/internal/tree"
)

// A table is of Markdown.
type table struct{ strings.Builder }

func (t *table) row(cells ...any) {
	for _, c := range cells {
		fmt.Fprintf(t, "| %v ", c)
	}
	t.WriteString("|\n")
}

func (t *table) String() string { return strings.TrimSpace(t.Builder.String()) }

func newTable(heads ...any) *table {
	t := &table{}
	t.row(heads...)
	t.WriteString(strings.Repeat("|---", len(heads)) + "|\n")
	return t
}

// lasting is a time with two digits.
func lasting(i scale.Instant) string { return secondsOf(i.Seconds()) }

func secondsOf(s float64) string {
	switch {
	case s >= 100:
		return count(s) + " s"
	case s >= 0.1:
		return fmt.Sprintf("%.2g s", s)
	}
	return fmt.Sprintf("%.2g ms", s*1e3)
}

// bytesOf is a number of bytes with two digits.
func bytesOf(n float64) string {
	for _, u := range []struct {
		at   float64
		name string
	}{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}} {
		if n >= u.at {
			return digits(n/u.at) + " " + u.name
		}
	}
	return digits(n) + " B"
}

func digits(n float64) string {
	if n >= 100 {
		return count(n)
	}
	return fmt.Sprintf("%.2g", n)
}

// ratio is what was predicted over what was measured.
func ratio(predicted, measured float64) string { return fmt.Sprintf("%.2f", predicted/measured) }

func (p *prediction) page(m Measured) string {
	return strings.NewReplacer(
		"{ARITY}", p.arityTable(), "{PHASES}", p.phaseTable(), "{TRAFFIC}", p.trafficTable(), "{NEWS}", p.newsTable(),
		"{SLOW}", p.slowTable(), "{BOOT}", p.bootTable(), "{LIMITS}", p.limitTable(), "{TREE}", p.treeCompared(m), "{GOSSIP}", p.gossipCompared(m),
		"{COSTS}", p.costTable(), "{STAGING}", p.stageTable(), "{RANKS}", fmt.Sprint(ranksPerHost), "{CORES}", fmt.Sprint(cores),
		"{MEMORY}", bytesOf(memory), "{CHOSEN}", fmt.Sprint(tree.Arity),
	).Replace(prose)
}

func (p *prediction) arityTable() string {
	heads := []any{"hosts", "star"}
	for _, a := range arities {
		heads = append(heads, a)
	}
	t := newTable(heads...)
	for i, n := range sizes {
		row := []any{count(float64(n)), lasting(p.launch[0][i].Met)}
		for _, a := range arities {
			row = append(row, lasting(p.launch[a][i].Met))
		}
		t.row(row...)
	}
	return t.String()
}

func (p *prediction) phaseTable() string {
	t := newTable("hosts", "ranks", "placed", "attached", "told", "joined", "known", "barrier", "golaunch's CPU")
	for i, n := range sizes {
		o := p.launch[tree.Arity][i]
		t.row(count(float64(n)), count(float64(n*ranksPerHost)), lasting(o.Placed), lasting(o.Attached), lasting(o.Told), lasting(o.Joined), lasting(o.Known), lasting(o.Met), lasting(o.RootCPU))
	}
	return t.String()
}

func (p *prediction) trafficTable() string {
	t := newTable("hosts", "golaunch, star", "golaunch", "inner host")
	for i, n := range sizes {
		o := p.launch[tree.Arity][i]
		t.row(count(float64(n)), bytesOf(p.launch[0][i].RootBytes), bytesOf(o.RootBytes), bytesOf(o.InnerBytes))
	}
	return t.String()
}

func (p *prediction) newsTable() string {
	t := newTable("profile", "hosts", "join: 50 %", "99 %", "all", "death: 50 %", "99 %", "all", "idle, probes", "exchanges", "of a core")
	for _, name := range []string{"lan", "local", "wan"} {
		for i, n := range sizes {
			g := p.gossip[name][i]
			t.row(name, count(float64(n)), lasting(g.spread.Half), lasting(g.spread.Most), lasting(g.spread.All),
				lasting(g.death.Half), lasting(g.death.Most), lasting(g.death.All), bytesOf(g.probes)+"/s", bytesOf(g.pushes)+"/s", fmt.Sprintf("%.2g %%", 100*g.cpu))
		}
	}
	return t.String()
}

func (p *prediction) bootTable() string {
	t := newTable("hosts", "lan", "local", "wan")
	for _, n := range sizes {
		row := []any{count(float64(n))}
		for _, s := range []scale.Settings{scale.LAN(), scale.Local(), scale.WAN()} {
			row = append(row, lasting(scale.Boot(s, n, &p.costs)))
		}
		t.row(row...)
	}
	return t.String()
}

// silences are how long a host may be too busy to answer.
var silences = []scale.Instant{2, 4, 6, 8, 12, 20, 30, 60}

func (p *prediction) slowTable() string {
	heads := []any{"profile", "hosts"}
	for _, s := range silences {
		heads = append(heads, fmt.Sprint(int64(s), " s"))
	}
	t := newTable(heads...)
	for _, name := range []string{"lan", "local", "wan"} {
		for i, n := range sizes {
			if n != 5 && n != 200 && n != 5000 && n != 100000 {
				continue
			}
			row := []any{name, count(float64(n))}
			for _, s := range silences {
				part := scale.Mistaken(settings(name), n, s*scale.Second, p.gossip[name][i].spread, seed)
				row = append(row, fmt.Sprintf("%.0f %%", 100*part))
			}
			t.row(row...)
		}
	}
	return t.String()
}

func (p *prediction) limitTable() string {
	limits := scale.Limits(&p.costs, cores, memory)
	sort.SliceStable(limits, func(i, k int) bool { return p.hostsAt(limits[i]) < p.hostsAt(limits[k]) })
	t := newTable("from about", "what", "runs out of", "then")
	for _, l := range limits {
		then := "it takes long"
		if l.Hard {
			then = "it fails"
		}
		t.row(rough(l.At)+" "+l.Of, l.What, l.By, then)
	}
	return t.String()
}

func (p *prediction) hostsAt(l scale.Limit) float64 {
	if l.Of == "ranks" {
		return l.At / ranksPerHost
	}
	return l.At
}

// rough is a number with two digits; a power of two is exact.
func rough(n float64) string {
	if whole := uint64(n); float64(whole) == n && whole&(whole-1) == 0 {
		return count(n)
	}
	unit := math.Pow(10, math.Floor(math.Log10(n))-1)
	return count(math.Round(n/unit) * unit)
}

func (p *prediction) stageTable() string {
	t := newTable("hosts", "1 Gbit/s", "10 Gbit/s", "100 Gbit/s")
	for _, n := range sizes {
		row := []any{count(float64(n))}
		for _, gbit := range []float64{1, 10, 100} {
			row = append(row, lasting(scale.Stage(n, 20e6, gbit*125e6, 2*scale.Millisecond)))
		}
		t.row(row...)
	}
	return t.String()
}

func (p *prediction) treeCompared(m Measured) string {
	t := newTable("", "hosts", "ranks", "predicted", "measured", "ratio", "")
	for _, r := range m.Replay {
		o := p.replayed(r.Hosts)
		t.row("tree in one process, CPU", r.Hosts, 4*r.Hosts, lasting(o.CPU), secondsOf(r.CPU/1e3), ratio(o.CPU.Seconds(), r.CPU/1e3), "")
	}
	for _, j := range m.Processes {
		o := p.onOneMachine(j.Hosts, j.Ranks, j.Meets)
		what := "processes, joining"
		if j.Meets {
			what = "processes, to the first barrier"
		}
		t.row(what+", CPU", j.Hosts, j.Ranks, lasting(o.CPU), secondsOf(j.CPU/1e3), ratio(o.CPU.Seconds(), j.CPU/1e3), j.Note)
		t.row(what+", time", j.Hosts, j.Ranks, lasting(o.Met), secondsOf(j.Wall/1e3), ratio(o.Met.Seconds(), j.Wall/1e3), "")
	}
	return t.String()
}

func (p *prediction) gossipCompared(m Measured) string {
	t := newTable("", "profile", "members", "predicted", "measured", "ratio", "")
	for _, g := range m.Gossip {
		n := p.news(settings(g.Profile), g.Members)
		for _, c := range []struct {
			what                string
			predicted, measured float64
			show                func(float64) string
			gave                string
		}{
			{"a join is known to half", n.spread.Half.Seconds(), g.JoinHalf, secondsOf, ""},
			{"a join is known to all", n.spread.All.Seconds(), g.JoinAll, secondsOf, ""},
			{"a death is known to half", n.death.Half.Seconds(), g.DieHalf, secondsOf, ""},
			{"a death is known to all", n.death.All.Seconds(), g.Dies, secondsOf, ""},
			{"all start at once, until all know all", scale.Boot(settings(g.Profile), g.Members, &p.costs).Seconds(), g.Boot, secondsOf, ""},
			{"idle, sent in a second", n.probes + n.pushes, g.Bytes, bytesOf, ""},
			{"idle, CPU in a second", n.cpu, g.CPU / 1e6, secondsOf, g.CPUGave},
		} {
			if c.measured > 0 {
				t.row(c.what, g.Profile, g.Members, c.show(c.predicted), c.show(c.measured), ratio(c.predicted, c.measured), gave(c.gave))
			}
		}
	}
	return t.String()
}

// gave marks a figure that a cost was taken from.
func gave(cost string) string {
	if cost == "" {
		return ""
	}
	return cost + " is from this"
}
