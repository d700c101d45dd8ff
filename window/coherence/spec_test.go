package coherence

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The specification, docs/coherence.tla, is read and evaluated as it stands. Every
// step of the Go code must be one that it allows, and for two hosts the other way
// round, too.

type specification struct {
	evaluator
	hosts int
}

func readSpecification(t testing.TB, hosts int) *specification {
	t.Helper()
	text, err := os.ReadFile("../../docs/coherence.tla")
	if err != nil {
		t.Fatal(err)
	}
	spec := &specification{hosts: hosts}
	spec.variables, spec.definitions = tlaModule(string(text))
	all := make([]value, hosts)
	for i := range all {
		all[i] = i
	}
	spec.constants = map[string]value{"Hosts": setFrom(all), "Home": 0}
	return spec
}

// A specState is the value of each variable, and a text that is the same for equal states.
type specState struct {
	key       string
	variables map[string]value
}

func (s *specification) stateOf(variables map[string]value) specState {
	var key strings.Builder
	for _, name := range s.variables {
		key.WriteString(name + " = " + keyOf(variables[name]) + "\n")
	}
	return specState{key.String(), variables}
}

// successors are the states that Next allows after state.
func (s *specification) successors(state specState) map[string]specState {
	s.now = state.variables
	return s.solutions("Next")
}

// solutions are the ways to make an action true, the current state given.
func (s *specification) solutions(action string) map[string]specState {
	all := map[string]specState{}
	s.next = map[string]value{}
	s.solve(s.definitions[action].read(), nil, func() {
		next := map[string]value{}
		for _, name := range s.variables {
			v, bound := s.next[name]
			if !bound {
				panic(action + " says nothing about " + name)
			}
			next[name] = v
		}
		state := s.stateOf(next)
		all[state.key] = state
	})
	return all
}

func (s *specification) holds(invariant string, state specState) bool {
	s.now = state.variables
	return s.is(s.definitions[invariant].read(), nil)
}

func (s *specification) initial() specState {
	s.now = map[string]value{}
	state := map[string]value{}
	for _, conjunct := range s.definitions["Init"].read().args { // x = e
		state[conjunct.args[0].name] = s.eval(conjunct.args[1], nil)
	}
	return s.stateOf(state)
}

// view is what a world is in the words of the specification.
func (s *specification) view(w *world) specState {
	each := func(of func(i uint8) value) value {
		var domain, values []value
		for i := range w.n {
			domain, values = append(domain, int(i)), append(values, of(i))
		}
		return functionFrom(domain, values)
	}
	return s.stateOf(map[string]value{
		"cache":  each(func(i uint8) value { return w.sides[i].cacheValue() }),
		"memory": each(func(i uint8) value { return contentValue(w.sides[i].memory, "hole") }),
		"dir":    w.sides[0].directoryValue(),
		"net":    each(func(i uint8) value { return each(func(j uint8) value { return w.wires[i][j].value() }) }),
	})
}

func (s *side) cacheValue() value {
	demand := "none"
	if s.entry.demand != None {
		demand = s.entry.demand.String()
	}
	return record("state", s.entry.state.String(), "wanted", s.entry.flags&wanted != 0, "held", s.entry.flags&held != 0, "demand", demand)
}

func contentValue(d Data, none string) value { return [...]string{none, "fresh", "stale"}[d] }

func (s *side) directoryValue() value {
	t := s.tr
	if t.data == Saved {
		t.data = s.saved
	}
	var queue []value
	for _, r := range t.queue[:t.queued] {
		queue = append(queue, r.value())
	}
	by := record("kind", "none", "host", 0)
	if s.busy {
		by = t.by.value()
	}
	return record("sharers", setValue(s.sharers), "serving",
		record("busy", s.busy, "by", by, "awaited", setValue(t.awaited), "data", contentValue(t.data, "none"), "queue", sequence(queue)))
}

func (r request) value() *tlaFunction { return record("kind", r.kind.String(), "host", int(r.host)) }

func setValue(s hostSet) value {
	var all []value
	s.each(func(h uint8) { all = append(all, int(h)) })
	return setFrom(all)
}

func (x *wire) value() value {
	var all []value
	for _, p := range x.packets[:x.n] {
		all = append(all, record("kind", p.kind.String(), "data", contentValue(p.data, "none")))
	}
	return sequence(all)
}

// For two hosts (in a soak, three), specification and code have the same states and the
// same steps, and the specification's own invariant holds in all of them.
func TestSpecificationAndCodeAreOne(t *testing.T) {
	hosts := 2
	if os.Getenv("GOLAUNCH_SOAK") != "" {
		hosts = 3
	}
	spec, l := readSpecification(t, hosts), newLab(hosts, false, everyFault...)
	g, err := l.graph()
	if err != nil {
		t.Fatal(err)
	}
	states := make([]specState, len(g.nodes))
	for i := range g.nodes {
		states[i] = spec.view(&g.nodes[i].world)
	}
	if first := spec.initial(); first.key != states[0].key {
		t.Fatalf("the specification begins in\n%s\nthe code in\n%s", first.key, states[0].key)
	}
	steps := 0
	for i, n := range g.nodes {
		if !spec.holds("Safe", states[i]) {
			t.Fatalf("not safe:\n%s", states[i].key)
		}
		allowed := spec.successors(states[i])
		done := map[string]bool{}
		for _, e := range g.edges[n.first:n.last] {
			done[states[e.to].key] = true
		}
		delete(allowed, states[i].key) // to do nothing is always allowed
		delete(done, states[i].key)
		steps += len(done)
		if err := sameKeys(done, allowed); err != nil {
			t.Fatalf("%v\nafter\n%s\n%v", err, states[i].key, n.world)
		}
	}
	t.Logf("%d states, %d steps", len(states), steps)
}

func sameKeys(done map[string]bool, allowed map[string]specState) error {
	for k := range done {
		if _, is := allowed[k]; !is {
			return fmt.Errorf("the code does what the specification forbids:\n%s", k)
		}
	}
	for k := range allowed {
		if !done[k] {
			return fmt.Errorf("the specification allows what the code does not do:\n%s", k)
		}
	}
	return nil
}

var errForbidden = errors.New("the specification forbids")

// A trace is a list of moves, a line each, from a file of testdata/traces.
func readTrace(file string) (hosts int, moves []string, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if n, is := strings.CutSuffix(lines.Text(), " hosts"); is {
			hosts, err = strconv.Atoi(n)
			continue
		}
		moves = append(moves, lines.Text())
	}
	return hosts, moves, errors.Join(err, lines.Err())
}

// Code and specification agree on traces of three and four hosts.
func TestTraces(t *testing.T) {
	files, err := filepath.Glob("testdata/traces/*.txt")
	if err != nil || len(files) == 0 && !*update {
		t.Fatalf("no traces: %v", err)
	}
	if *update {
		writeTraces(t)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			hosts, moves, err := readTrace(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := follow(readSpecification(t, hosts), newLab(hosts, false, everyFault...), moves); err != nil {
				t.Error(err)
			}
		})
	}
}

// follow makes the code and the specification take the moves.
func follow(spec *specification, l *lab, moves []string) error {
	w := l.start()
	state := spec.initial()
	for i, name := range moves {
		m, err := l.moveCalled(&w, name)
		if err != nil {
			return fmt.Errorf("move %d: %w", i+1, err)
		}
		if err := l.do(&w, m); err != nil && l.matters(err) {
			return fmt.Errorf("move %d, %s: %w", i+1, name, err)
		}
		next := spec.view(&w)
		if _, allowed := spec.successors(state)[next.key]; !allowed && next.key != state.key {
			return fmt.Errorf("move %d, %s: %w\n%safter\n%s", i+1, name, errForbidden, next.key, state.key)
		}
		if !spec.holds("Safe", next) {
			return fmt.Errorf("move %d, %s: not safe:\n%s", i+1, name, next.key)
		}
		state = next
	}
	return nil
}

func (l *lab) moveCalled(w *world, name string) (move, error) {
	for _, m := range l.moves(w, nil) {
		if m.String() == name {
			return m, nil
		}
	}
	return move{}, fmt.Errorf("%q cannot happen in\n%v", name, *w)
}

// walk is a random trace. Arrivals are likely, so that requests meet on their way. It
// is shorter where nothing happens any more.
func (l *lab) walk(seed uint64, length int) (names []string, err error) {
	r := rand.New(rand.NewPCG(seed, 4))
	w := l.start()
	for tries := 0; len(names) < length && tries < 20*length; tries++ {
		moves := l.moves(&w, nil)
		m := moves[r.IntN(len(moves))]
		if !m.own && r.IntN(3) > 0 {
			continue
		}
		before := w
		if err := l.do(&w, m); err != nil && l.matters(err) {
			return names, err
		}
		if w != before {
			names = append(names, m.String())
		}
	}
	return names, nil
}

func writeTraces(t *testing.T) {
	t.Helper()
	for _, hosts := range []int{3, 4} {
		for seed := range uint64(3) {
			moves, err := newLab(hosts, false, everyFault...).walk(seed, 150)
			if err != nil {
				t.Fatal(err)
			}
			file := fmt.Sprintf("testdata/traces/%d-hosts-%d.txt", hosts, seed)
			text := fmt.Sprintf("%d hosts\n%s\n", hosts, strings.Join(moves, "\n"))
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// The specification finds the mistakes that it speaks of: some trace of each mutant is
// forbidden.
func TestSpecificationFindsMistakes(t *testing.T) {
	for _, m := range mutants {
		if m.unspecified {
			continue
		}
		t.Run(m.mistake, func(t *testing.T) {
			spec := readSpecification(t, 3)
			for seed := range uint64(60) {
				l := m.lab()
				l.only = "the specification"
				moves, _ := l.walk(seed, 80)
				if err := follow(spec, l, moves); errors.Is(err, errForbidden) {
					return
				}
			}
			t.Error("every trace is allowed")
		})
	}
}
