package worldtest_test

import (
	"context"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/runtime/worldtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(worldtest.Main(m)) }

// What launcher/crosshost has these tests do as ranks of a job: "fatal" has a rank
// fail in the middle of a test.
const envBad = "GOLAUNCH_WORLDTEST_BAD"

// Every body is run by as many ranks as it asks for, who can talk to each other.
func TestBodiesHaveTheirRanks(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5} {
		worldtest.Anywhere(t, n, func(ctx context.Context, comm *world.Comm) {
			if comm.Size() != n {
				t.Errorf("rank %d of %d, want %d", comm.Rank(), comm.Size(), n)
			}
			half, err := comm.Split(ctx, comm.Rank()%2, comm.Rank())
			if err != nil {
				t.Error(err)
				return
			}
			if want := (n + 1 - comm.Rank()%2) / 2; half.Size() != want {
				t.Errorf("rank %d: half of %d ranks are %d", comm.Rank(), n, half.Size())
			}
			if err := half.Free(ctx); err != nil {
				t.Error(err)
			}
		})
	}
}

// Ranks of Run share memory.
func TestRun(t *testing.T) {
	seen := make([]bool, 2)
	worldtest.Run(t, 2, func(_ context.Context, comm *world.Comm) { seen[comm.Rank()] = true })
	if !seen[0] || !seen[1] {
		t.Error("a rank was not run")
	}
}

func TestJoinByItself(t *testing.T) {
	worldtest.Alone(t)
	comm, err := world.Join(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := comm.Leave(); err != nil {
		t.Error(err)
	}
}

// A rank that gives up is not waited for.
func TestFatal(t *testing.T) {
	if os.Getenv(envBad) != "fatal" {
		t.Skip("for launcher/crosshost")
	}
	worldtest.Anywhere(t, 2, func(ctx context.Context, comm *world.Comm) {
		if comm.Rank() == 1 {
			t.Fatal("out of cheese")
		}
		if _, err := comm.Dup(ctx); err == nil {
			t.Error("the other rank has come")
		}
	})
	t.Error("the test goes on")
}
