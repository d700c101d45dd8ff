package member

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A snapshot is what a member remembers from one start to the next. Its file is text:
//
//	golaunch members 1
//	life 1754300000000000000
//	node-a 10.0.0.1:7946
//	node-b 10.0.0.2:7946
//	end
//
// Without its last line it is not whole.
type snapshot struct {
	life    uint64 // of the process that wrote it
	members []remembered

	dirty   bool // something has changed since it was written
	due     time.Time
	written []byte // what is in the file
}

type remembered struct {
	name string
	addr netip.AddrPort
}

const (
	snapshotHead = "golaunch members 1"
	snapshotEnd  = "end"
	// maxRemembered is how many members are remembered: one of them is enough to find
	// all.
	maxRemembered = 1024
	maxSnapshot   = 1 << 18 // bytes
	// saveEvery is how often the file is written at most, and how long who has joined is
	// not in it.
	saveEvery = time.Second
)

func (s *snapshot) addrs() []string {
	var addrs []string
	for _, m := range s.members {
		addrs = append(addrs, m.addr.String())
	}
	return addrs
}

func (s *snapshot) encode() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\nlife %d\n", snapshotHead, s.life)
	for _, m := range s.members {
		fmt.Fprintf(&b, "%s %s\n", m.name, m.addr)
	}
	b.WriteString(snapshotEnd + "\n")
	return b.Bytes()
}

func decodeSnapshot(text []byte) (s snapshot, err error) {
	if len(text) > maxSnapshot {
		return s, fmt.Errorf("it is longer than %d bytes", maxSnapshot)
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	if !lines.Scan() || lines.Text() != snapshotHead {
		return s, fmt.Errorf("it does not begin with %q", snapshotHead)
	}
	if lines.Scan() {
		life, _ := strings.CutPrefix(lines.Text(), "life ")
		if s.life, err = strconv.ParseUint(life, 10, 64); err != nil {
			return s, errors.New("it does not say whose it is")
		}
	}
	for lines.Scan() && lines.Text() != snapshotEnd {
		m, err := decodeRemembered(lines.Text())
		if err != nil {
			return s, err
		}
		if s.members = append(s.members, m); len(s.members) > maxRemembered {
			return s, fmt.Errorf("there are more than %d members in it", maxRemembered)
		}
	}
	if lines.Text() != snapshotEnd {
		return s, errors.New("its end is missing")
	}
	return s, nil
}

func decodeRemembered(line string) (m remembered, err error) {
	name, addr, _ := strings.Cut(line, " ")
	if err := checkName(name); err != nil {
		return m, err
	}
	m.name = name
	if m.addr, err = netip.ParseAddrPort(addr); err != nil {
		return m, fmt.Errorf("%s: %q is not an address with a port", name, addr)
	}
	return m, nil
}

// readSnapshot reads a file. One that is not there is an empty snapshot.
func readSnapshot(path string) (snapshot, error) {
	if path == "" {
		return snapshot{}, nil
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return snapshot{}, nil
	}
	if err != nil {
		return snapshot{}, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSnapshot+1))
	if err != nil {
		return snapshot{}, err
	}
	s, err := decodeSnapshot(text)
	if err != nil {
		return snapshot{}, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// replace replaces a file at once or not at all.
func replace(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".members-")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// remember takes over who is alive, or failing that, dead. A host that is alone keeps
// what it had: that is when it is needed.
func (s *snapshot) remember(self string, members []Member) {
	var now []remembered
	for _, state := range []State{Alive, Dead} {
		for _, m := range members {
			if m.State == state && m.Name != self && m.Addr.IsValid() && len(now) < maxRemembered {
				now = append(now, remembered{m.Name, m.Addr})
			}
		}
	}
	if len(now) > 0 {
		s.members = now
	}
}

// wait is how long until the snapshot is to be written.
func (s *snapshot) wait(now time.Time) time.Duration {
	if !s.dirty {
		return time.Hour
	}
	return max(0, s.due.Sub(now))
}

// save writes the snapshot unless the file says the same.
func (s *snapshot) save(path string, now time.Time) error {
	s.dirty, s.due = false, now.Add(saveEvery)
	text := s.encode()
	if bytes.Equal(text, s.written) {
		return nil
	}
	err := replace(path, text)
	if err == nil {
		s.written = text
	}
	return err
}

// save writes the snapshot if something has changed. It belongs to the main goroutine.
func (c *Cluster) save() {
	if c.o.Snapshot == "" || !c.saved.dirty {
		return
	}
	c.saved.remember(c.o.Name, c.Members())
	if err := c.saved.save(c.o.Snapshot, time.Now()); err != nil {
		c.o.Log.Warn("the members cannot be remembered", "error", err)
	}
}

// saveWait is how long until the snapshot is to be written.
func (c *Cluster) saveWait() time.Duration {
	if c.o.Snapshot == "" {
		return time.Hour
	}
	return c.saved.wait(time.Now())
}
