// Package golaunch is the map of a parallel runtime for Go: rank programs with
// one-sided windows and collectives, in the style of MPI, started by the command
// golaunch.
//
// # A complete program
//
// Each rank puts its number into the window of its right neighbour, and all add
// up what they got. The program is run as it stands by a test of this package.
//
//	package main
//
//	import (
//		"context"
//		"fmt"
//		"log"
//
//		"github.com/golaunch/golaunch/collectives"
//		"github.com/golaunch/golaunch/runtime/world"
//		"github.com/golaunch/golaunch/window"
//	)
//
//	func main() {
//		ctx := context.Background()
//		comm, err := world.Join(ctx) // who am I, who else is there
//		if err != nil {
//			log.Fatal(err)
//		}
//		defer comm.Leave()
//		if err := ring(ctx, comm); err != nil {
//			log.Fatal(err)
//		}
//	}
//
//	func ring(ctx context.Context, comm *world.Comm) error {
//		win, err := window.Allocate[int64](ctx, comm, 1) // one element on each rank
//		if err != nil {
//			return err
//		}
//		if err := win.Fence(ctx); err != nil { // opens an epoch to every rank
//			return err
//		}
//		right := (comm.Rank() + 1) % comm.Size()
//		if err := win.Put(right, 0, []int64{int64(comm.Rank())}); err != nil {
//			return err
//		}
//		if err := win.Fence(ctx); err != nil { // every Put has arrived
//			return err
//		}
//		sum := make([]int64, 1)
//		if err := collectives.Allreduce(ctx, comm, win.Local(), sum, collectives.Sum); err != nil {
//			return err
//		}
//		fmt.Printf("rank %d of %d: sum %d\n", comm.Rank(), comm.Size(), sum[0])
//		return nil
//	}
//
// Start it with
//
//	golaunch -n 4 ./ring
//
// # The rooms
//
//	runtime/world      who is in the job: Join, Comm, Split; Send and Recv
//	runtime/worldtest  ranks as goroutines, for go test
//	runtime/arena      memory that other ranks may touch
//	window             remote memory: Put, Get, atomics, Fence, Lock
//	collectives        Barrier, Bcast, Reduce, Allreduce, Gather, Allgather
//	launcher/golaunch  the command
//	apps               rank programs: benchmarks and real ones
//
// and, below them, what programs do not import:
//
//	collectives/schedule  pure: which step, which peer, after what
//	collectives/reduce    element-wise reductions
//	window/coherence      pure: which host may read or write a page
//	window/pager          coherent windows: a rank's side of its host's pager
//	window/pager/process  the pager: carries out what coherence decides
//	runtime/job           the memory the ranks of a host share with their supervisor
//	runtime/waiting       spin, yield, sleep
//	runtime/group         a communicator's shared memory: rounds, breaking
//	runtime/pipe          streams between two ranks of a host
//	runtime/arena/quarantine  pure: when freed memory may be used again
//	runtime/arena/foreign     registrations of memory that is not the arena's
//	runtime/memlimit      how much memory the host and its control groups have left
//	transport             the contract; shm, tcp and verbs (RDMA) beneath it
//	transport/far         which of tcp and verbs leads to a rank of another host
//	launcher, launcher/boot  the supervisor's side and the rank's side of starting
//
// Imports go down only; arch_test.go says who may import whom, which rooms are
// pure, and where unsafe may stand.
//
// # Vocabulary
//
// The words are MPI's. A rank is one process of the job, numbered from 0; a
// communicator is an ordered set of ranks. A window is memory of every rank of a
// communicator that the others may access. The rank that calls an operation is
// its origin, the one whose memory is accessed its target; a displacement counts
// elements from the start of the target's part. Operations happen within an
// epoch, which synchronisation opens and closes: Fence for all ranks together,
// Lock and Unlock by the origin alone. Flush completes operations without ending
// the epoch.
package golaunch
