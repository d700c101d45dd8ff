package scale

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
)

// Costs are what single steps take: CPU time, of both ends of a link together where two
// take part, and sizes.
type Costs struct {
	Attach     Cost // a host attaches: both ends of TLS, and the listener
	Wake       Cost // a frame that comes alone passes a host: read, wake up, write
	Frame      Cost // one of many frames passes a host
	Multicast  Cost // one of many frames to all is sent over a link, read and kept
	KiB        Cost // 1024 bytes go over a link
	Request    Cost // an agent is asked over a new connection
	Kept       Cost // an agent is asked over an open connection
	Entry      Cost // a host in a request to spawn: encoded and decoded
	EntryBytes Cost
	Supervisor Cost // a host's two supervisor processes, from their start to their end
	Rank       Cost // a rank's process, from its start to its end, and what is done for it
	RankServed Cost // of Rank, what its supervisor does one after the other
	News       Cost // the front follows a message of a rank
	Front      Cost // golaunch itself
	Meet       Cost // a rank connects to another, and hears from it
	Latency    Cost // of a packet in the network: assumed, not measured

	Exchange      Cost // a member exchanges everything with another: TLS, both ends
	ExchangeEntry Cost // what each member known adds to that
	StateBytes    Cost // of each member known, in each direction
	PingBytes     Cost // of a probe and its answer, sent by a member in a probe interval
	PacketCPU     Cost // a packet is sent and received
}

// A Cost is one figure.
type Cost struct {
	Value float64 `json:"value"`
	Unit  string  `json:"unit"` // us, ms, B
	How   string  `json:"how"`  // it was measured
}

//go:embed testdata/costs.json
var measured []byte

// Measured are the costs of testdata/costs.json.
func Measured() (Costs, error) { return ParseCosts(measured) }

// ParseCosts reads what testdata/costs.json has. A figure that is missing, has another
// unit, or is not known, is an error.
func ParseCosts(text []byte) (Costs, error) {
	var c Costs
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return c, fmt.Errorf("costs: %w", err)
	}
	var all map[string]Cost
	again, err := json.Marshal(c)
	if err == nil {
		err = json.Unmarshal(again, &all)
	}
	for name, one := range all {
		if one.How == "" || one.Value <= 0 || unitOf(one.Unit) == 0 {
			err = fmt.Errorf("costs: %s is %v %s, measured by %q", name, one.Value, one.Unit, one.How)
		}
	}
	return c, err
}

func unitOf(unit string) float64 {
	switch unit {
	case "us":
		return float64(Microsecond)
	case "ms":
		return float64(Millisecond)
	case "B":
		return 1
	}
	return 0
}

// times is so many times the cost, as time.
func (c Cost) times(n float64) Instant { return Instant(c.Value * unitOf(c.Unit) * n) }

// time is the cost as time.
func (c Cost) time() Instant { return c.times(1) }
