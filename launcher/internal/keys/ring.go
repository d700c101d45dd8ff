package keys

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Ring is the keys of a file, the current one first; none: there is no file.
type Ring []Key

// header begins the first line of a file that Generate writes.
const header = "# golaunch keys"

// Parse reads what a key file holds.
func Parse(text []byte) (Ring, error) {
	if len(text) > maxKeys*maxKey {
		return nil, fmt.Errorf("it is longer than %d bytes", maxKeys*maxKey)
	}
	lines := linesOf(text)
	if bytes.HasPrefix(text, []byte(header)) {
		return parseLines(lines, minKey)
	}
	if slices.ContainsFunc(lines, isPlainKey) {
		return parseLines(lines, newKey)
	}
	k, err := New(bytes.TrimSpace(text))
	if err != nil {
		return nil, err
	}
	return Ring{k}, nil
}

// A line is one of a key file that holds a key.
type line struct {
	number int // from 1
	text   string
}

// linesOf leaves out what is empty and comments.
func linesOf(text []byte) []line {
	var lines []line
	number := 0
	for t := range strings.Lines(string(text)) {
		number++
		if t = strings.TrimSpace(t); t != "" && t[0] != '#' {
			lines = append(lines, line{number, t})
		}
	}
	return lines
}

// isPlainKey reports whether a line is a key where no header announces keys.
func isPlainKey(l line) bool {
	b, err := decode(l.text)
	return err == nil && len(b) == newKey
}

// parseLines wants a key of shortest bytes or more in every line. The errors do not
// show what is there: it may be a key with a mistake in it.
func parseLines(lines []line, shortest int) (Ring, error) {
	var ring Ring
	for _, l := range lines {
		b, err := decode(l.text)
		if err != nil || len(b) < shortest {
			return nil, fmt.Errorf("line %d is not a key: want %d bytes in hex or base64", l.number, newKey)
		}
		k, err := New(b)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", l.number, err)
		}
		if !slices.ContainsFunc(ring, k.equal) {
			ring = append(ring, k)
		}
	}
	switch {
	case len(ring) == 0:
		return nil, errors.New("there is no key in it")
	case len(ring) > maxKeys:
		return nil, fmt.Errorf("there are %d keys in it: want %d at most", len(ring), maxKeys)
	}
	return ring, nil
}

func decode(text string) ([]byte, error) {
	if len(text) == hex.EncodedLen(newKey) {
		if b, err := hex.DecodeString(text); err == nil {
			return b, nil
		}
	}
	return base64.RawStdEncoding.Strict().DecodeString(strings.TrimRight(text, "="))
}

// format is the text of which Parse makes r.
func (r Ring) format() []byte {
	var b strings.Builder
	b.WriteString(header + ", the current one first. Who can read this is a member of the cluster.\n")
	for _, k := range r {
		b.WriteString(base64.StdEncoding.EncodeToString(k.secret) + "\n")
	}
	return []byte(b.String())
}

// Gossip is each key's gossip key, in order.
func (r Ring) Gossip() ([][]byte, error) {
	var derived [][]byte
	for _, k := range r {
		g, err := k.Gossip()
		if err != nil {
			return nil, err
		}
		derived = append(derived, g)
	}
	return derived, nil
}

// Names are the names of the keys, in order.
func (r Ring) Names() []string {
	var names []string
	for _, k := range r {
		names = append(names, k.Name())
	}
	return names
}
