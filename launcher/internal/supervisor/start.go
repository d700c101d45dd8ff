package supervisor

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/launcher/boot"
	"github.com/golaunch/golaunch/launcher/internal/control"
	"github.com/golaunch/golaunch/launcher/internal/cores"
	"github.com/golaunch/golaunch/launcher/internal/proc"
	"github.com/golaunch/golaunch/runtime/job"
)

// socketNumber is what a rank inherits its socket as.
const socketNumber = 3

// prepare notes what the job consists of, before any message about it comes.
func (s *supervisor) prepare(m *control.Start) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.size, s.starting = m.Size, true
	s.details = details(m, s.hosts)
	if m.Host >= 0 && m.Host < len(s.hosts) {
		s.host = s.hosts[m.Host].Name
	}
	for _, p := range m.Programs {
		for i := range p.Count {
			s.ranks[p.First+i] = &rank{number: p.First + i}
		}
	}
	return s.makeMemory(m)
}

// start starts every rank; err says why the job has no memory.
func (s *supervisor) start(m *control.Start, err error) {
	if err != nil {
		s.front.Send(&control.Trouble{Text: err.Error()})
	}
	bind := s.binding(m)
	beside := besideRanks(m, bind)
	for _, p := range m.Programs {
		for i := range p.Count {
			n := p.First + i
			s.ranks[n].pagerCPUs = beside(n)
			if err == nil {
				s.launch(&p, s.ranks[n], m.Stdin, bind(n))
			} else {
				s.front.Send(&control.NotStarted{Rank: n, Text: err.Error()})
			}
		}
	}
	s.started()
	s.input.ready()
}

// binding returns which CPUs a rank is bound to; nil: any. More ranks than cores
// share them in turn.
func (s *supervisor) binding(m *control.Start) func(rank int) *unix.CPUSet {
	var sets []unix.CPUSet
	if m.Bind {
		sets = cores.Sets()
	}
	first := firstRank(m.Programs)
	return func(rank int) *unix.CPUSet {
		if len(sets) == 0 {
			return nil
		}
		return &sets[(m.Core+rank-first)%len(sets)]
	}
}

// launch starts one rank and tells the front of it.
func (s *supervisor) launch(p *control.Program, r *rank, stdin int, cpus *unix.CPUSet) {
	w, err := newWires(stdin == r.number || stdin == control.AllRanks)
	if err == nil {
		err = s.spawn(p, r, w, cpus)
		w.closeTheirs()
	}
	if err == nil {
		return
	}
	w.closeOurs()
	s.memory.Report(r.number, job.Failed, job.CodeNotStarted)
	var errno syscall.Errno
	errors.As(err, &errno)
	s.front.Send(&control.NotStarted{Rank: r.number, Errno: int(errno), Text: startError(p, err)})
}

func startError(p *control.Program, err error) string {
	if p.Dir != "" {
		if info, statErr := os.Stat(p.Dir); statErr != nil || !info.IsDir() {
			return fmt.Sprintf("cannot run in directory %s: %v (program %s)", p.Dir, err, p.Path)
		}
	}
	return fmt.Sprintf("cannot run %s: %v", p.Path, err)
}

// spawn holds mu so that nothing is told of the rank before Started.
func (s *supervisor) spawn(p *control.Program, r *rank, w *wires, cpus *unix.CPUSet) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	pid, err := s.children.Start(proc.Command{
		Path: p.Path, Args: p.Args, Dir: p.Dir, DieWithParent: true, CPUs: cpus,
		Env:   s.environment(p.Env, r.number),
		Files: []*os.File{w.theirs[0], w.theirs[1], w.theirs[2], w.theirs[3]},
	}, func(e proc.Exit) { s.ended(r, e) })
	if err != nil {
		return err
	}
	r.pid, r.inherited = pid, w.socket
	s.front.Send(&control.Started{Rank: r.number, PID: pid})
	go s.listen(r)
	s.carry(r.number, control.Stdout, w.stdout)
	s.carry(r.number, control.Stderr, w.stderr)
	s.input.join(r.number, w.stdin)
	return nil
}

// environment is what a rank gets. What the supervisor says of it is not for the job to
// say: of two entries with one name some programs take the first and some the last.
func (s *supervisor) environment(env []string, rank int) []string {
	own := [...]string{
		boot.EnvSocket + "=" + strconv.Itoa(socketNumber),
		boot.EnvRank + "=" + strconv.Itoa(rank),
		boot.EnvSize + "=" + strconv.Itoa(s.size),
		boot.EnvHost + "=" + s.host,
	}
	contradicts := func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.ContainsFunc(own[:], func(o string) bool { return strings.HasPrefix(o, name+"=") })
	}
	return append(slices.DeleteFunc(slices.Clone(env), contradicts), own[:]...)
}
