package bootstrap

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/golaunch/golaunch/launcher/boot"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// on makes the cards of ranks on hosts called by letters; equal letters are one
// host, and a number behind is its network namespace.
func on(hosts ...string) []card {
	cards := make([]card, len(hosts))
	for rank, h := range hosts {
		cards[rank] = card{Version: boot.Version, Protocol: boot.Protocol, Name: h[:1], Machine: h[:1], Network: h, Host: h, CPUs: big.NewInt(3)}
	}
	cards[0].Lead = &lead{Job: "j", Secret: make([]byte, 32), Settings: boot.Settings{Transport: "auto", Timeout: time.Second}}
	return cards
}

func TestArrange(t *testing.T) {
	for _, tt := range []struct {
		ranks, names string
		hosts, first []int
		loopback     bool
	}{
		{"a", "a", []int{0}, []int{0}, true},
		{"a a a", "a", []int{0, 0, 0}, []int{0}, true},
		{"a b", "a b", []int{0, 1}, []int{0, 1}, false},
		{"b a b a", "b a", []int{0, 1, 0, 1}, []int{0, 1}, false}, // one after the other
		{"a1 a1 a2 b", "a/0 a/1 b", []int{0, 0, 1, 2}, []int{0, 2, 3}, false},
	} {
		a, err := arrange(on(strings.Fields(tt.ranks)...))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]any{tt.names, tt.hosts, tt.first, tt.loopback},
			[]any{strings.Join(a.names, " "), a.hosts, a.first, a.details().Settings.Loopback}); diff != "" {
			t.Errorf("%s: %s", tt.ranks, diff)
		}
		for rank := range a.hosts {
			if want := tt.first[tt.hosts[rank]] == rank; a.isFirst(rank) != want {
				t.Errorf("%s: rank %d is first: %v", tt.ranks, rank, !want)
			}
		}
	}
}

// Two process namespaces in one network are two hosts that the loopback joins.
func TestHostsOfOneNetwork(t *testing.T) {
	cards := on("a", "a")
	cards[1].Host = "other"
	a, err := arrange(cards)
	if err != nil || len(a.names) != 2 || !a.details().Settings.Loopback {
		t.Errorf("%+v, %v", a, err)
	}
}

// Hosts that one machine plays share its cores; ranks that are bound have theirs
// together.
func TestCores(t *testing.T) {
	cards := on("a1", "a1", "a2", "b")
	for rank, cpus := range []int64{0b0001, 0b0010, 0b0110, 0b1111} {
		cards[rank].CPUs = big.NewInt(cpus)
	}
	cards[3].Quota = 2
	a, err := arrange(cards)
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range [][2]int{{3, 3}, {3, 3}, {2, 1}} {
		if j := a.job(host); j.Cores != want[0] || j.Sharers != want[1] || j.Host != host {
			t.Errorf("host %d: %d ranks share %d cores, want %d and %d", host, j.Sharers, j.Cores, want[1], want[0])
		}
	}
}

func TestArrangeRefuses(t *testing.T) {
	older, protocol, shm := on("a", "b"), on("a", "b"), on("a", "b")
	older[1].Version = "0.0.1"
	protocol[1].Protocol = 1
	shm[0].Lead.Settings.Transport = "shm"
	stranger := []card{{Version: "9.0"}}
	for want, cards := range map[string][]card{
		"rank 0 does not say what holds for the job":                     stranger,
		"rank 1 (b) was built with version 0.0.1 of golaunch (protocol ": older,
		"(protocol 1) and rank 0 (a) with version ":                      protocol,
		"transport shm is asked for, and there are 2 hosts":              shm,
		"there are no ranks":                                             nil,
	} {
		if _, err := arrange(cards); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}

func TestOwnCard(t *testing.T) {
	t.Setenv(envInterface, "eth7")
	t.Setenv(envEncrypt, "1")
	t.Setenv(envTimeout, "3s")
	c := ownCard(0)
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	got, err := parseCard(text, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := boot.Settings{Transport: "auto", Interface: "eth7", Encrypt: true, Timeout: 3 * time.Second}
	if diff := cmp.Diff(want, got.Lead.Settings); diff != "" || got.CPUs.Sign() == 0 || got.Host != c.Host || strings.Contains(c.Host, "?") {
		t.Errorf("%+v %s", got, diff)
	}
	if other := ownCard(1); other.Error != "" || other.Lead != nil || other.Host != c.Host {
		t.Errorf("%+v", other)
	}
}

func TestSettingsAreChecked(t *testing.T) {
	for name, value := range map[string]string{envTransport: "tcp", envEncrypt: "yes", envTimeout: "ten"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			bad := ownCard(0)
			text, err := json.Marshal(bad)
			if err != nil {
				t.Fatal(err)
			}
			if bad, err = parseCard(text, 0); err != nil {
				t.Fatal(err)
			}
			other := ownCard(1) // rank 0 decides
			_, err = arrange([]card{bad, other})
			if want := "rank 0 (" + bad.Name + "): " + name + `="` + value + `"`; err == nil || other.Error != "" || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want an error with %q", err, want)
			}
		})
	}
}

func TestParseCardRefuses(t *testing.T) {
	for _, tt := range []struct {
		rank  int
		spoil func(*card)
		want  string
	}{
		{1, func(c *card) { c.Name = "" }, "rank 1's card makes no sense: no host"},
		{1, func(c *card) { c.Host = "" }, "no host"},
		{1, func(c *card) { c.CPUs = nil }, "CPUs"},
		{1, func(c *card) { c.CPUs = big.NewInt(-1) }, "CPUs"},
		{1, func(c *card) { c.CPUs = new(big.Int).Lsh(big.NewInt(1), maxCPU) }, "CPUs"},
		{1, func(c *card) { c.Quota = -1 }, "quota -1"},
		{0, func(c *card) { c.Lead = nil }, "leads: false"},
		{1, func(*card) {}, "leads: true"},
		{0, func(c *card) { c.Lead.Job = "" }, `job ""`},
		{0, func(c *card) { c.Lead.Secret = c.Lead.Secret[:15] }, "a secret of 15 bytes"},
		{0, func(c *card) { c.Lead.Settings.Timeout = 0 }, "timeout 0s"},
	} {
		c := on("a")[0]
		tt.spoil(&c)
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parseCard(text, tt.rank); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want an error with %q", err, tt.want)
		}
	}
}

// Cards of other versions are refused by arrange, by name, whatever they say.
func TestParseCardOfAnotherVersion(t *testing.T) {
	c, err := parseCard([]byte(`{"Version":"9.0","Protocol":77,"CPUs":"all","Name":"n"}`), 1)
	if err != nil || c.Version != "9.0" || c.Protocol != 77 {
		t.Errorf("%+v, %v", c, err)
	}
}

func FuzzParseCard(f *testing.F) {
	for _, c := range on("a", "a") {
		text, err := json.Marshal(c)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, c.Lead != nil)
	}
	f.Add([]byte(`{"Version":"9.0","CPUs":{}}`), false)
	f.Fuzz(func(t *testing.T, text []byte, leads bool) {
		rank := 1
		if leads {
			rank = 0
		}
		c, err := parseCard(text, rank)
		if err != nil || !leads {
			return
		}
		if a, err := arrange([]card{c}); err == nil {
			a.job(0)
		}
	})
}
