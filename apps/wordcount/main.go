// Wordcount is a rank program that counts the identifiers of Go source files
// into a hash table spread over a window.
//
// Each rank takes file after file, by FetchAdd on a shared counter, and counts
// into a map of its own. When there are no more files, the ranks agree by
// Allreduce on the size of the table, and add what they have to it with
// one-sided atomics (table.go has the protocol). Allreduce combines the totals,
// and rank 0 prints the commonest identifiers, which it fetches from wherever
// they lie.
//
// Everything here runs on one goroutine a rank and takes no locks but the
// windows' own: a shared lock on every rank of the window while the ranks use it
// one-sidedly, fences around that.
package main

import (
	"context"
	"io"
	"os"

	"github.com/golaunch/golaunch/apps/internal/program"
	"github.com/golaunch/golaunch/runtime/world"
)

var wordcount = program.Program[options]{Name: "wordcount", Parse: parseOptions, Run: runWithProgress}

func main() { os.Exit(wordcount.Main()) }

func runWithProgress(ctx context.Context, comm *world.Comm, opt options, out io.Writer) error {
	return run(ctx, comm, opt, out, newProgress(os.Stderr))
}
