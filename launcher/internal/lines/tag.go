package lines

import (
	"bytes"
	"strconv"
)

// tagged puts the stream's tag before every line of data; midLine says that the
// first one has it already.
func tagged(name Stream, data []byte, midLine bool) []byte {
	tag := "[" + strconv.Itoa(name.Rank) + "] "
	if name.Stderr {
		tag = "[" + strconv.Itoa(name.Rank) + "]<stderr> "
	}
	out := make([]byte, 0, len(data)+len(tag)*(bytes.Count(data, []byte{'\n'})+1))
	for line := range bytes.Lines(data) {
		if !midLine {
			out = append(out, tag...)
		}
		midLine = false
		out = append(out, line...)
	}
	return out
}
