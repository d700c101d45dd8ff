package wire

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var put = Message{"put", []Pair{{"kvsname", "kvs_1"}, {"key", "a"}, {"value", "b=c"}}}

func TestLine(t *testing.T) {
	b, err := put.AppendLine([]byte("before "))
	if err != nil || string(b) != "before cmd=put kvsname=kvs_1 key=a value=b=c\n" {
		t.Fatalf("%q, %v", b, err)
	}
	got, err := ParseLine("cmd=put kvsname=kvs_1  key=a value=b=c \n")
	if diff := cmp.Diff(put, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestFrame(t *testing.T) {
	m := Message{"kvs-put", []Pair{{"key", "a"}, {"value", "b;;c;"}, {"empty", ""}}}
	b, err := m.AppendFrame([]byte("before"))
	if want := "before    40cmd=kvs-put;key=a;value=b;;;;c;;;empty=;"; err != nil || string(b) != want {
		t.Fatalf("%q, %v", b, err)
	}
	n, err := ParsePrefix(string(b[6:12]))
	if err != nil || n != len(b)-12 {
		t.Fatalf("a prefix for %d bytes, %v: %q", n, err, b)
	}
	got, err := ParsePairs(string(b[12:]))
	if diff := cmp.Diff(m, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestPrefixesOfProcessManagers(t *testing.T) {
	for _, prefix := range []string{"    26", "26    ", "000026"} { // MPICH's, Slurm's
		if n, err := ParsePrefix(prefix); n != 26 || err != nil {
			t.Errorf("%q: %d, %v", prefix, n, err)
		}
	}
}

func TestValue(t *testing.T) {
	if v, ok := put.Value("key"); v != "a" || !ok {
		t.Errorf("%q, %v", v, ok)
	}
	if v, ok := put.Value("cmd"); v != "" || ok {
		t.Errorf("%q, %v", v, ok)
	}
}

func TestRefused(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		parse      func() error
	}{
		{"empty line", "does not begin", func() error { _, err := ParseLine("\n"); return err }},
		{"no command", "does not begin", func() error { _, err := ParseLine("rc=0 cmd=x\n"); return err }},
		{"empty command", "does not begin", func() error { _, err := ParseLine("cmd= rc=0\n"); return err }},
		{"word", `"hello" in the line`, func() error { _, err := ParseLine("cmd=x hello\n"); return err }},
		{"no key", `"=1" in the line`, func() error { _, err := ParseLine("cmd=x =1\n"); return err }},
		{"control character", "in the line", func() error { _, err := ParseLine("cmd=x a=\x1b[2J\n"); return err }},
		{"long word", "and 40 bytes more", func() error { _, err := ParseLine(strings.Repeat("x", 100)); return err }},
		{"empty prefix", "is not the length", func() error { _, err := ParsePrefix("      "); return err }},
		{"negative prefix", "is not the length", func() error { _, err := ParsePrefix("    -1"); return err }},
		{"long prefix", "is not the length", func() error { _, err := ParsePrefix("999999"); return err }},
		{"short prefix", "is not the length", func() error { _, err := ParsePrefix("26"); return err }},
		{"no pairs", "does not begin", func() error { _, err := ParsePairs(""); return err }},
		{"pair without value", "has no key", func() error { _, err := ParsePairs("cmd=x;abc;"); return err }},
		{"open end", "has no end", func() error { _, err := ParsePairs("cmd=x;a=b"); return err }},
		{"open end after two", "has no end", func() error { _, err := ParsePairs("cmd=x;a=b;;"); return err }},
		{"space in a line", "cannot be sent", func() error { _, err := Message{"x", []Pair{{"a", "b c"}}}.AppendLine(nil); return err }},
		{"empty in a line", "cannot be sent", func() error { _, err := Message{"x", []Pair{{"a", ""}}}.AppendLine(nil); return err }},
		{"newline in a line", "cannot be sent", func() error { _, err := Message{"x\ny", nil}.AppendLine(nil); return err }},
		{"long line", "there can be", func() error {
			_, err := Message{"x", []Pair{{"a", strings.Repeat("b", MaxMessage)}}}.AppendLine(nil)
			return err
		}},
		{"key in a frame", "cannot be the key", func() error { _, err := Message{"x", []Pair{{"a;", "b"}}}.AppendFrame(nil); return err }},
		{"long frame", "there can be", func() error {
			_, err := Message{"x", []Pair{{"a", strings.Repeat("b", MaxMessage)}}}.AppendFrame(nil)
			return err
		}},
	} {
		if err := tt.parse(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want an error with %q", tt.name, err, tt.want)
		}
	}
}

// What was parsed can be sent, and means the same then.
func FuzzParseLine(f *testing.F) {
	for _, s := range []string{"cmd=get_result rc=-1 msg=key_zz_not_found value=unknown\n", "cmd=maxes rc=0 kvsname_max=256\n", "cmd=x a=\n", "a\x00=b", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		m, err := ParseLine(line)
		if err != nil {
			return
		}
		b, err := m.AppendLine(nil)
		if err != nil {
			return // too long, or a value is empty
		}
		again, err := ParseLine(string(b))
		if diff := cmp.Diff(m, again); diff != "" || err != nil {
			t.Error(diff, err)
		}
	})
}

func FuzzParsePairs(f *testing.F) {
	for _, s := range []string{"cmd=kvs-get-response;found=TRUE;value=a;;b;rc=0;", "cmd=x;a=;;", "cmd=x;;", ";", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ParsePairs(text)
		if err != nil {
			return
		}
		b, err := m.AppendFrame(nil)
		if err != nil {
			return // too long
		}
		again, err := ParsePairs(string(b[PrefixSize:]))
		if diff := cmp.Diff(m, again); diff != "" || err != nil {
			t.Error(diff, err)
		}
	})
}

func FuzzParsePrefix(f *testing.F) {
	for _, s := range []string{"    26", "26    ", "65536 ", "+1    "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, prefix string) {
		if n, err := ParsePrefix(prefix); err == nil && (n < 0 || n > MaxMessage) {
			t.Errorf("%q: %d", prefix, n)
		}
	})
}
