package pmi

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/golaunch/golaunch/launcher/boot/pmi/wire"
)

// A value is kept in base64, in as many parts as it takes: under its key the number
// of parts, a point and the first part; under key.1 and so on the others.
const (
	leastValue = 64  // what a process manager must take at least, in bytes
	mostValue  = 512 // of what it may take more; some read no lines of more than 1024 in all
	maxParts   = 1 << 10
)

// partSize is how much of a value goes under one key.
func (c *Conn) partSize() int { return min(c.longest-1, mostValue) - len("1024.") }

// Put keeps a value under a key of letters, digits and "-", of at most 40 bytes,
// which nobody else uses.
func (c *Conn) Put(ctx context.Context, key string, value []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	parts := split(base64.RawURLEncoding.EncodeToString(value), c.partSize())
	if len(parts) > maxParts {
		return c.name(fmt.Errorf("%d bytes are too many", len(value)), "putting %s", key)
	}
	parts[0] = strconv.Itoa(len(parts)) + "." + parts[0]
	for i, part := range parts {
		if err := c.put(ctx, partKey(key, i), part); err != nil {
			return c.name(err, "putting %s", key)
		}
	}
	return nil
}

func (c *Conn) put(ctx context.Context, key, value string) error {
	pairs := append(c.dialect.of(c), wire.Pair{Key: "key", Value: key}, wire.Pair{Key: "value", Value: value})
	_, err := c.ask(ctx, c.dialect.put, pairs...)
	return err
}

// Get returns the value that was put under a key before the last fence.
func (c *Conn) Get(ctx context.Context, key string) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	value, err := c.whole(ctx, key)
	return value, c.name(err, "getting %s", key)
}

func (c *Conn) whole(ctx context.Context, key string) ([]byte, error) {
	first, err := c.get(ctx, key)
	if err != nil {
		return nil, err
	}
	parts, text, err := cutParts(first)
	if err != nil {
		return nil, err
	}
	var all strings.Builder
	all.WriteString(text)
	for i := 1; i < parts; i++ {
		part, err := c.get(ctx, partKey(key, i))
		if err != nil {
			return nil, err
		}
		all.WriteString(part)
	}
	return base64.RawURLEncoding.DecodeString(all.String())
}

func (c *Conn) get(ctx context.Context, key string) (string, error) {
	m, err := c.ask(ctx, c.dialect.get, append(c.dialect.of(c), wire.Pair{Key: "key", Value: key})...)
	if err != nil {
		return "", err
	}
	if found, ok := m.Value("found"); ok && found != "TRUE" {
		return "", errors.New("there is no such value")
	}
	value, ok := m.Value("value")
	if !ok {
		return "", fmt.Errorf("%s: there is no value in the answer", m.Command)
	}
	return value, nil
}

// cutParts returns how many parts a value has, and the first.
func cutParts(text string) (int, string, error) {
	count, part, found := strings.Cut(text, ".")
	n, err := strconv.ParseUint(count, 10, 31)
	if err != nil || !found || n < 1 || n > maxParts {
		return 0, "", fmt.Errorf("a value that begins with %.20q is not golaunch's", text)
	}
	return int(n), part, nil
}

func partKey(key string, i int) string {
	if i == 0 {
		return key
	}
	return key + "." + strconv.Itoa(i)
}

// split cuts text into parts of at most n bytes, one at least.
func split(text string, n int) []string {
	parts := []string{text[:min(n, len(text))]}
	for text = text[len(parts[0]):]; text != ""; text = text[len(parts[len(parts)-1]):] {
		parts = append(parts, text[:min(n, len(text))])
	}
	return parts
}
