package member

import (
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/memberlist"
)

func TestMembersMeet(t *testing.T) {
	t.Parallel()
	meta := Meta{Control: 4711, Slots: 4, Cores: 8, Memory: 1 << 40, Labels: 7, Platform: "linux/amd64", Version: "0.1.0"}
	meta.Devices[0] = Device{"gpu", 2}
	a := start(t, "a", func(o *Options) { o.Meta = meta })
	b := start(t, "b", nil, a)
	c := start(t, "c", nil, b)
	awaitList(t, "a b c", a, b, c)
	seen := c.Members()[0]
	got := seen.Meta
	got.life, got.keys = 0, [4]uint32{}
	if got != meta || seen.Problem != "" || seen.Addr != a.Self().Addr || seen.Control().Port() != 4711 {
		t.Errorf("%+v", seen)
	}
	if a.Problem() != nil || c.Problem() != nil {
		t.Error(a.Problem(), c.Problem())
	}
	if sent, received := c.Traffic(); sent == 0 || received == 0 {
		t.Error("nothing was counted")
	}
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	a := start(t, "a", nil)
	b := start(t, "b", nil, a)
	awaitList(t, "a b", a, b)
	events, cancel := b.Watch()
	defer cancel()
	if err := a.Update(Meta{Slots: 9}); err != nil {
		t.Fatal(err)
	}
	if e := awaitEvent(t, events, Updated, "a"); e.Member.Meta.Slots != 9 {
		t.Errorf("%+v", e.Member)
	}
	if err := a.Update(Meta{Version: strings.Repeat("x", 33)}); err == nil || !strings.Contains(err.Error(), "does not fit in 32") {
		t.Error(err)
	}
	if a.Self().Meta.Slots != 9 {
		t.Error("what does not fit has changed something")
	}
}

// Who leaves has left; who does not say so is dead, and may come back.
func TestLeavingAndDying(t *testing.T) {
	t.Parallel()
	a := start(t, "a", nil)
	b := start(t, "b", nil, a)
	c := start(t, "c", nil, a)
	d := start(t, "d", nil, b)
	awaitList(t, "a b c d", a, b, c, d)
	if err := c.Leave(5 * time.Second); err != nil {
		t.Error(err)
	}
	c.Close()
	awaitList(t, "a b c=left d", a, b, d)
	began := time.Now()
	d.Close()
	awaitList(t, "a b c=left d=dead", a, b)
	t.Logf("the death was known after %v", time.Since(began).Round(time.Millisecond))
	start(t, "d", nil, a)
	start(t, "c", nil, b)
	awaitList(t, "a b c d", a, b)
	if err := c.Leave(time.Second); err != nil {
		t.Error(err)
	}
}

// A member that comes back at once, and at another port, has restarted or is back.
func TestRestart(t *testing.T) {
	t.Parallel()
	a := start(t, "a", nil)
	b := start(t, "b", nil, a)
	awaitList(t, "a b", a, b)
	before := b.Self()
	events, cancel := a.Watch()
	defer cancel()
	b.Close()
	again := start(t, "b", func(o *Options) { o.Port = int(before.Addr.Port()) }, a)
	awaitEvent(t, events, Restarted, "b")
	if now := again.Self(); now.Addr != before.Addr || now.Meta.life <= before.Meta.life {
		t.Errorf("%+v, before %+v", now, before)
	}
	again.Close()
	elsewhere := start(t, "b", nil, a)
	awaitList(t, "a b", elsewhere)
	await(t, a, "b at its new address", func(m []Member) bool { return list(m) == "a b" && m[1].Addr == elsewhere.Self().Addr })
}

// A member finds the others again although nobody tells it where they are.
func TestSnapshot(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "members")
	a := start(t, "a", nil)
	remembers := func(o *Options) { o.Snapshot = file }
	b := start(t, "b", remembers, a)
	awaitList(t, "a b", a, b)
	b.Close()
	alone := start(t, "b", remembers)
	awaitList(t, "a b", alone)
	alone.Close()
	a.Close()
	// Alone for a whole life, it still remembers.
	for range 2 {
		c := start(t, "b", remembers)
		c.Close()
	}
	s, err := readSnapshot(file)
	if err != nil || len(s.members) != 1 || s.members[0].name != "a" {
		t.Errorf("%+v, %v", s, err)
	}
}

// What a member knows is in the file soon after it has heard of it, also if it is killed
// then.
func TestSnapshotIsTimely(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "members")
	b := start(t, "b", func(o *Options) { o.Snapshot = file })
	begin := time.Now()
	for _, name := range []string{"a", "c"} { // the second when the file has just been written
		start(t, name, nil, b)
		awaitRemembered(t, file, name)
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("two members were written after %v", took)
	}
}

// awaitRemembered waits until a file has a member; there is no event for that.
func awaitRemembered(t *testing.T, file, name string) {
	t.Helper()
	pause, late := time.NewTicker(10*time.Millisecond), time.After(deadline)
	defer pause.Stop()
	for {
		s, err := readSnapshot(file)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(s.members, func(m remembered) bool { return m.name == name }) {
			return
		}
		select {
		case <-pause.C:
		case <-late:
			t.Fatalf("%s is not in %+v within %v", name, s.members, deadline)
		}
	}
}

// The file is written once a second at most, and only if it would say something else.
func TestSnapshotIsWrittenSeldom(t *testing.T) {
	now := time.Unix(1e9, 0)
	file := filepath.Join(t.TempDir(), "members")
	s := snapshot{life: 1, dirty: true}
	for _, name := range []string{"a", "b"} {
		if wait := s.wait(now); wait != 0 {
			t.Errorf("it waits %v", wait)
		}
		s.members = append(s.members, remembered{name, netip.MustParseAddrPort("10.0.0.1:7946")})
		if err := s.save(file, now); err != nil {
			t.Fatal(err)
		}
		if s.wait(now) < time.Minute {
			t.Error("it is written although nothing has changed")
		}
		s.dirty = true
		if wait := s.wait(now); wait != saveEvery {
			t.Errorf("it waits %v for the next time", wait)
		}
		now = now.Add(saveEvery)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := s.save(file, now); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("what was written already is written again")
	}
}

// The second host with a name is not let in, both hear of it, and it gets the name
// when the first is gone.
func TestNameClash(t *testing.T) {
	t.Parallel()
	a := start(t, "a", nil)
	b := start(t, "b", nil, a)
	awaitList(t, "a b", a, b)
	second, err := Start(Options{Name: "b", Bind: "127.0.0.1", Keys: keyOf(t, "a"), Profile: Local, Join: []string{a.Self().Addr.String()}})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	events, cancel := second.Watch()
	defer cancel()
	if e := awaitEvent(t, events, Clashed, "b"); e.Member.Addr != b.Self().Addr {
		t.Errorf("%+v", e.Member)
	}
	if got := list(second.Members()); got != "b" {
		t.Errorf("it sees %s", got)
	}
	b.Leave(5 * time.Second)
	b.Close()
	awaitList(t, "a b", a, second)
}

func TestStartRefuses(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	good := Options{Name: "a", Bind: "127.0.0.1", Keys: keyOf(t, "a"), Profile: LAN}
	for want, change := range map[string]func(*Options){
		"without a key only loopback may be bound": func(o *Options) { o.Keys, o.Bind = nil, "0.0.0.0" },
		"192.0.2.1: without a key":                 func(o *Options) { o.Keys, o.Bind = nil, "192.0.2.1" },
		`bind "eth0": it is not an IP address`:     func(o *Options) { o.Bind = "eth0" },
		`advertise "0.0.0.0": it is not the IP`:    func(o *Options) { o.Advertise = "0.0.0.0" },
		"a member needs a name":                    func(o *Options) { o.Name = "" },
		`the name "a b" has a character`:           func(o *Options) { o.Name = "a b" },
		"is longer than 63":                        func(o *Options) { o.Name = strings.Repeat("a", 64) },
		`gossip profile "": it is one of`:          func(o *Options) { o.Profile = "" },
		`port "x" is not 1 to 65535`:               func(o *Options) { o.Join = []string{"host:x"} },
		"gossip port 70000":                        func(o *Options) { o.Port = 70000 },
		"does not fit in 16 printable":             func(o *Options) { o.Meta.Platform = strings.Repeat("x", 17) },
		"address already in use":                   func(o *Options) { o.Port = port },
		"bind: cannot assign requested address":    func(o *Options) { o.Bind = "192.0.2.1" },
	} {
		o := good
		change(&o)
		c, err := Start(o)
		if err == nil {
			c.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Whoever has another key, or none, is not there.
func TestOtherKeys(t *testing.T) {
	t.Parallel()
	a := start(t, "a", nil)
	other := start(t, "b", func(o *Options) { o.Keys = keyOf(t, "b") }, a)
	none := start(t, "c", func(o *Options) { o.Keys = nil }, a)
	good := start(t, "d", nil, a)
	awaitList(t, "a d", a, good)
	for c, want := range map[*Cluster]string{other: "the member there holds another key", none: a.Self().Addr.String()} {
		late := time.After(deadline)
		for c.Problem() == nil { // there is no event for that
			select {
			case <-late:
				t.Fatalf("%s has no problem", c.o.Name)
			case <-time.After(10 * time.Millisecond):
			}
		}
		if err := c.Problem(); !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", c.o.Name, err, want)
		}
	}
	awaitList(t, "a d", a)
}

// Without a key there are clusters on loopback.
func TestNoKey(t *testing.T) {
	t.Parallel()
	noKey := func(o *Options) { o.Keys, o.Bind = nil, "" }
	a := start(t, "a", noKey)
	b := start(t, "b", noKey, a)
	awaitList(t, "a b", a, b)
	if err := a.Rekey(keyOf(t, "a")); err == nil || !strings.Contains(err.Error(), "without a key") {
		t.Error(err)
	}
}

// A member that says garbage of itself is there, cannot be used, and the reason is
// given; one with a bad name is not there.
func TestGarbledMeta(t *testing.T) {
	t.Parallel()
	a := start(t, "a", func(o *Options) { o.Keys = nil })
	for name, meta := range map[string]string{"garbled": "\x01abc", "newer": "\x02" + strings.Repeat("x", 500), "silent": "", "bad name": ""} {
		settings := memberlist.DefaultLocalConfig()
		settings.Name, settings.BindAddr, settings.BindPort = name, "127.0.0.1", 0
		settings.Logger = newLogger(a.o.Log)
		settings.Delegate = rawMeta{meta: meta}
		raw, err := memberlist.Create(settings)
		if err != nil {
			t.Fatal(err)
		}
		defer raw.Shutdown()
		if _, err := raw.Join([]string{a.Self().Addr.String()}); err != nil {
			t.Fatal(err)
		}
	}
	awaitList(t, "a garbled newer silent", a)
	for i, want := range []string{"", "is garbled (4 bytes", "has format 2, and this golaunch reads 1", "it says nothing of itself"} {
		if got := a.Members()[i].Problem; !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

type rawMeta struct {
	delegate
	meta string
}

func (r rawMeta) NodeMeta(int) []byte             { return []byte(r.meta) }
func (r rawMeta) NotifyMsg([]byte)                {}
func (r rawMeta) GetBroadcasts(_, _ int) [][]byte { return nil }

// Strangers say all sorts of things to a member, and hold streams open.
func TestStrangers(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Options){"with a key": nil, "without": func(o *Options) { o.Keys = nil }} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := start(t, "a", change)
			b := start(t, "b", change, a)
			awaitList(t, "a b", a, b)
			target := a.Self().Addr.String()
			packets, err := net.Dial("udp", target)
			if err != nil {
				t.Fatal(err)
			}
			defer packets.Close()
			for i := range 2000 {
				packets.Write([]byte(strings.Repeat(string(rune(i)), 1+i%400)))
			}
			for i := range 3 * maxStreams {
				c, err := net.Dial("tcp", target)
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				if i%2 == 0 {
					c.Write([]byte(strings.Repeat(string(rune(i)), i)))
				}
			}
			a.wire.mu.Lock()
			if n := len(a.wire.open); n > maxStreams+8 {
				t.Errorf("%d streams are open", n)
			}
			a.wire.mu.Unlock()
			if change == nil { // without a key, strangers on this host are members
				c := start(t, "c", change, a)
				awaitList(t, "a b c", a, b, c)
			}
		})
	}
}
