package shm

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// The exhaustive test takes the ring through every interleaving of the steps of
// its two ends, for every short sequence of message lengths. A step is a method
// of producer or consumer, each of which touches what the other end synchronises
// on at most once.

const exploreBytes = 7 * unitBytes // of data: two or three records

// An exploreWorld is one state. Steps of the producer are those of offer, by name.
type exploreWorld struct {
	script  []string // what the producer does for one message
	lengths []int    // of the messages

	p     producer
	c     consumer
	pc    int   // the producer's place in script
	sent  int   // messages published
	taken int   // messages taken
	held  []int // where the messages lie that were not released: offset, length
	pad   int   // of the message that is being sent
}

var offerScript = []string{"has", "look", "clear", "publishPad", "fill", "clear", "publish", "clearAhead"}

func newExploreWorld(script []string, lengths []int) *exploreWorld {
	w := &exploreWorld{script: script, lengths: lengths}
	data, err := overlay(make([]byte, exploreBytes))
	if err != nil {
		panic(err)
	}
	head := new(atomic.Uint64)
	w.p, w.c = producer{data: data, head: head}, consumer{data: data, head: head}
	return w
}

func (w *exploreWorld) clone() *exploreWorld {
	n := *w
	data, err := overlay(slices.Clone(w.p.data.bytes))
	if err != nil {
		panic(err)
	}
	n.p.data, n.c.data = data, data
	head := new(atomic.Uint64)
	head.Store(w.p.head.Load())
	n.p.head, n.c.head = head, head
	n.held = slices.Clone(w.held)
	return &n
}

func (w *exploreWorld) key() string {
	return string(w.p.data.bytes) + fmt.Sprint(w.p.head.Load(), w.p.at, w.p.tail, w.p.seen, w.p.number, w.p.zero,
		w.c.at, w.c.taken, w.c.freed, w.c.number, w.pc, w.sent, w.taken, w.held, w.pad)
}

func exploreMessage(k, n int) []byte {
	msg := make([]byte, n)
	for i := range msg {
		msg[i] = byte(0x80 + 16*k + i + 1)
	}
	return msg
}

// produce does the producer's next step. The steps before a publish that do not
// apply (no pad, room known) are passed over.
func (w *exploreWorld) produce() error {
	if w.sent == len(w.lengths) {
		return nil
	}
	msg := exploreMessage(w.sent, w.lengths[w.sent])
	record := recordBytes(len(msg))
	if w.pc == 0 {
		w.pad = w.p.padFor(record)
	}
	switch w.script[w.pc] {
	case "has":
		if w.p.has(w.pad + record) {
			w.pc++ // past look
		}
	case "look":
		if err := w.p.look(); err != nil || !w.p.has(w.pad+record) {
			return err
		}
	case "clear":
		w.clearStep(record)
	case "publishPad":
		if w.pad > 0 {
			w.p.publishPad(w.pad)
		}
	case "fill":
		w.p.fill(msg)
	case "publish":
		w.p.publish(len(msg))
	case "clearAhead":
		w.p.clearAhead()
	}
	w.pc++
	if w.pc == len(w.script) {
		w.pc, w.sent = 0, w.sent+1
	}
	return nil
}

// clearStep is the first clear, of the word a pad leads to, or the second one, of
// the word behind the record.
func (w *exploreWorld) clearStep(record int) {
	first := slices.Index(w.script, "clear") == w.pc
	switch {
	case !first && w.p.behind(record) != w.p.zero:
		w.p.clear(w.p.behind(record))
	case first && w.pad > 0:
		w.p.clear(0)
	}
}

// consume is one load of take: a pad takes two, with steps of the producer
// between them.
func (w *exploreWorld) consume() error {
	h, err := w.c.next()
	if err != nil || h == 0 {
		return err
	}
	if h.pad() {
		w.c.advance(wordBytes + h.length())
		return nil
	}
	first := w.c.at + wordBytes
	w.c.advance(recordBytes(h.length()))
	w.held = append(w.held, first, h.length())
	w.taken++
	return w.compareHeld()
}

func (w *exploreWorld) release() error {
	if err := w.compareHeld(); err != nil {
		return err
	}
	w.c.release()
	w.held = nil
	return nil
}

// compareHeld looks at the messages that are the reader's.
func (w *exploreWorld) compareHeld() error {
	for i := 0; i < len(w.held); i += 2 {
		k := w.taken - len(w.held)/2 + i/2
		if k >= len(w.lengths) {
			return fmt.Errorf("message %d was never sent", k)
		}
		got := w.p.data.bytes[w.held[i] : w.held[i]+w.held[i+1]]
		if want := exploreMessage(k, w.lengths[k]); string(got) != string(want) {
			return fmt.Errorf("message %d reads %x, want %x", k, got, want)
		}
	}
	return nil
}

// invariants are those of the package's comments.
func (w *exploreWorld) invariants() error {
	head := w.p.head.Load()
	switch {
	case w.p.seen > head || head > w.p.tail || w.p.tail-head+spare > exploreBytes:
		return fmt.Errorf("seen %d, head %d, tail %d", w.p.seen, head, w.p.tail)
	case w.c.freed != head || w.c.taken < head || w.c.taken > w.p.tail:
		return fmt.Errorf("head %d, freed %d, taken %d, tail %d", head, w.c.freed, w.c.taken, w.p.tail)
	case w.p.data.words[w.p.at/wordBytes].Load() != 0:
		return fmt.Errorf("the word at tail is not 0")
	}
	return nil
}

func (w *exploreWorld) final() bool {
	return w.sent == len(w.lengths) && w.taken == w.sent && w.c.freed == w.p.tail
}

// explore visits every state that can be reached, and returns how many.
func explore(script []string, lengths []int) (int, error) {
	start := newExploreWorld(script, lengths)
	seen := map[string]bool{start.key(): true}
	todo := []*exploreWorld{start}
	for len(todo) > 0 {
		w := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		next, err := successors(w)
		if err != nil {
			return len(seen), fmt.Errorf("lengths %v: %w", lengths, err)
		}
		if len(next) == 0 && !w.final() {
			return len(seen), fmt.Errorf("lengths %v: stuck after %d sent, %d taken", lengths, w.sent, w.taken)
		}
		for _, n := range next {
			if key := n.key(); !seen[key] {
				seen[key] = true
				todo = append(todo, n)
			}
		}
	}
	return len(seen), nil
}

// successors are the states one step away that differ from w.
func successors(w *exploreWorld) ([]*exploreWorld, error) {
	var next []*exploreWorld
	for _, step := range []func(*exploreWorld) error{
		(*exploreWorld).produce, (*exploreWorld).consume, (*exploreWorld).release,
	} {
		n := w.clone()
		if err := step(n); err != nil {
			return nil, err
		}
		if err := n.invariants(); err != nil {
			return nil, err
		}
		if n.key() != w.key() {
			next = append(next, n)
		}
	}
	return next, nil
}

// eachLengths calls visit with every sequence of up to count lengths.
func eachLengths(count int, visit func([]int) error) error {
	var extend func(prefix []int) error
	extend = func(prefix []int) error {
		if len(prefix) == count {
			return visit(prefix)
		}
		for _, n := range []int{5, unitBytes, 2 * unitBytes} { // one unit, two, three
			if err := extend(append(slices.Clone(prefix), n)); err != nil {
				return err
			}
		}
		return nil
	}
	return extend(nil)
}

func TestEveryInterleavingOfTheRing(t *testing.T) {
	count, total := 5, 0
	if testing.Short() || raceEnabled {
		count = 4
	}
	err := eachLengths(count, func(lengths []int) error {
		states, err := explore(offerScript, lengths)
		total += states
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d states of all sequences of %d messages", total, count)
}

// TestExplorationFindsMistakes: each wrong order of the producer's steps is found.
func TestExplorationFindsMistakes(t *testing.T) {
	mistakes := map[string][]string{
		"publish before fill":        {"has", "look", "clear", "publishPad", "clear", "publish", "fill", "clearAhead"},
		"no room asked for":          {"clear", "publishPad", "fill", "clear", "publish", "clearAhead"},
		"pad before its zero":        {"has", "look", "publishPad", "clear", "fill", "clear", "publish", "clearAhead"},
		"no zero behind the message": {"has", "look", "clear", "publishPad", "fill", "publish", "clearAhead"},
	}
	for name, script := range mistakes {
		err := eachLengths(4, func(lengths []int) error {
			_, err := explore(script, lengths)
			return err
		})
		if err == nil {
			t.Errorf("%s: nothing was found", name)
		}
	}
}

// TestScriptIsWhatOfferDoes reads offer's source: the exploration is worth what
// this equality is.
func TestScriptIsWhatOfferDoes(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "producer.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	calls := map[string][]string{}
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok {
			calls[f.Name.Name] = callsOnReceiver(f)
		}
	}
	var got []string // by offer, and by its two halves in their place
	for _, name := range calls["offer"] {
		if name == "reserve" || name == "commit" {
			got = append(got, calls[name]...)
		} else {
			got = append(got, name)
		}
	}
	// padFor computes; the has within the look's condition is the script's look.
	const want = "padFor has look has clear publishPad fill behind clear publish clearAhead"
	if all := strings.Join(got, " "); all != want {
		t.Errorf("offer calls %s\nthe exploration assumes %s", all, want)
	}
}

// callsOnReceiver lists the methods of p that f calls, in the order of the
// source; arguments come before the call they are for.
func callsOnReceiver(f *ast.FuncDecl) []string {
	var names []string
	var stack []ast.Node
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if n != nil {
			stack = append(stack, n)
			return true
		}
		last := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if call, ok := last.(*ast.CallExpr); ok {
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
				if x, ok := sel.X.(*ast.Ident); ok && x.Name == "p" {
					names = append(names, sel.Sel.Name)
				}
			}
		}
		return true
	})
	return names
}
