package control

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// samples holds one message of each kind with every field set.
func samples() []Message {
	return []Message{
		&Hello{Protocol: 1, Version: "1.2", Host: "here", PID: 4},
		&Build{Scratch: "/tmp/x", Dir: "/src", Env: []string{"A=1", ""}},
		&Built{Dir: "/src", Path: "/tmp/x/prog", Output: "no"},
		&Start{Job: "j", Size: 3, Stdin: AllRanks, Bind: true, Core: 1, Sharers: 2, Secret: []byte("s"), Programs: []Program{
			{First: 0, Count: 2, Path: "/bin/a", Args: []string{"a", "b c"}, Env: []string{"X=Y"}, Dir: "/"},
			{First: 2, Count: 1, Path: "/bin/b", Args: []string{"b"}, Env: []string{"Z="}, Dir: "/tmp"},
		}, Host: 1, Apart: true,
			Settings: Settings{Transport: "tcp", Interface: "eth0", Loopback: true, Encrypt: true, Stats: true, Timeout: 1}},
		&Signal{Sig: 15, SpareLeft: true},
		&Kill{},
		&Finish{Linger: 1 << 40},
		&Stdin{Data: []byte("in\x00put")},
		&StdinEnd{},
		&Credit{Rank: 1, Stream: Stderr, Bytes: 100},
		&Started{Rank: 1, PID: 77},
		&NotStarted{Rank: 1, Errno: 2, Text: "no such file"},
		&Joined{Rank: 1, PID: 77},
		&Left{Rank: 1},
		&Lost{Rank: 1, PID: 78},
		&Aborted{Rank: 1, Code: -3, Text: "why"},
		&Exited{Rank: 1, Code: -1, Signal: 9, Why: "so", CoreDumped: true, Wall: 1, User: 2, System: 3, MaxRSS: 4},
		&Output{Rank: 1, Stream: Stdout, Data: []byte("line\n")},
		&Closed{Rank: 1, Stream: Stdout},
		&StdinCredit{Bytes: 7},
		&StdinClosed{},
		&Trouble{Text: "no memory"},
		&Done{Killed: 3},
		&Address{Rank: 2, Address: []byte("there")},
		&Fate{Rank: 2, State: 4, Code: -9},
		&Report{Rank: 2, Figures: []byte("{}")},
		&Offer{Slots: 4},
		&Keep{Timeout: 1},
		&Refused{Text: "no"},
		&Hosts{[]Host{{"a", 1}, {"b", 2}}},
	}
}

func TestEveryMessageSurvivesItsEncoding(t *testing.T) {
	seen := map[uint8]bool{}
	for _, want := range samples() {
		seen[want.kind()] = true
		got, err := decode(appendFrame(nil, want)[4:])
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%T: %v %s", want, err, diff)
		}
		unset(t, reflect.ValueOf(want).Elem())
	}
	if len(seen) != len(makers)-1 {
		t.Errorf("%d kinds of %d have a sample", len(seen), len(makers)-1)
	}
}

// unset fails the test for a field that a sample leaves at its zero value, which
// a forgotten line in fields would decode to.
func unset(t *testing.T, v reflect.Value) {
	for i := range v.NumField() {
		f := v.Field(i)
		if f.IsZero() && v.Type().Field(i).Name != "First" {
			t.Errorf("the sample of %v does not set %s", v.Type(), v.Type().Field(i).Name)
		}
	}
}

func TestDecodeIsStrict(t *testing.T) {
	for _, m := range samples() {
		b := appendFrame(nil, m)[4:]
		for n := range b {
			if got, err := decode(b[:n]); err == nil {
				t.Errorf("%T cut to %d of %d bytes decodes to %+v", m, n, len(b), got)
			}
		}
		if got, err := decode(append(b, 0)); err == nil {
			t.Errorf("%T with a byte too many decodes to %+v", m, got)
		}
	}
	for _, kind := range []byte{0, byte(len(makers)), 255} {
		if m, err := decode([]byte{kind}); err == nil {
			t.Errorf("kind %d decodes to %T", kind, m)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, m := range samples() {
		f.Add(appendFrame(nil, m)[4:])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decode(b)
		if err != nil {
			return
		}
		if diff := cmp.Diff(b, appendFrame(nil, m)[4:]); diff != "" {
			t.Errorf("%T: %s", m, diff)
		}
	})
}
