package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// progressEvery is the least time between two changes of the progress line.
const progressEvery = 100 * time.Millisecond

// progress shows how far the count is, in one line that is rewritten in place
// and cleared at the end. The zero value shows nothing. What it shows is known
// without asking the other ranks: files are taken in order, so the index of the
// file that this rank has just drawn tells how many all of them have taken.
type progress struct {
	out    io.Writer // nil: nothing is shown
	before []int64   // before[i] is the size of all files in front of file i
	total  int64     // bytes
	last   time.Time
	shown  bool
}

// terminalVariable is set by golaunch to those of its own outputs that are
// terminals: a rank's are pipes, which golaunch copies to its own.
const terminalVariable = "GOLAUNCH_TERMINAL"

// newProgress shows progress on f if f, or what golaunch copies it to, is a
// terminal.
func newProgress(f *os.File) *progress {
	if slices.Contains(strings.Split(os.Getenv(terminalVariable), ","), "stderr") || isTerminal(f) {
		return &progress{out: f}
	}
	return &progress{}
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	return err == nil
}

// start says what will be counted. Sizes are known at rank 0 only: on other
// ranks the line stays off.
func (p *progress) start(files []source) {
	p.before, p.total = make([]int64, len(files)), 0
	for i, f := range files {
		p.before[i] = p.total
		p.total += f.size
	}
	p.last = time.Now()
}

// taken says that this rank has drawn file i.
func (p *progress) taken(i int) {
	if p.out == nil || p.total == 0 || time.Since(p.last) < progressEvery {
		return
	}
	p.last, p.shown = time.Now(), true
	fmt.Fprintf(p.out, "\r\x1b[Kcounting: %s of %s files, %d %% of the bytes",
		grouped(uint64(i)), grouped(uint64(len(p.before))), 100*p.before[i]/p.total)
}

// clear takes the line away.
func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
	p.shown = false
}
