package pager

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/window/pager/line"
	"github.com/golaunch/golaunch/window/pager/uffd"
)

// Modes of Want.
const (
	Read          = line.Read
	Write         = line.Write
	PrefetchRead  = line.PrefetchRead
	PrefetchWrite = line.PrefetchWrite
	Evict         = line.Evict
)

// A View is what a rank sees of a window.
//
// Where this process may not watch pages, the view has no memory: Unmapped says why, and
// the pager carries out Load, Store and Swap.
type View struct {
	*uffd.Mapping
	Unmapped error
	// Paths is how pages come from the hosts of the window: "tcp" or "verbs", "" for this host.
	Paths []string
	// Most is for how many bytes Want asks at a time, whole pages.
	Most int

	client *Client
	window uint64
	board  []byte
	shift  uint // of a page's size
}

// Open opens a window, which has the same number on all hosts, and maps it. Its pages are
// absent until somebody wants them.
func (c *Client) Open(window uint64, spec line.Spec) (*View, error) {
	body, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	a := c.slow.ask(line.Frame{Kind: line.Open, Window: window, Body: body})
	if a.err != nil {
		return nil, a.err
	}
	var opened line.Opened
	if err = json.Unmarshal(a.body, &opened); err == nil && (len(a.fds) != 2 || len(opened.Paths) != len(spec.Hosts)) {
		err = fmt.Errorf("%d descriptors, want 2, and paths to %d hosts, want %d", len(a.fds), len(opened.Paths), len(spec.Hosts))
	}
	if err != nil {
		line.CloseAll(a.fds)
		return nil, fmt.Errorf("the pager has sent for window %#x: %w", window, err)
	}
	v := &View{client: c, window: window, Paths: opened.Paths}
	for size := os.Getpagesize(); size > 1; size /= 2 {
		v.shift++
	}
	v.Most = mostPages(int(spec.Limit)) << v.shift
	if err := v.open(a.fds[0], a.fds[1], int(spec.Pages)); err != nil {
		return nil, errors.Join(err, v.shut(false), v.unmap())
	}
	return v, nil
}

func (v *View) open(cache, board, pages int) (err error) {
	file := os.NewFile(uintptr(cache), "pages")
	defer file.Close()
	v.board, err = unix.Mmap(board, 0, pages, unix.PROT_READ, unix.MAP_SHARED)
	if err = errors.Join(err, unix.Close(board)); err != nil {
		return fmt.Errorf("mapping the board: %w", err)
	}
	switch v.Mapping, err = uffd.Create(file, pages); {
	case errors.Is(err, uffd.ErrUnavailable):
		v.Unmapped = err
		return nil
	case err != nil:
		return err
	}
	base := uint64(v.Base)
	return v.client.slow.ask(line.Frame{Kind: line.View, Window: v.window, First: uint32(base), N: uint32(base >> 32)}, v.FD).err
}

func (v *View) shut(agreed bool) error {
	f := line.Frame{Kind: line.Shut, Window: v.window}
	if agreed {
		f.N = 1
	}
	return v.client.slow.ask(f).err
}

func (v *View) unmap() error {
	var err error
	if v.Mapping != nil {
		err = v.Mapping.Close()
	}
	if v.board != nil {
		err = errors.Join(err, unix.Munmap(v.board))
	}
	return err
}

// Close unmaps the view: an access from then on is the program's end. agreed says that no
// rank of any host uses the window any more: it is closed on this host with its last view.
// Otherwise the pager goes on to give other hosts what is stored here.
func (v *View) Close(agreed bool) error { return errors.Join(v.unmap(), v.shut(agreed)) }

// Has reports whether the bytes from up to to, at least one, may be read, or written, right
// now.
func (v *View) Has(from, to int, write bool) bool {
	need := byte(line.BoardReadable)
	if write {
		need = line.BoardWritable
	}
	first, last := from>>v.shift, (to-1)>>v.shift
	if first == last {
		return v.board[first] >= need
	}
	for _, b := range v.board[first : last+1] {
		if b < need {
			return false
		}
	}
	return true
}

// mostPages is how many pages one request is for: by the time the last one is there, the
// first must not have been evicted for it, nor may a few ranks' requests exceed a limit.
func mostPages(limit int) int {
	if limit == 0 {
		return 256
	}
	return min(max(limit/4, 1), 256)
}

// Want returns when the bytes from up to to may have been read, or written, at the same
// time.
func (v *View) Want(from, to int, mode line.Mode) error {
	return v.frames(from, to, mode, func(f line.Frame) error { return v.client.fast.ask(f).err })
}

// Advise has them fetched, or evicted, and does not wait, unless for the pager to take earlier advice: who
// computes meanwhile should not be kept from it by his pager's falling asleep and waking.
func (v *View) Advise(from, to int, mode line.Mode) error {
	return v.frames(from, to, mode, v.client.fast.tell)
}

// frames sends a request for some bytes, in as many frames as it takes.
func (v *View) frames(from, to int, mode line.Mode, send func(line.Frame) error) error {
	first, last, most := from>>v.shift, (to-1)>>v.shift, v.Most>>v.shift
	for ; first <= last; first += most {
		n := min(last-first+1, most)
		f := line.Frame{Kind: line.Want, Mode: mode, Window: v.window, First: uint32(first), N: uint32(n)}
		if first == last {
			f.Body = binary.LittleEndian.AppendUint16(make([]byte, 0, 2), uint16(from&(1<<v.shift-1)))
		}
		if err := send(f); err != nil {
			return err
		}
	}
	return nil
}

// Echo returns when a page's content has come from the pager of another host, which is then
// forgotten: it is how long a miss would take that found no page and changed nothing.
func (v *View) Echo() error {
	return v.client.fast.ask(line.Frame{Kind: line.Echo, Window: v.window}).err
}

// Report returns the figures of this host.
func (v *View) Report() (r line.Report, err error) {
	a := v.client.slow.ask(line.Frame{Kind: line.Figures, Window: v.window})
	if a.err != nil {
		return r, a.err
	}
	return r, json.Unmarshal(a.body, &r)
}
