package wire

import (
	"fmt"
	"strings"
)

// AppendLine appends m in the form of PMI-1, with its newline. Keys and values must
// be of printable characters other than the space; keys of other than "=", too.
func (m Message) AppendLine(b []byte) ([]byte, error) {
	begin := len(b)
	for i, p := range append([]Pair{{"cmd", m.Command}}, m.Pairs...) {
		if !plain(p.Key, "=") || !plain(p.Value, "") {
			return b[:begin], fmt.Errorf("%s=%s cannot be sent in a line", excerpt(p.Key), excerpt(p.Value))
		}
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(append(append(b, p.Key...), '='), p.Value...)
	}
	if b = append(b, '\n'); len(b)-begin > MaxMessage {
		return b[:begin], fmt.Errorf("a line of %d bytes: there can be %d", len(b)-begin, MaxMessage)
	}
	return b, nil
}

// plain reports whether text is not empty, and has printable ASCII characters other
// than the space and the given ones only.
func plain(text, but string) bool {
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c > '~' || strings.IndexByte(but, c) >= 0 {
			return false
		}
	}
	return text != ""
}

// ParseLine parses a line, with or without its newline. A key may have an empty
// value.
func ParseLine(line string) (Message, error) {
	line = strings.TrimSuffix(line, "\n")
	var pairs []Pair
	for word := range strings.SplitSeq(line, " ") {
		if word == "" {
			continue
		}
		key, value, found := strings.Cut(word, "=")
		if !found || !plain(key, "") || value != "" && !plain(value, "") {
			return Message{}, fmt.Errorf("%s in the line %s is no key and value", excerpt(word), excerpt(line))
		}
		pairs = append(pairs, Pair{key, value})
	}
	return message(pairs)
}
