package lock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/golaunch/golaunch/runtime/group"
	"github.com/golaunch/golaunch/runtime/job"
	"github.com/golaunch/golaunch/runtime/waiting"
)

// The tests' members: goroutines of this process, or processes that the test binary
// starts of itself, over the same memory: a group, a lock, and some words.

const testWords = 64

func extra(n int) int { return groupBytes(n) + Size(n) + testWords*8 + LatchesSize }

func groupBytes(n int) int { return (group.Size(n) + alignment - 1) / alignment * alignment }

// newMembers makes the memory of n members.
func newMembers(t testing.TB, n int, inProcess bool) *job.Memory {
	t.Helper()
	mem, err := job.Create(n, job.Options{Cores: 2, Extra: extra(n), InProcess: inProcess})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mem.Close() })
	return mem
}

// A seat is what one member has of the memory.
type seat struct {
	mem    *job.Memory
	group  *group.Group
	waiter *waiting.Waiter
	Lock
	overtaken [8]uint64 // tickets, plus one, of others that were in the queue when this member had the lock
}

func newSeat(mem *job.Memory, me int) (*seat, error) {
	n := mem.Size()
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = i
	}
	s := &seat{mem: mem, waiter: waiting.New(mem, me)}
	var err error
	s.group, err = group.New(group.Config{
		What: "lock test", Area: mem.Extra()[:groupBytes(n)], Me: me, Ranks: ranks, Memory: mem, Waiter: s.waiter,
	})
	if err != nil {
		return nil, err
	}
	return s, s.Init(mem.Extra()[groupBytes(n):], me, n, s.group)
}

// meet returns when every member has called it.
func (s *seat) meet(ctx context.Context) error {
	s.group.Publish(1, nil)
	return s.group.WaitAll(ctx)
}

// testWord is ordinary shared memory for the tests' own use. Nobody needs atomics
// there who holds the lock.
func testWord(mem *job.Memory, i int) *uint64 {
	return plain(mem.Extra()[groupBytes(mem.Size())+Size(mem.Size()):], i)
}

const (
	memberVariable = "GOLAUNCH_LOCK_MEMBER"
	bodyVariable   = "GOLAUNCH_LOCK_BODY"
	stepVariable   = "GOLAUNCH_LOCK_STEP"
	visitVariable  = "GOLAUNCH_LOCK_VISIT"
	deadline       = 30 * time.Second // no member may take longer
)

// TestMain runs the body of a member in a process that a test has started.
func TestMain(m *testing.M) {
	if os.Getenv(memberVariable) == "" {
		os.Exit(m.Run())
	}
	if err := beMember(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

var bodies = map[string]func(ctx context.Context, s *seat) error{
	"count": countBody,
	"crash": crashBody,
}

func beMember() error {
	me, err := strconv.Atoi(os.Getenv(memberVariable))
	if err != nil {
		return err
	}
	mem, err := job.Map(os.NewFile(3, "job"))
	if err != nil {
		return err
	}
	s, err := newSeat(mem, me)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), deadline, errors.New("the test's deadline"))
	defer cancel()
	return bodies[os.Getenv(bodyVariable)](ctx, s)
}
