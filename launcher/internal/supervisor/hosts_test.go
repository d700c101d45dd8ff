package supervisor

import (
	"os"
	"testing"

	"github.com/golaunch/golaunch/launcher/internal/control"
	"github.com/golaunch/golaunch/runtime/job"
)

// startElsewhere starts rank 1 of 3; rank 0 and rank 2 are on hosts of their own.
func (f *front) startElsewhere(apart bool) {
	f.conn.Send(&control.Hosts{Hosts: []control.Host{{Name: "a", Ranks: 1}, {Name: "b", Ranks: 1}, {Name: "c", Ranks: 1}}})
	f.conn.Send(&control.Start{
		Job: "job", Size: 3, Stdin: control.NoRank, Secret: []byte("hush"), Host: 1, Sharers: 2, Apart: apart,
		Settings: control.Settings{Transport: "tcp", Interface: "lo", Loopback: true, Encrypt: true, Stats: true, Timeout: 7},
		Programs: []control.Program{{First: 1, Count: 1, Path: "/bin/sh", Args: []string{"sh", "-c", rankProgram("details")}, Env: os.Environ()}},
	})
}

func TestRanksElsewhere(t *testing.T) {
	t.Parallel()
	for name, apart := range map[string]bool{"hosts": false, "apart": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFront(t)
			f.startElsewhere(apart)
			if a := expect[*control.Address](f); a.Rank != 1 || string(a.Address) != "I am here" {
				t.Errorf("%+v", a)
			}
			if r := expect[*control.Report](f); r.Rank != 1 || string(r.Figures) != "{}" {
				t.Errorf("%+v", r)
			}
			f.output(1, control.Stdout, "\n")
			f.conn.Send(&control.Fate{Rank: 1, State: int(job.Failed), Code: -9}) // all are told, this host, too
			f.conn.Send(&control.Address{Rank: 2, Address: []byte("I am there")})
			f.output(1, control.Stdout, "there")
			f.conn.Send(&control.Fate{Rank: 2, State: int(job.Failed), Code: -9})
			if e := expect[*control.Exited](f); e.Rank != 1 || e.Code != 0 {
				t.Errorf("%+v: %s", e, f.text[outputID{1, 2}])
			}
			f.conn.Send(&control.Finish{})
			expect[*control.Done](f)
			want := `job hush "b" on b of ["a" "b" "c"], {Transport:tcp Interface:lo Loopback:true Encrypt:true Timeout:7ns Stats:true}, hosts 3, sharers 2, ` +
				`"I am here", again: rank 1: announcing its address of 7 bytes: it has announced one` + "\n" +
				`rank 2 is at "I am there"` + "\nrank 2 (c) failed: killed by signal 9 (killed)\n"
			if got := f.text[outputID{1, 1}]; got != want {
				t.Errorf("%s\nwant\n%s", got, want)
			}
		})
	}
}

// A front that speaks of ranks that are not elsewhere is not to be trusted with
// anything.
func TestNonsenseAboutRanksElsewhere(t *testing.T) {
	t.Parallel()
	for _, m := range []control.Message{
		&control.Fate{Rank: 3}, &control.Address{Rank: -1},
		&control.Address{Rank: 2, Address: make([]byte, job.MaxAddress+1)},
	} {
		f := newFront(t)
		f.startElsewhere(false)
		expect[*control.Address](f)
		f.conn.Send(m)
		if err := f.exit(); err == nil {
			t.Errorf("%T%+v: the supervisor goes on", m, m)
		}
	}
}
