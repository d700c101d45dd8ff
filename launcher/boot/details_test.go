package boot

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Many hosts with long names need several packets.
func TestDetailsOfAWelcome(t *testing.T) {
	f := inherit(t)
	f.details = Details{
		Job: "j", Secret: []byte{0, 255, 7},
		Settings: Settings{Transport: "tcp", Interface: "eth0", Loopback: true, Encrypt: true, Timeout: time.Second, Stats: true},
	}
	var want []string
	for _, letter := range []string{"a", "b", "c"} {
		name := strings.Repeat(letter, MaxText)
		f.details.Hosts = append(f.details.Hosts, Hosts{name, 2})
		want = append(want, name, name)
	}
	s := f.join(1, 2)
	defer s.Close()
	defer s.JobMemory().Close()
	if diff := cmp.Diff(want, s.HostNames()); diff != "" {
		t.Error(diff)
	}
	if s.Job() != "j" || string(s.Secret()) != "\x00\xff\x07" || s.Settings() != f.details.Settings {
		t.Errorf("job %q, secret %q, %+v", s.Job(), s.Secret(), s.Settings())
	}
}

func TestConnectRefusesDetails(t *testing.T) {
	for want, bad := range map[string]struct {
		announced int64
		packet    Packet
	}{
		"announces -1 bytes":          {-1, Packet{}},
		"announces 16777217 bytes":    {maxDetails + 1, Packet{}},
		"a packet of kind 9":          {1, Packet{Kind: Done}},
		"kind 13 with 0 bytes":        {1, Packet{Kind: More}},
		"the job's details: invalid":  {1, Packet{Kind: More, Text: "x"}},
		`speak of 0 hosts named "a"`:  {1, Packet{Kind: More, Text: `{"Hosts":[{"Name":"a","Count":0}]}`}},
		`of 65536 hosts named "b"`:    {1, Packet{Kind: More, Text: `{"Hosts":[{"Name":"a","Count":1},{"Name":"b","Count":65536}]}`}},
		"the job's details: json: ca": {1, Packet{Kind: More, Text: `{"Job":3}`}},
	} {
		t.Run(want, func(t *testing.T) {
			f := inherit(t)
			memory := temporary(t, "")
			before := openDescriptors(t)
			var wg sync.WaitGroup
			wg.Go(func() {
				f.hello()
				f.send(Packet{Kind: Welcome, Size: 1, Bytes: bad.announced}, memory)
				if bad.packet.Kind != 0 {
					f.send(bad.packet, memory)
				}
			})
			s, err := Connect(t.Context())
			wg.Wait()
			if s != nil || err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Connect = %v, %v, want an error with %q", s, err, want)
			}
			f.hangUp()
			if after := openDescriptors(t); after != before {
				t.Errorf("%d descriptors open, %d before", after, before)
			}
		})
	}
}

func FuzzParseDetails(f *testing.F) {
	f.Add([]byte(`{"Job":"j","Secret":"AAEC","Settings":{"Timeout":5},"Hosts":[{"Name":"a","Count":2}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := parseDetails(text)
		if err != nil {
			return
		}
		if n := len(d.names()); n > maxHosts {
			t.Errorf("%d hosts", n)
		}
	})
}

func TestSetAddressAndReport(t *testing.T) {
	s, f := connected(t)
	go func() {
		for _, kind := range []Kind{Address, Report} {
			p, _ := f.expect(kind)
			if p.Text != "\xffhere" {
				t.Errorf("kind %d: %q", kind, p.Text)
			}
			f.send(Packet{Kind: Done, ID: p.ID}, nil)
		}
	}()
	if err := s.SetAddress([]byte("\xffhere")); err != nil {
		t.Error(err)
	}
	if err := s.Report([]byte("\xffhere")); err != nil {
		t.Error(err)
	}
	if err := s.Report(make([]byte, MaxText+1)); err == nil || !strings.Contains(err.Error(), "rank 1: reporting 2049 bytes of figures: there can be 2048") {
		t.Error(err)
	}
}
