// Heat is a rank program that computes how heat spreads in a plate, and draws it.
//
// The plate's rows are divided into one block a rank. In each step a rank computes
// its rows, and puts the first and the last of them into the halo of its
// neighbours' windows; a fence ends the step. Allreduce finds the greatest change,
// and at the end rank 0 gets all blocks, compares them with a serial computation,
// and writes the picture.
//
// Everything here runs on one goroutine a rank and takes no locks: fences alone
// order the accesses to the windows (solver.go says why one a step is enough).
package main

import (
	"os"

	"github.com/golaunch/golaunch/apps/internal/program"
)

var heat = program.Program[options]{Name: "heat", Parse: parseOptions, Run: run}

func main() { os.Exit(heat.Main()) }
