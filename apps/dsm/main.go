// Dsm is a rank program with the five programs by which the literature of
// distributed shared memory measures a protocol: SOR, LU, IS, WATER and TSP
// (Amza et al., TreadMarks, IEEE Computer 1996, and SPLASH-2).
//
// Each is there in three modes, which differ in how data moves and in nothing
// else: the arithmetic is the same functions, and the result the same bits, as in
// the serial computation that checks it.
//
//	rma    plain windows, as a programmer of MPI would write it: bulk Puts and
//	       Gets where the data is needed, copies that the program keeps itself
//	calls  a coherent window by Get and Put, wherever a value is needed
//	loads  a coherent window by loads and stores on its Map
//
// A kernel stands in one file: the loop over its steps, an interface of what the
// loop needs of its data, and that interface once for each mode.
//
// Everything runs on one goroutine a rank; windows alone are shared.
package main

import (
	"os"

	"github.com/golaunch/golaunch/apps/internal/program"
)

var dsm = program.Program[options]{Name: "dsm", Parse: parseOptions, Run: run}

func main() { os.Exit(dsm.Main()) }
