package lines

import "strings"

// Bounds of a Tail.
const (
	TailLines = 20
	tailBytes = 4 << 10
)

// A Tail keeps the end of a text.
type Tail struct {
	end []byte
	cut bool // something was dropped
}

// Write adds to the text. It never fails.
func (t *Tail) Write(b []byte) (int, error) {
	n := len(b)
	b = b[max(0, n-tailBytes):]
	if len(t.end)+len(b) > 2*tailBytes {
		t.end = append(t.end[:0], t.end[max(0, len(t.end)-tailBytes):]...)
		t.cut = true
	}
	t.end = append(t.end, b...)
	t.cut = t.cut || len(b) < n
	return n, nil
}

// Lines returns the last lines, TailLines at most, without what made them lines.
// A line whose beginning was dropped begins with "...".
func (t *Tail) Lines() []string {
	text := string(t.end[max(0, len(t.end)-tailBytes):])
	if t.cut || len(t.end) > tailBytes {
		text = "..." + text
	}
	text = strings.TrimRight(text, "\r\n")
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	lines = lines[max(0, len(lines)-TailLines):]
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	return lines
}
