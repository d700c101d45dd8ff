package coherence

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what the scenarios print into testdata")

// Each file of testdata/scenarios is a story: lines that begin with a dash are what
// happens, the indented lines behind them what follows from it.
//
//   - 4 hosts, 2 pages, first touch, limit 1     the window; page p lives on host p modulo the hosts
//   - host 1: read-fault 0                       what happens at a host, and to which page
//   - host 1 writes 0: B                         stores to the page; its content has a name
//   - host 1 sees 0                              loads from it
//   - 0 <- 1                                     the oldest message from 1 arrives at 0
//   - all arrive                                 every message does, the oldest first, until there is none
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/scenarios/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := tell(string(text))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(text), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A stage is where a story happens.
type stage struct {
	strings.Builder
	hosts    []*Host
	memory   []map[Page]string
	saved    []map[Page]string
	contents []string // Data d is contents[d-1]
	mail     []Msg    // under way, in the order of sending
}

// tell tells the story again, with what really follows.
func tell(text string) string {
	s := &stage{}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "  ") {
			continue
		}
		fmt.Fprintln(s, line)
		if does, is := strings.CutPrefix(line, "- "); is {
			s.perform(does)
		}
	}
	return s.String()
}

func (s *stage) perform(line string) {
	var host, from, page int
	var what, firstTouch string
	var hosts, pages, limit int
	switch {
	case scan(line, "%d hosts, %d pages, limit %d", &hosts, &pages, &limit),
		scan(line, "%d hosts, %d pages, first %s", &hosts, &pages, &firstTouch),
		scan(line, "%d hosts, %d pages", &hosts, &pages):
		s.open(hosts, pages, limit, firstTouch != "")
	case scan(line, "host %d writes %d: %s", &host, &page, &what):
		s.memory[host][Page(page)] = what
	case scan(line, "host %d sees %d", &host, &page):
		fmt.Fprintf(s, "    %s\n", s.memory[host][Page(page)])
	case scan(line, "host %d: host-dead %d", &host, &page):
		s.step(Msg{Kind: HostDead, From: uint8(host), To: uint8(host), Host: uint8(page)})
	case scan(line, "host %d: %s %d", &host, &what, &page):
		s.step(Msg{Kind: kindOf(what), From: uint8(host), To: uint8(host), Page: Page(page)})
	case scan(line, "host %d: fence", &host):
		s.step(Msg{Kind: Fence, From: uint8(host), To: uint8(host)})
	case scan(line, "%d <- %d", &host, &from):
		s.arrive(slices.IndexFunc(s.mail, func(m Msg) bool { return int(m.To) == host && int(m.From) == from }))
	case line == "all arrive":
		for len(s.mail) > 0 {
			s.arrive(0)
		}
	default:
		fmt.Fprintln(s, "    (nobody understands this)")
	}
}

func scan(line, format string, into ...any) bool {
	n, err := fmt.Sscanf(line, format, into...)
	return err == nil && n == len(into)
}

func kindOf(name string) Kind { return Kind(slices.Index(kindNames[:], name)) }

func (s *stage) open(hosts, pages, limit int, firstTouch bool) {
	blocks := make([]uint8, pages)
	for p := range blocks {
		blocks[p] = uint8(p % hosts)
	}
	for i := range hosts {
		h, err := New(Config{Self: i, Hosts: hosts, Pages: Page(pages), Blocks: blocks, BlockPages: 1, Limit: limit, FirstTouch: firstTouch})
		if err != nil {
			fmt.Fprintf(s, "    %v\n", err)
			return
		}
		s.hosts = append(s.hosts, h)
		s.memory = append(s.memory, map[Page]string{})
		s.saved = append(s.saved, map[Page]string{})
	}
}

func (s *stage) arrive(i int) {
	if i < 0 {
		fmt.Fprintln(s, "    (there is no message)")
		return
	}
	m := s.mail[i]
	s.mail = slices.Delete(s.mail, i, i+1)
	s.step(m)
}

func (s *stage) step(m Msg) {
	out, err := s.hosts[m.To].Step(m, nil)
	if m.From != m.To {
		fmt.Fprintf(s, "    %d <- %d %v\n", m.To, m.From, s.name(m))
	}
	if err != nil {
		fmt.Fprintf(s, "      error: %v\n", err)
	}
	for _, o := range out {
		s.carryOut(o)
	}
}

func (s *stage) carryOut(o Msg) {
	self := o.From
	if o.Data == Saved {
		s.contents = append(s.contents, s.saved[self][o.Page])
		o.Data = Data(len(s.contents))
	}
	if !o.Kind.isOrder() {
		s.mail = append(s.mail, o)
		fmt.Fprintf(s, "      %d tells %d: %v\n", o.From, o.To, s.name(o))
		return
	}
	fmt.Fprintf(s, "      %d: %v\n", self, s.name(o))
	switch o.Kind {
	case Fill, FillWritable:
		s.memory[self][o.Page] = s.content(o.Data)
	case Save:
		s.saved[self][o.Page] = s.memory[self][o.Page]
	case Drop, Discard:
		s.memory[self][o.Page] = "nothing"
	}
}

func (s *stage) name(m Msg) string {
	text := fmt.Sprintf("%v %d", m.Kind, m.Page)
	switch {
	case m.Kind == Kill:
		text = m.Kind.String()
	case m.Kind == Located:
		text += fmt.Sprintf(" at %d", m.Host)
	case m.Data != NoData:
		text += " with " + s.content(m.Data)
	}
	return text
}

func (s *stage) content(d Data) string {
	if d == Zero {
		return "zeros"
	}
	return s.contents[d-1]
}
