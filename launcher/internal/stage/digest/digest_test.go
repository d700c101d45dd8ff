package digest

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	s, n, err := Read(strings.NewReader("abc"))
	if err != nil || n != 3 || s != Of([]byte("abc")) {
		t.Fatal(s, n, err)
	}
	if want := "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"; s.String() != want || s.Short() != want[:12] {
		t.Error(s, "want", want)
	}
	again, err := Parse(s.String())
	if err != nil || again != s {
		t.Error(again, err)
	}
	for _, bad := range []string{"", "ba", strings.ToUpper(s.String()), s.String() + "0", "../" + s.String()[3:], strings.Repeat("g", 64)} {
		if _, err := Parse(bad); err == nil {
			t.Errorf("%q is a name", bad)
		}
	}
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"`))
	f.Add([]byte(`"BA"`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var s, again Sum
		if json.Unmarshal(b, &s) != nil || string(b) == "null" {
			return
		}
		out, err := json.Marshal(s)
		if err != nil || json.Unmarshal(out, &again) != nil || again != s {
			t.Fatalf("%s became %s: %v", b, out, err)
		}
	})
}
