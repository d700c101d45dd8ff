package supervisor

import (
	"strings"
	"testing"

	"github.com/golaunch/golaunch/launcher/internal/control"
)

// Without credit a rank can write no more than the window, and its other stream,
// and the news of other ranks, are not held up.
func TestBackPressure(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	f.hold = true
	f.start(control.NoRank, "echo fine >&2; yes | head -c 1000000", "exit 3")
	id := outputID{0, control.Stdout}
	f.output(0, control.Stderr, "fine")
	for len(f.text[id]) < control.Window {
		f.output(0, control.Stdout, f.text[id]+"y")
	}
	if e := expect[*control.Exited](f); e.Rank != 1 || e.Code != 3 {
		t.Errorf("%+v", e)
	}
	if n := len(f.text[id]); n != control.Window {
		t.Errorf("%d bytes came without credit", n)
	}
	f.hold = false
	f.conn.Send(&control.Credit{Rank: 0, Stream: control.Stdout, Bytes: control.Window})
	f.seen = append(f.seen, &control.Exited{Rank: 1, Code: 3})
	f.finish(2)
	if n := len(f.text[id]); n != 1_000_000 {
		t.Errorf("%d bytes, want 1000000", n)
	}
}

// send gives a supervisor input as fast as it gives credit.
func (f *front) send(data string) {
	for len(data) > 0 {
		credit := expect[*control.StdinCredit](f).Bytes
		n := min(credit, len(data))
		f.conn.Send(&control.Stdin{Data: []byte(data[:n])})
		data = data[n:]
		if n < credit {
			f.seen = append(f.seen, &control.StdinCredit{Bytes: credit - n})
		}
	}
}

func TestStdin(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789\n", 30_000)
	for _, tt := range []struct {
		name    string
		stdin   int
		scripts []string
		want    []string
	}{
		{"one rank", 1, []string{"cat; echo none", "cat"}, []string{"none\n", long}},
		{"all ranks", control.AllRanks, []string{"cat", "sleep 0.05; cat"}, []string{long, long}},
		{"one that does not read and ends", control.AllRanks, []string{"cat", "sleep 0.05"}, []string{long, ""}},
		{"one that closes it", control.AllRanks, []string{"cat", "exec <&-; sleep 0.1; echo x"}, []string{long, "x\n"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFront(t)
			f.start(tt.stdin, tt.scripts...)
			f.send(long)
			f.conn.Send(&control.StdinEnd{})
			f.finish(2)
			for rank, want := range tt.want {
				if got := f.text[outputID{rank, 1}]; got != want {
					t.Errorf("rank %d: %d bytes, want %d", rank, len(got), len(want))
				}
			}
		})
	}
}

func TestStdinThatNobodyReads(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, script string
		stdin        int
	}{
		{"nobody is meant to", "read x; exit 0", control.NoRank},
		{"the rank ends", "exit 0", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFront(t)
			f.start(tt.stdin, tt.script)
			expect[*control.StdinClosed](f)
			f.finish(1)
		})
	}
}

func TestStdinEndsBeforeAnything(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	f.start(0, "cat; echo end")
	f.conn.Send(&control.StdinEnd{})
	f.finish(1)
	if got := f.text[outputID{0, 1}]; got != "end\n" {
		t.Errorf("%q", got)
	}
}
