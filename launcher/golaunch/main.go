// Command golaunch starts the ranks of a job, on this machine or on the hosts of a
// cluster, and sees them through. `golaunch --help`, docs/launching.md and
// docs/cluster.md are its manual; the work is done by package launcher, and this
// package is its flags.
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
	os.Exit(run(os.Args[1:], os.Args[0] == launcher.DetachedName))
}

// run does what the command line says and returns the exit code. detached: this is
// the golaunch of a detached job.
func run(args []string, detached bool) int {
	if len(args) > 0 {
		if s := findSubcommand(args[0]); s != nil {
			return s.main(args[1:])
		}
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
	case c.mistyped() != "":
		fmt.Fprintf(os.Stderr, "golaunch: %s: not found in PATH; did you mean the command %q?\n", c.options.Segments[0].Program, "golaunch "+c.mistyped())
		return launcher.CodeUsage
	default:
		c.options.Detached = detached
		return launcher.Run(c.options)
	}
	return 0
}
