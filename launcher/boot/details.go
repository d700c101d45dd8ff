package boot

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// Settings are what golaunch's flags say about how ranks reach each other.
type Settings struct {
	// Transport is "auto" (shared memory within a host, between hosts RDMA devices where
	// both ranks have one, else TCP), "shm", "tcp" or "verbs".
	Transport string
	// Interface, if not empty, is the only network interface to use.
	Interface string
	// Loopback says that all hosts are played by this machine: no other addresses
	// than loopback ones are needed.
	Loopback bool
	// Encrypt asks for the encryption of everything between hosts.
	Encrypt bool
	// Timeout is how long a host or a peer may be silent before it counts as lost.
	Timeout time.Duration
	// Stats asks ranks to Report.
	Stats bool
}

// Details are what a rank is told of its job with its welcome.
type Details struct {
	Job      string // the job's random name
	Secret   []byte // known to the job's ranks and supervisors only
	Settings Settings
	Hosts    []Hosts // by number
}

// Hosts are Count consecutive hosts of one name.
type Hosts struct {
	Name  string
	Count int
}

// maxDetails bounds what a rank takes for details, in bytes; maxHosts how many
// hosts they may speak of.
const (
	maxDetails = 16 << 20
	maxHosts   = 1 << 16
)

// SendWelcome answers hello: p is Rank, Size, and the host's name as Text. The
// details follow in as many packets as they need.
func SendWelcome(socket *os.File, p Packet, d Details, memory *os.File) error {
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	p.Kind, p.Bytes = Welcome, int64(len(text))
	if err := Send(socket, p, memory); err != nil {
		return err
	}
	for len(text) > 0 {
		n := min(len(text), MaxText)
		if err := Send(socket, Packet{Kind: More, Text: string(text[:n])}, nil); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}

// receiveDetails receives the details that a welcome has announced.
func receiveDetails(socket *os.File, bytes int64) (Details, error) {
	if bytes < 0 || bytes > maxDetails {
		return Details{}, fmt.Errorf("the supervisor announces %d bytes of details", bytes)
	}
	var text []byte
	for int64(len(text)) < bytes {
		p, file, err := Receive(socket)
		if err != nil {
			return Details{}, err
		}
		if file != nil {
			file.Close()
		}
		if p.Kind != More || p.Text == "" {
			return Details{}, fmt.Errorf("a packet of kind %d with %d bytes of text instead of details", p.Kind, len(p.Text))
		}
		text = append(text, p.Text...)
	}
	return parseDetails(text)
}

func parseDetails(text []byte) (d Details, err error) {
	if len(text) == 0 {
		return Details{}, nil
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return Details{}, fmt.Errorf("the job's details: %w", err)
	}
	total := 0
	for _, h := range d.Hosts {
		if h.Count < 1 || h.Count > maxHosts-total {
			return Details{}, fmt.Errorf("the job's details speak of %d hosts named %q", h.Count, h.Name)
		}
		total += h.Count
	}
	return d, nil
}

// names are the hosts' names by number.
func (d Details) names() []string {
	var names []string
	for _, h := range d.Hosts {
		for range h.Count {
			names = append(names, h.Name)
		}
	}
	return names
}
