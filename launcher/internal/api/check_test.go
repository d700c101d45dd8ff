package api

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestSenselessRequests(t *testing.T) {
	place := func(change func(*PlaceRequest)) *PlaceRequest { p := goodPlace(); change(&p); return &p }
	spawn := func(change func(*SpawnRequest)) *SpawnRequest { s := goodSpawn(); change(&s); return &s }
	deep := SpawnNode{Host: "a", Address: "a:1", Token: "t"}
	for range maxDepth {
		deep = SpawnNode{Host: "a", Address: "a:1", Token: "t", Children: []SpawnNode{deep}}
	}
	for _, tt := range []struct {
		q    interface{ check() error }
		want string // "": it makes sense
	}{
		{place(func(*PlaceRequest) {}), ""},
		{place(func(p *PlaceRequest) { p.Job = "" }), "a job's name has 1 to 32 bytes, and not 0"},
		{place(func(p *PlaceRequest) { p.Job = "a/b" }), `"a/b" is no job's name: '/' is in it`},
		{place(func(p *PlaceRequest) { p.Job = ".." }), `".." is no job's name: it begins with '.'`},
		{place(func(p *PlaceRequest) { p.Ranks = 0 }), "the number of ranks is 1 to 65536, and not 0"},
		{place(func(p *PlaceRequest) { p.Hosts = []string{"-n"} }), "begins with '-'"},
		{place(func(p *PlaceRequest) { p.Hosts = make([]string, MaxHosts+1) }), "more hosts"},
		{place(func(p *PlaceRequest) { p.Labels = map[string]string{"a b": ""} }), "is no label's name"},
		{place(func(p *PlaceRequest) { p.Labels = map[string]string{"a": "\x1b[2J"} }), "the value of label a is"},
		{place(func(p *PlaceRequest) { p.Needs = make([]Need, maxNeeds+1) }), "65 programs are asked about"},
		{place(func(p *PlaceRequest) { p.Needs = []Need{{Program: "a\nb"}} }), "a program's name is"},
		{spawn(func(*SpawnRequest) {}), ""},
		{spawn(func(s *SpawnRequest) { s.Key = []byte("short") }), "the job's key has 5 bytes"},
		{spawn(func(s *SpawnRequest) { s.Join = nil }), "there are 0 addresses to join at"},
		{spawn(func(s *SpawnRequest) { s.Join = []string{"a"} }), `"a" is no address`},
		{spawn(func(s *SpawnRequest) { s.Join = []string{"a:0"} }), "its port is not 1 to 65535"},
		{spawn(func(s *SpawnRequest) { s.Join = []string{":7"} }), `":7" is no address`},
		{spawn(func(s *SpawnRequest) { s.Nodes[0].Children[0].Host = "b c" }), "is no host's name"},
		{spawn(func(s *SpawnRequest) { s.Nodes[0].Children[0].Token = "" }), "a reservation's name"},
		{spawn(func(s *SpawnRequest) { s.Nodes = []SpawnNode{deep} }), "more hosts than a launch can have"},
		{&ReserveRequest{Job: "j", Token: "t", Slots: MaxRanks + 1, Hold: 1}, "the number of ranks"},
		{&ReserveRequest{Job: "j", Token: "t", Slots: 1}, "a reservation lasts 24h0m0s at most, and not 0s"},
		{&RenewRequest{Job: "j", Hold: MaxHold + 1}, "a reservation lasts 24h0m0s at most"},
		{&RenewRequest{Job: "j", Hold: 1, Blocks: []Block{{Host: "a", Address: "a:1", Ranks: 1, Token: "/"}}}, "is no reservation's name"},
		{place(func(p *PlaceRequest) { p.Hold = -1 }), "a reservation lasts"},
		{spawn(func(s *SpawnRequest) { s.Wait = 0 }), "supervisors may try to join for 0s"},
		{&ReleaseRequest{Job: "j", Blocks: []Block{{Host: "a", Address: "a:1", Ranks: 1, Token: "/"}}}, "is no reservation's name"},
		{&AttachRequest{Job: "j", Front: Front{PID: 1, Ranks: 1}}, ""},
		{&AttachRequest{Job: "j", Front: Front{PID: 0, Ranks: 1}}, "0 is no process"},
		{&AttachRequest{Job: "j", Front: Front{PID: 1, Ranks: 1}, Hosts: []string{"a", "b/c"}}, `"b/c" is no host's name`},
		{&AttachRequest{Job: "j", Front: Front{PID: 1, Ranks: 1, User: "\x07"}}, "the user is"},
		{&AttachRequest{Job: "j", Front: Front{PID: 1, Ranks: 1, Command: strings.Repeat("x", maxText+1)}}, "the command has"},
		{&LogsRequest{Job: "a\x00"}, "is no job's name"},
	} {
		err := tt.q.check()
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%T: %v, want %q", tt.q, err, tt.want)
		}
	}
}

// FuzzRequests: whatever is sent as any request is either refused or makes sense, and
// then survives being sent again.
func FuzzRequests(f *testing.F) {
	p, s := goodPlace(), goodSpawn()
	for _, q := range []any{p, s, HostRequest{}, ReserveRequest{Job: "j", Token: "t", Slots: 1, Hold: 1}, RenewRequest{Job: "j", Hold: 1}, AttachRequest{Job: "j", Front: Front{PID: 1, Ranks: 1}}, LogsRequest{Job: "j"}} {
		text, err := json.Marshal(q)
		if err != nil {
			f.Fatal(err)
		}
		for kind := range len(decoders()) {
			f.Add(kind, text)
		}
	}
	f.Fuzz(func(t *testing.T, kind int, text []byte) {
		all := decoders()
		all[max(kind, 0)%len(all)](t, text)
	})
}

// decoders are one for each request.
func decoders() []func(*testing.T, []byte) {
	return []func(*testing.T, []byte){
		again[HostRequest], again[NodesRequest], again[PlaceRequest], again[ReserveRequest], again[RenewRequest], again[ReleaseRequest], again[SpawnRequest],
		again[JobsRequest], again[KillRequest], again[AttachRequest], again[LogsRequest], again[failure],
	}
}

func again[Q any, P request[Q]](t *testing.T, text []byte) {
	var q, r Q
	if decode(bytes.NewReader(text), P(&q)) != nil {
		return
	}
	text, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	if err := decode(bytes.NewReader(text), P(&r)); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if text2, _ := json.Marshal(r); !bytes.Equal(text, text2) {
		t.Fatalf("%s became %s", text, text2)
	}
}
