package schedule

import (
	"fmt"
	"strings"
)

// String is the step as the golden files have it, without its dependencies:
// "recv-reduce 2: temp[0:3] = received op in[4:7]".
func (s Step) String() string {
	into := func(what string) string { return s.text(s.Into) + " = " + what }
	switch s.Kind {
	case Send:
		return fmt.Sprintf("send %d: %s", s.Peer, s.text(s.From))
	case Recv:
		return fmt.Sprintf("recv %d: %s", s.Peer, into("received"))
	case RecvReduce:
		return fmt.Sprintf("recv-reduce %d: %s", s.Peer, into(s.operands()))
	case Copy:
		return "copy: " + into(s.text(s.From))
	case Reduce:
		return "reduce: " + into(s.text(s.From)+" op "+s.text(s.With))
	default:
		return fmt.Sprintf("unknown kind %d", s.Kind)
	}
}

func (s Step) operands() string {
	if s.Left {
		return "received op " + s.text(s.From)
	}
	return s.text(s.From) + " op received"
}

// text is the range of the step's length at r: "out[3:7]".
func (s Step) text(r Ref) string {
	return fmt.Sprintf("%s[%d:%d]", r.Buffer, r.Off, r.Off+s.Len)
}

// String is the buffer's name.
func (b Buffer) String() string {
	switch b {
	case In:
		return "in"
	case Out:
		return "out"
	case Temp:
		return "temp"
	default:
		return fmt.Sprintf("buffer %d", uint8(b))
	}
}

// String is the schedule as the golden files have it, one step a line.
func (s Schedule) String() string {
	var t strings.Builder
	fmt.Fprintf(&t, "rank %d of %d: in %d, out %d, temp %d", s.Rank, s.Size, s.In, s.Out, s.Temp)
	if s.InAt != NoAlias {
		fmt.Fprintf(&t, ", in may be out[%d:%d]", s.InAt, s.InAt+s.In)
	}
	t.WriteByte('\n')
	for i, step := range s.Steps {
		fmt.Fprintf(&t, "%4d  %v%s\n", i, step, after(step.After))
	}
	return t.String()
}

func after(steps []int) string {
	if len(steps) == 0 {
		return ""
	}
	return "  after " + strings.Trim(fmt.Sprint(steps), "[]")
}
