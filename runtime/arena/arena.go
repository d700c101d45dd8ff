package arena

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/golaunch/golaunch/runtime/arena/quarantine"
)

// Errors that callers tell apart with errors.Is.
var (
	// ErrForeign: freed memory that is not an allocation of this arena.
	ErrForeign = errors.New("not an allocation of this arena")
	// ErrInterior: freed memory that begins inside an allocation.
	ErrInterior = errors.New("inside an allocation, not its start")
	// ErrDoubleFree: freed a second time.
	ErrDoubleFree = errors.New("already freed")
	// ErrClosed: the arena was closed.
	ErrClosed = errors.New("the arena is closed")
	// ErrElement: the element type holds pointers, which mean nothing to a peer.
	ErrElement = errors.New("holds pointers")
	// ErrSize: a negative number of elements, or more than can be addressed.
	ErrSize = errors.New("not a possible size")
	// ErrSeals: a peer could take a segment's pages away under its readers.
	ErrSeals = errors.New("not sealed against shrinking")
)

// Config is what an arena needs from the world around it. Its functions are
// called with Arena.growing held: they must not allocate from the same arena.
type Config struct {
	// Rank is named in errors.
	Rank int
	// Publish makes a segment known to whoever gives it to peers. It is called
	// once for each segment, before any memory of it is handed out, so a peer that
	// has learnt a key can always open it. Keys count from 1 and are never reused. f
	// remains the arena's; it is open until Close. nil: there are no peers.
	Publish func(key uint64, f *os.File, size int64) error
	// Reserve is asked before that many bytes are filled, and released afterwards.
	// Its error becomes Alloc's. nil: whatever is asked for is tried.
	Reserve func(bytes int64) (release func(), err error)
	// Gone is asked about ranks that holds wait for, when memory is wanted: true
	// once nothing of that rank can arrive in this rank's memory any more. nil: no
	// rank ever is.
	Gone func(rank int) bool
}

// An Arena is one rank's memory that peers may touch. New makes one.
type Arena struct {
	cfg     Config
	classes classes

	table    atomic.Pointer[table] // where the segments are mapped, for Locate
	elements sync.Map              // reflect.Type -> error: what checkElement found

	growing   sync.Mutex
	larger    int64      // guarded by growing: the size of the next ordinary segment
	registrar Registrar  // guarded by growing: nil until Register
	asleep    []*segment // guarded by growing: those whose pages were given back

	mu       sync.Mutex
	segments []*segment         // all of them: key k at index k-1
	open     []*segment         // those with room left
	slab     slab               // where small blocks are cut from
	blocks   map[uintptr]*block // every block, by address
	free     freeLists
	held     quarantine.Ledger[HoldName, *block]
	closed   bool
	usage    Usage
}

// New returns an empty arena. It makes no system call: the first segment is made
// by the first Alloc.
func New(cfg Config) *Arena {
	return &Arena{
		cfg:     cfg,
		classes: newClasses(os.Getpagesize()),
		larger:  firstSegment,
		blocks:  map[uintptr]*block{},
	}
}

// Segment returns this rank's own mapping of one of its segments. Memory beyond
// what Alloc handed out is mapped, but filling it is not accounted for.
func (a *Arena) Segment(key uint64) ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, a.errorf("segment %d: %w", key, ErrClosed)
	}
	if key == 0 || key > uint64(len(a.segments)) {
		return nil, a.errorf("there is no segment %d", key)
	}
	return a.segments[key-1].mem, nil
}

// Close ends the registrations, unmaps every segment and closes its descriptor. All memory of the arena
// is gone, here; peers that have mapped it keep their mappings. Closing twice is
// harmless.
func (a *Arena) Close() error {
	a.growing.Lock()
	defer a.growing.Unlock()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil
	}
	a.closed = true
	a.table.Store(nil)
	var err error
	for _, s := range a.segments {
		err = errors.Join(err, s.deregister(), s.close())
	}
	a.segments, a.open, a.asleep, a.slab, a.blocks, a.free = nil, nil, nil, slab{}, nil, freeLists{}
	a.held = quarantine.Ledger[HoldName, *block]{}
	a.usage = a.usage.history()
	if err != nil {
		return a.errorf("closing: %w", err)
	}
	return nil
}

func (a *Arena) errorf(format string, args ...any) error {
	return fmt.Errorf("rank %d: arena: "+format, slices.Insert(args, 0, any(a.cfg.Rank))...)
}

// checkElement returns an error when values of type t hold pointers. Each type
// is walked once.
func (a *Arena) checkElement(t reflect.Type) error {
	if isNumber(t.Kind()) {
		return nil
	}
	if found, ok := a.elements.Load(t); ok {
		err, _ := found.(error)
		return err
	}
	var err error
	if where := pointerIn(t); where != "" {
		err = a.errorf("elements of type %s: %s: %w", t, where, ErrElement)
	}
	// A sync.Map takes no nil: no error is stored as false.
	if err == nil {
		a.elements.Store(t, false)
	} else {
		a.elements.Store(t, err)
	}
	return err
}
