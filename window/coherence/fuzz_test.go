package coherence

import (
	"errors"
	"testing"
)

// Whatever other hosts and the pager say, in whatever order: a host ends with a
// Violation, or goes on. (That a message is well-formed is for the pager to see.)
func FuzzStep(f *testing.F) {
	for _, first := range []Kind{ReadFault, WriteFault, PrefetchRead, PrefetchWrite} {
		f.Add(false, []byte{byte(first), 0, 0, 1, 0, byte(GrantRead), 1, 0, 1, 1, byte(GrantWrite), 1, 0, 1, 1, byte(HoldOver), 0, 0, 1, 0})
		f.Add(true, []byte{byte(first), 0, 0, 1, 0, byte(Located), 1, 0, 1, 0, byte(Read), 2, 0, 1, 0, byte(FetchAck), 2, 0, 1, 7, byte(HostDead), 0, 1, 0, 0})
	}
	f.Add(false, []byte{byte(ReadFault), 0, 0, 1, 0, byte(GrantRead), 1, 0, 1, 1, byte(Invalidate), 1, 0, 1, 0, byte(WriteFault), 0, 0, 1, 0,
		byte(GrantWrite), 1, 0, 1, 0, byte(HoldOver), 0, 0, 1, 0})
	f.Add(false, []byte{byte(Read), 1, 0, 0, 0, byte(Write), 1, 0, 0, 0, byte(WriteBack), 2, 0, 0, 5, byte(Fence), 0, 0, 0, 0, byte(WriteBack), 1, 0, 0, 5})
	f.Fuzz(func(t *testing.T, firstTouch bool, messages []byte) {
		h, err := New(Config{Hosts: 3, Pages: 4, Blocks: []uint8{0, 1}, BlockPages: 2, Limit: 1, FirstTouch: firstTouch})
		if err != nil {
			t.Fatal(err)
		}
		for ; len(messages) >= 5; messages = messages[5:] {
			b := messages[:5]
			_, err := h.Step(Msg{Kind: Kind(b[0]), From: b[1], Host: b[2], Page: Page(b[3]), Data: Data(b[4])}, nil)
			var violation *Violation
			switch {
			case err == nil:
			case !errors.As(err, &violation) || violation.Error() == "":
				t.Fatal(err)
			default:
				return
			}
		}
	})
}

// What is wrong with a configuration is said.
func TestConfigurations(t *testing.T) {
	right := Config{Self: 1, Hosts: 2, Pages: 8, Blocks: []uint8{0, 1}, BlockPages: 4}
	if _, err := New(right); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Config){
		"no hosts":       func(c *Config) { c.Hosts = 0 },
		"too many hosts": func(c *Config) { c.Hosts = MaxHosts + 1 },
		"who am I":       func(c *Config) { c.Self = 2 },
		"too few blocks": func(c *Config) { c.Pages = 9 },
		"empty blocks":   func(c *Config) { c.BlockPages = 0 },
		"whose block":    func(c *Config) { c.Blocks = []uint8{0, 2} },
		"limit":          func(c *Config) { c.Limit = -1 },
	} {
		c := right
		spoil(&c)
		if _, err := New(c); err == nil {
			t.Errorf("%s: %+v is accepted", name, c)
		}
	}
}
