// Joinexit is a rank program that does nothing: it joins, passes one barrier and
// leaves. Whoever starts it measures the wall time of the whole command. With
// --memory rank 0 also prints the largest private memory of any rank.
package main

import (
	"context"
	"encoding/json"
	"io"
	"os"

	"github.com/golaunch/golaunch/apps/internal/program"
	"github.com/golaunch/golaunch/collectives"
	"github.com/golaunch/golaunch/runtime/world"
)

var joinexit = program.Program[bool]{Name: "joinexit", Parse: parseMemory, Run: run}

func main() { os.Exit(joinexit.Main()) }

const usageText = `joinexit joins, passes one barrier and leaves.

Usage:
  golaunch -n N joinexit [flags]
`

// parseMemory tells whether memory is to be printed.
func parseMemory(args []string, help io.Writer) (memory bool, err error) {
	flags := program.Flags("joinexit", usageText, help)
	flags.BoolVar(&memory, "memory", false, "print the largest private memory of any rank, as JSON")
	err = program.ParseOnly(flags, args)
	return memory, err
}

func run(ctx context.Context, comm *world.Comm, memory bool, out io.Writer) error {
	if err := collectives.Barrier(ctx, comm); err != nil || !memory {
		return err
	}
	return printMemory(ctx, comm, out)
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
