package stage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/golaunch/golaunch/launcher/internal/stage/manifest"
	"github.com/golaunch/golaunch/launcher/internal/stage/spread"
)

// Limits of what is said.
const (
	maxOrder  = 8 << 20  // bytes
	maxReport = 16 << 10 // bytes
	maxError  = 1 << 10  // bytes of text
	maxHosts  = 65536
	maxBlobs  = 1 + manifest.MaxFiles
)

// An order tells a host what it should have, and to whom it passes that on.
type order struct {
	// Push names the sender's doing; among the sessions of one push, that with the
	// highest number counts.
	Push    string          `json:"push"`
	Session int             `json:"session"`
	Blobs   []manifest.Blob `json:"blobs"`
	Hosts   []Host          `json:"hosts"`   // the receiver first
	Parents []int           `json:"parents"` // see spread.Shape
}

// pushSize is the length of a push's name.
const pushSize = 26

func (o *order) check() error {
	switch {
	case len(o.Push) != pushSize || o.Session < 0:
		return fmt.Errorf("order: session %d of push %.40q", o.Session, o.Push)
	case len(o.Blobs) > maxBlobs || len(o.Hosts) > maxHosts:
		return fmt.Errorf("order: %d blobs for %d hosts", len(o.Blobs), len(o.Hosts))
	case len(o.Hosts) != len(o.Parents) || !spread.Valid(o.Parents):
		return errors.New("order: its plan is no tree")
	}
	return errors.Join(checkBlobs(o.Blobs), checkHosts(o.Hosts))
}

func checkBlobs(blobs []manifest.Blob) error {
	var total int64
	seen := make(map[manifest.Blob]bool, len(blobs))
	for _, b := range blobs {
		if err := b.Check(); err != nil {
			return err
		}
		if total += b.Size; total > manifest.MaxTotal || seen[b] {
			return fmt.Errorf("order: blob %s comes twice, or all have more than %d bytes", b.Sum.Short(), int64(manifest.MaxTotal))
		}
		seen[b] = true
	}
	return nil
}

func checkHosts(hosts []Host) error {
	seen := make(map[string]bool, len(hosts))
	for _, h := range hosts {
		if err := h.check(); err != nil {
			return err
		}
		if seen[h.Name] {
			return fmt.Errorf("two hosts are called %s", h.Name)
		}
		seen[h.Name] = true
	}
	return nil
}

// below is the order for the host at a position.
func (o *order) below(position int) order {
	members, plan := spread.Subtree(o.Parents, position)
	sub := order{Push: o.Push, Session: o.Session, Blobs: o.Blobs, Parents: plan}
	for _, m := range members {
		sub.Hosts = append(sub.Hosts, o.Hosts[m])
	}
	return sub
}

func parseOrder(b []byte) (order, error) {
	var o order
	if err := decode(b, &o); err != nil {
		return order{}, fmt.Errorf("order: %w", err)
	}
	return o, o.check()
}

// A report tells what has become of a host.
type report struct {
	Host    string  `json:"host"`
	Outcome outcome `json:"outcome"`
	Error   string  `json:"error,omitempty"`
}

type outcome string

const (
	done   outcome = "done"
	failed outcome = "failed" // it said so itself
	lost   outcome = "lost"   // it may succeed when it is sent to directly
)

func (r *report) check() error {
	if r.Host == "" || len(r.Host) > maxName || len(r.Error) > maxError {
		return fmt.Errorf("report on host %.40q with %d bytes of error", r.Host, len(r.Error))
	}
	if r.Outcome != done && r.Outcome != failed && r.Outcome != lost {
		return fmt.Errorf("report on host %q: outcome %.20q", r.Host, r.Outcome)
	}
	return nil
}

// reportOf makes a report that passes its check, of a host's name that does.
func reportOf(host string, o outcome, err error) report {
	r := report{Host: host, Outcome: o}
	if err != nil {
		r.Error = strings.ToValidUTF8(err.Error()[:min(len(err.Error()), maxError)], "")
	}
	return r
}

func parseReport(b []byte) (report, error) {
	var r report
	if err := decode(b, &r); err != nil {
		return report{}, fmt.Errorf("report: %w", err)
	}
	return r, r.check()
}

// decode reads JSON of which nothing is left over.
func decode(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("something follows it")
	}
	return nil
}
