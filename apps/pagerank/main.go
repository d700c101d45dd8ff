// Pagerank is a rank program that ranks the packages of a Go source tree by who
// imports them (Page, Brin, Motwani, Winograd: The PageRank citation ranking, 1999).
//
// Rank 0 reads the import clauses and broadcasts the graph; the packages are divided
// among the ranks. In each iteration a rank needs, for each of its packages, a value of
// every package that imports it. It can get them in three ways:
//
//	edges     an 8-byte Get from a plain window for each one that another rank has
//	bulk      one Get from a plain window for each other rank, into a copy
//	coherent  an 8-byte Get from a coherent window for each
//
// The result is the same, bit for bit, and that of a serial computation.
//
// Everything runs on one goroutine a rank; fences alone order the accesses to the
// windows.
package main

import (
	"os"

	"github.com/golaunch/golaunch/apps/internal/program"
)

var pagerank = program.Program[options]{Name: "pagerank", Parse: parseOptions, Run: run}

func main() { os.Exit(pagerank.Main()) }
