package wire

import (
	"fmt"
	"strconv"
	"strings"
)

// PrefixSize is the length of a frame's prefix in bytes.
const PrefixSize = 6

// AppendFrame appends m in the form of PMI-2, with its prefix.
func (m Message) AppendFrame(b []byte) ([]byte, error) {
	var text strings.Builder
	for _, p := range append([]Pair{{"cmd", m.Command}}, m.Pairs...) {
		if !plain(p.Key, "=;") {
			return b, fmt.Errorf("%s cannot be the key of a value", excerpt(p.Key))
		}
		fmt.Fprintf(&text, "%s=%s;", p.Key, strings.ReplaceAll(p.Value, ";", ";;"))
	}
	if text.Len() > MaxMessage {
		return b, fmt.Errorf("a message of %d bytes: there can be %d", text.Len(), MaxMessage)
	}
	return append(fmt.Appendf(b, "%*d", PrefixSize, text.Len()), text.String()...), nil
}

// ParsePrefix parses a prefix: how many bytes of pairs follow it. Some pad the
// number on the left, and some on the right.
func ParsePrefix(prefix string) (int, error) {
	n, err := strconv.ParseUint(strings.Trim(prefix, " "), 10, 31)
	if err != nil || len(prefix) != PrefixSize || n > MaxMessage {
		return 0, fmt.Errorf("%s is not the length of a message", excerpt(prefix))
	}
	return int(n), nil
}

// ParsePairs parses what follows a prefix.
func ParsePairs(text string) (Message, error) {
	var pairs []Pair
	for rest := text; rest != ""; {
		key, more, found := strings.Cut(rest, "=")
		if !found || !plain(key, ";") {
			return Message{}, fmt.Errorf("%s in the message %s has no key", excerpt(rest), excerpt(text))
		}
		value, after, ended := cutValue(more)
		if !ended {
			return Message{}, fmt.Errorf("the value of %s in the message %s has no end", excerpt(key), excerpt(text))
		}
		pairs, rest = append(pairs, Pair{key, value}), after
	}
	return message(pairs)
}

// cutValue cuts text behind the first semicolon that is not doubled.
func cutValue(text string) (value, after string, ended bool) {
	var b strings.Builder
	for {
		part, rest, found := strings.Cut(text, ";")
		b.WriteString(part)
		if !found {
			return "", "", false
		}
		if !strings.HasPrefix(rest, ";") {
			return b.String(), rest, true
		}
		b.WriteByte(';')
		text = rest[1:]
	}
}
