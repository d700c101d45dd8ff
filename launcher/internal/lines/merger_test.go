package lines

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// text renders pieces: stderr in braces.
func text(pieces []Piece) string {
	var b strings.Builder
	for _, p := range pieces {
		if p.Stderr {
			fmt.Fprintf(&b, "{%s}", p.Data)
		} else {
			b.Write(p.Data)
		}
	}
	return b.String()
}

const ms = time.Millisecond

// A step writes if text is not empty; "close" and "tick" are what they say.
type step struct {
	at   time.Duration
	rank int
	text string
	want string
}

func TestMerger(t *testing.T) {
	long := strings.Repeat("x", LongLine)
	for _, tt := range []struct {
		name   string
		config Config
		steps  []step
	}{
		{"complete lines pass at once", Config{}, []step{
			{0, 0, "a\nb\n", "a\nb\n"}, {0, 1, "c\n", "c\n"},
		}},
		{"a partial line waits for its end", Config{}, []step{
			{0, 0, "a", ""}, {1 * ms, 1, "b\n", "b\n"}, {2 * ms, 0, "a\n", "aa\n"},
		}},
		{"a partial line is shown after 100 ms", Config{}, []step{
			{0, 0, "prompt: ", ""}, {99 * ms, 0, "tick", ""}, {100 * ms, 0, "tick", "prompt: "},
		}},
		{"complete lines before a partial one pass", Config{}, []step{
			{0, 0, "a\nb", "a\n"}, {50 * ms, 0, "c\nd", "bc\n"}, {149 * ms, 0, "tick", ""}, {150 * ms, 0, "tick", "d"},
		}},
		{"others wait for the owner of the line", Config{}, []step{
			{0, 0, "a", ""}, {100 * ms, 0, "tick", "a"}, {110 * ms, 0, "b", ""}, {120 * ms, 1, "x\n", ""},
			{130 * ms, 0, "c\n", "bc\nx\n"},
		}},
		{"but not when it is silent", Config{}, []step{
			{0, 0, "prompt: ", ""}, {100 * ms, 0, "tick", "prompt: "}, {200 * ms, 1, "x\n", "\nx\n"},
			{210 * ms, 0, "more\n", "more\n"},
		}},
		{"and not for more than a second", Config{}, []step{
			{0, 0, ".", ""}, {100 * ms, 0, "tick", "."}, {150 * ms, 0, ".", ""}, {160 * ms, 1, "x\n", ""},
			{240 * ms, 0, ".", ""}, {250 * ms, 0, "tick", ".."}, {330 * ms, 0, ".", ""}, {420 * ms, 0, ".", ""},
			{430 * ms, 0, "tick", ".."}, {510 * ms, 0, ".", ""}, {600 * ms, 0, ".", ""}, {610 * ms, 0, "tick", ".."},
			{690 * ms, 0, ".", ""}, {780 * ms, 0, ".", ""}, {790 * ms, 0, "tick", ".."}, {870 * ms, 0, ".", ""},
			{960 * ms, 0, ".", ""}, {970 * ms, 0, "tick", ".."}, {1050 * ms, 0, ".", ""},
			{1100 * ms, 0, "tick", "\nx\n"}, {1150 * ms, 0, "tick", "."},
		}},
		{"and not when it is closed", Config{}, []step{
			{0, 0, "a", ""}, {50 * ms, 0, "b", ""}, {100 * ms, 0, "tick", "ab"}, {101 * ms, 1, "x\n", ""},
			{102 * ms, 0, "close", "\nx\n"},
		}},
		{"what is left at the end is shown", Config{}, []step{
			{0, 0, "a", ""}, {1 * ms, 1, "b", ""}, {2 * ms, 0, "close", "a"}, {3 * ms, 1, "close", "\nb"},
		}},
		{"a long line is shown, and stays whole", Config{}, []step{
			{0, 0, long, long}, {10 * ms, 1, "x\n", ""}, {20 * ms, 0, "y\n", "y\nx\n"},
		}},
		{"tags", Config{Tag: true}, []step{
			{0, 3, "a\nb\n", "[3] a\n[3] b\n"}, {0, 12, "c", ""}, {100 * ms, 0, "tick", "[12] c"},
			{110 * ms, 12, "d\n", "d\n"},
		}},
		{"a tag again after a break", Config{Tag: true}, []step{
			{0, 0, "a", ""}, {100 * ms, 0, "tick", "[0] a"}, {200 * ms, 1, "x\n", "\n[1] x\n"}, {201 * ms, 0, "b\n", "[0] b\n"},
		}},
		{"raw", Config{Raw: true}, []step{{0, 0, "a", "a"}, {1 * ms, 0, "\x00\nb", "\x00\nb"}}},
		{"stderr is a device of its own", Config{}, []step{
			{0, 0, "a", ""}, {100 * ms, 0, "tick", "a"}, {101 * ms, -1, "x\n", "{x\n}"},
		}},
		{"or not", Config{Shared: true, Tag: true}, []step{
			{0, 0, "a", ""}, {100 * ms, 0, "tick", "[0] a"}, {200 * ms, -1, "x\n", "\n{[1]<stderr> x\n}"},
		}},
		{"a progress line that was erased leaves no empty line", Config{}, []step{
			{0, 0, "50 %", ""}, {100 * ms, 0, "tick", "50 %"}, {110 * ms, 0, "\r\x1b[K", ""},
			{210 * ms, 0, "tick", "\r\x1b[K"}, {211 * ms, 1, "x\n", "x\n"},
		}},
		{"empty lines", Config{Tag: true}, []step{{0, 0, "\n\n", "[0] \n[0] \n"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := New(tt.config)
			for _, s := range tt.steps {
				name := Stream{Rank: max(s.rank, -s.rank), Stderr: s.rank < 0}
				var got []Piece
				switch s.text {
				case "tick":
					got = m.Tick(s.at)
				case "close":
					got = m.Close(name, s.at)
				default:
					got = m.Write(name, []byte(s.text), s.at)
				}
				if text(got) != s.want {
					t.Fatalf("at %v, %+v: got %q, want %q", s.at, s, text(got), s.want)
				}
			}
		})
	}
}

func TestBreak(t *testing.T) {
	m := New(Config{Raw: true})
	m.Write(Stream{Stderr: true}, []byte("a"), 0)
	if got := text(m.Break(false)); got != "" {
		t.Errorf("stdout, to which nothing was written, needs %q", got)
	}
	if got := text(m.Break(true)); got != "{\n}" {
		t.Errorf("after a partial line: %q", got)
	}
	if got := text(m.Break(true)); got != "" {
		t.Errorf("a second time: %q", got)
	}
	m.Write(Stream{Stderr: true}, []byte("a\n"), 0)
	if got := text(m.Break(true)); got != "" {
		t.Errorf("after a complete line: %q", got)
	}
}

// FuzzMerger plays a random job: whatever is written comes out, in the order of
// its stream, and where the stream changes a new line has begun.
func FuzzMerger(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1))
		m := New(Config{Shared: seed%2 == 0})
		in, out := map[Stream][]byte{}, map[Stream][]byte{}
		var last [2]Piece
		take := func(pieces []Piece) {
			for _, p := range pieces {
				device := 0
				if p.Stderr && !m.Shared {
					device = 1
				}
				before := &last[device]
				if len(before.Data) > 0 && before.Stream != p.Stream && before.Data[len(before.Data)-1] != '\n' {
					t.Fatalf("%+v in the middle of a line of %+v", p.Stream, before.Stream)
				}
				*before = p
				if p.Bytes > 0 {
					out[p.Stream] = append(out[p.Stream], p.Data...)
				}
			}
		}
		now := time.Duration(0)
		for range 300 {
			now += time.Duration(r.IntN(30)) * ms
			if due, ok := m.Deadline(now); ok && due <= now {
				take(m.Tick(now))
			}
			if due, ok := m.Deadline(now); ok && due <= now {
				t.Fatalf("at %v the deadline is still %v", now, due)
			}
			name := Stream{Rank: r.IntN(3), Stderr: r.IntN(4) == 0}
			data := bytes.Repeat([]byte("x"), 1+max(0, r.IntN(40)-36)*r.IntN(20_000))
			if r.IntN(3) > 0 {
				data[r.IntN(len(data))] = '\n'
			}
			in[name] = append(in[name], data...)
			take(m.Write(name, data, now))
		}
		for name := range in {
			take(m.Close(name, now))
		}
		take(m.Tick(now + HoldMax))
		for name := range in {
			if !bytes.Equal(in[name], out[name]) {
				t.Fatalf("%+v: %d bytes in, %d out, or different", name, len(in[name]), len(out[name]))
			}
		}
		if _, ok := m.Deadline(now + HoldMax); ok {
			t.Fatal("something is still held")
		}
	})
}

func TestTail(t *testing.T) {
	var numbers []string
	for i := range 1000 {
		numbers = append(numbers, fmt.Sprint("line ", i))
	}
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"nothing", "", nil},
		{"only newlines", "\n\n", nil},
		{"few", "a\n\nb", []string{"a", "", "b"}},
		{"carriage returns", "a\r\nb\r\n", []string{"a", "b"}},
		{"many", strings.Join(numbers, "\n") + "\n", numbers[1000-TailLines:]},
		{"long", strings.Repeat("x", 3*tailBytes), []string{"..." + strings.Repeat("x", tailBytes)}},
	} {
		for _, size := range []int{1, 7, 1 << 20} {
			var tail Tail
			for part := range slicesChunk(tt.in, size) {
				tail.Write([]byte(part))
			}
			if got := tail.Lines(); strings.Join(got, "|") != strings.Join(tt.want, "|") {
				t.Errorf("%s in parts of %d: %.90q, want %.90q", tt.name, size, got, tt.want)
			}
		}
	}
}

func slicesChunk(s string, n int) func(func(string) bool) {
	return func(yield func(string) bool) {
		for len(s) > 0 {
			k := min(n, len(s))
			if !yield(s[:k]) {
				return
			}
			s = s[k:]
		}
	}
}

func BenchmarkWholeLines(b *testing.B) {
	data := bytes.Repeat([]byte("a line of output of a usual length, or so\n"), 700)
	for _, tag := range []bool{false, true} {
		b.Run(fmt.Sprint("tag=", tag), func(b *testing.B) {
			m := New(Config{Tag: tag})
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				m.Write(Stream{Rank: 1}, data, 0)
			}
		})
	}
}
