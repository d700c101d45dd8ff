// Command golaunch starts the ranks of a job on this machine, or on hosts where
// `golaunch supervise` runs, and sees them through. `golaunch --help` and docs/launching.md are its manual; the work is done
// by package launcher, and this package is its flags.
package main

import (
	"fmt"
	"os"

	"github.com/golaunch/golaunch/launcher"
)

func main() {
	if os.Args[0] == launcher.SupervisorName {
		os.Exit(launcher.Supervise())
	}
	os.Exit(run(os.Args[1:]))
}

// run does what the command line says and returns the exit code.
func run(args []string) int {
	if len(args) > 0 && args[0] == "supervise" {
		return supervise(args[1:])
	}
	if len(args) > 0 && args[0] == "keygen" {
		return keygen(args[1:])
	}
	c, err := parse(args)
	if err != nil {
		fmt.Fprintf(os.Stderr, "golaunch: %v\n", err)
		return launcher.CodeUsage
	}
	switch {
	case c.help:
		fmt.Print(helpText())
	case c.version:
		fmt.Println(launcher.Version())
	case c.completion != "":
		fmt.Print(completion(c.completion))
	default:
		return launcher.Run(c.options)
	}
	return 0
}
