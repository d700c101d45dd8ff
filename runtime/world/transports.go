package world

import (
	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/shm"
)

// openEndpoint is the one place that names concrete transports.
func openEndpoint(p *process) (transport.Endpoint, error) {
	return shm.Provider{}.Open(transport.Config{
		Rank: p.rank, Size: p.size,
		Segment: p.segments.of,
		Scratch: p.scratch,
		Ring:    p.mem.Ring,
		Wait:    p.wait,
	})
}
