package window

import (
	"strings"
	"testing"
)

func TestStatementsSurvive(t *testing.T) {
	for _, s := range []statement{
		{},
		{text: "int64", values: [values]uint64{1, 2, 3, 4, 5, 1 << 63}},
		{refused: true, text: "no memory"},
	} {
		b := make([]byte, 200)
		s.encode(b)
		if got, err := decodeStatement(b); err != nil || got != s {
			t.Errorf("%+v is read as %+v, %v", s, got, err)
		}
	}
	b := make([]byte, statementHead+5)
	statement{refused: true, text: "too long"}.encode(b)
	if got, err := decodeStatement(b); err != nil || got.text != "too l" {
		t.Errorf("a text that is too long is read as %q, %v", got.text, err)
	}
}

func TestDamagedStatements(t *testing.T) {
	whole := make([]byte, 100)
	statement{text: "int64"}.encode(whole)
	for name, c := range map[string]struct {
		change func(b []byte) []byte
		want   string
	}{
		"short": {func(b []byte) []byte { return b[:statementHead-1] }, "want at least 72"},
		"flags": {func(b []byte) []byte { b[0] = 2; return b }, "flags 0x2"},
		"text":  {func(b []byte) []byte { b[15] = 0x80; return b }, "a text of 9223372036854775813"},
		"empty": {func([]byte) []byte { return nil }, "want at least 72"},
	} {
		b := c.change(append([]byte(nil), whole...))
		if _, err := decodeStatement(b); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
}

func FuzzDecodeStatement(f *testing.F) {
	b := make([]byte, 100)
	statement{refused: true, text: "no memory", values: [values]uint64{1, 2, 3, 4, 5, 6}}.encode(b)
	f.Add(b)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := decodeStatement(b)
		if err != nil {
			return
		}
		again := make([]byte, statementHead+len(s.text))
		s.encode(again)
		if got, err := decodeStatement(again); err != nil || got != s {
			t.Errorf("%+v is read as %+v, %v", s, got, err)
		}
	})
}
