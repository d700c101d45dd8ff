package main

import (
	"fmt"
	"strings"

	"github.com/golaunch/golaunch/launcher/internal/scale"
)

const style = `<style>
text{font-family:Helvetica,Arial,sans-serif;fill:#333}
.head{font-size:19px;font-weight:bold}.title{font-size:14px;font-weight:bold}
.tick{font-size:11px;fill:#666}.grid{stroke:#e2e2e2;fill:none}
.line{fill:none;stroke-width:2}.name{font-size:12px}
</style>
`

// Colours that are told apart in print, too.
const teal, orange, violet, grey, red, blue = "#0b7285", "#d9730d", "#7b4fa3", "#777", "#c92a2a", "#1864ab"

func (p *prediction) chart() string {
	const margin, head = 14.0, 44.0
	width, height := 2*margin+2*plotWidth, head+2*plotHeight+margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f">`+"\n", width, height, width, height)
	b.WriteString(style)
	fmt.Fprintf(&b, `<rect width="%.0f" height="%.0f" fill="#fff"/>`+"\n", width, height)
	fmt.Fprintf(&b, `<text x="%.0f" y="30" class="head">Predicted from measured steps: %d ranks a host, %d cores a host</text>`+"\n", margin+10, ranksPerHost, cores)
	for i, pl := range []*plot{p.launchPlot(), p.rootPlot(), p.gossipPlot(), p.trafficPlot()} {
		pl.place(margin+float64(i%2)*plotWidth, head+float64(i/2)*plotHeight)
		pl.draw(&b)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func hosts() (x []float64) {
	for _, n := range sizes {
		x = append(x, float64(n))
	}
	return x
}

// of is one figure of many outcomes.
func of[O any](all []O, figure func(O) float64) (y []float64) {
	for _, o := range all {
		y = append(y, figure(o))
	}
	return y
}

func met(o scale.Outcome) float64 { return o.Met.Seconds() }

func (p *prediction) launchPlot() *plot {
	return &plot{title: "Launch to the first barrier", unit: seconds, x: hosts(), lines: []line{
		{"star", grey, "6 4", of(p.launch[0], met)},
		{"arity 2", violet, "", of(p.launch[2], met)},
		{"arity 64", orange, "", of(p.launch[64], met)},
		{"arity 8", teal, "", of(p.launch[8], met)},
	}}
}

func (p *prediction) rootPlot() *plot {
	bytes := func(o scale.Outcome) float64 { return o.RootBytes }
	return &plot{title: "Sent during a launch, by golaunch and by a host", unit: bytesOf, x: hosts(), lines: []line{
		{"star", grey, "6 4", of(p.launch[0], bytes)},
		{"arity 8", teal, "", of(p.launch[8], bytes)},
		{"inner host", blue, "2 3", of(p.launch[8], func(o scale.Outcome) float64 { return o.InnerBytes })},
	}}
}

func (p *prediction) gossipPlot() *plot {
	joined := func(n news) float64 { return n.spread.All.Seconds() }
	dead := func(n news) float64 { return n.death.All.Seconds() }
	return &plot{title: "Until all members know", unit: seconds, x: hosts(), lines: []line{
		{"death, wan", violet, "", of(p.gossip["wan"], dead)},
		{"death, lan", red, "", of(p.gossip["lan"], dead)},
		{"death, local", orange, "", of(p.gossip["local"], dead)},
		{"join, wan", violet, "6 4", of(p.gossip["wan"], joined)},
		{"join, lan", red, "6 4", of(p.gossip["lan"], joined)},
		{"join, local", orange, "6 4", of(p.gossip["local"], joined)},
	}}
}

func (p *prediction) trafficPlot() *plot {
	all := func(n news) float64 { return n.probes + n.pushes }
	return &plot{title: "Sent by an idle member in a second", unit: bytesOf, x: hosts(), lines: []line{
		{"wan", violet, "", of(p.gossip["wan"], all)},
		{"lan", red, "", of(p.gossip["lan"], all)},
		{"local", orange, "", of(p.gossip["local"], all)},
		{"lan, probes", grey, "6 4", of(p.gossip["lan"], func(n news) float64 { return n.probes })},
	}}
}
