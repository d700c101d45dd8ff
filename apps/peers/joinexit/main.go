// Joinexit is a rank program that does nothing: it joins, passes one barrier and
// leaves. Whoever starts it measures the wall time of the whole command. With
// --memory rank 0 also prints the largest private memory of any rank.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

	"github.com/golaunch/golaunch/collectives"
	"github.com/golaunch/golaunch/runtime/world"
)

func main() {
	memory := pflag.Bool("memory", false, "print the largest private memory of any rank, as JSON")
	pflag.Parse()
	if err := run(context.Background(), *memory, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "joinexit: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, memory bool, out io.Writer) error {
	comm, err := world.Join(ctx)
	if err != nil {
		return err
	}
	if err := collectives.Barrier(ctx, comm); err != nil {
		return err
	}
	if memory {
		if err := printMemory(ctx, comm, out); err != nil {
			return err
		}
	}
	return comm.Leave()
}

// printMemory prints one JSON object: the most bytes that any rank shares with no
// other process.
func printMemory(ctx context.Context, comm *world.Comm, out io.Writer) error {
	mine, err := privateMemory()
	if err != nil {
		return err
	}
	most := []int64{0}
	if err := collectives.Allreduce(ctx, comm, []int64{mine}, most, collectives.Max); err != nil {
		return err
	}
	if comm.Rank() != 0 {
		return nil
	}
	return json.NewEncoder(out).Encode(struct {
		Op    string `json:"op"`
		Bytes int64  `json:"bytes"`
		Ranks int    `json:"ranks"`
	}{"private_memory", most[0], comm.Size()})
}
