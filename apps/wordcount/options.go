package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/golaunch/golaunch/apps/internal/program"
)

// options is what the command line asks for. Every rank parses the same one.
type options struct {
	roots  []string // directories and files to count; none means the Go source tree
	top    int      // how many identifiers to print
	json   bool
	verify bool
}

const usageText = `wordcount counts the identifiers in the Go files below each DIR, which is the
source tree of the installed Go when none is given. An identifier is what the
language calls one: predeclared names and the blank identifier count, keywords
and whatever stands in comments and literals do not.

Usage:
  wordcount [flags] [DIR...]

Examples:
  golaunch -n 4 ./bin/wordcount              count the Go source tree with 4 ranks
  golaunch -n 2 ./bin/wordcount --verify     compare with a serial count
  golaunch -n 4 ./bin/wordcount --top 5 .    the 5 commonest below this directory
  ./bin/wordcount --json ~/src | jq .top     one process, for a program to read
`

// maxTop bounds what every rank sends to rank 0 for the final ranking.
const maxTop = 100_000

// parseOptions reads the command line. pflag.ErrHelp means that help was asked
// for and has been written to help.
func parseOptions(args []string, help io.Writer) (options, error) {
	var opt options
	flags := program.Flags("wordcount", usageText, help)
	flags.IntVar(&opt.top, "top", 20, "how many of the commonest identifiers to print")
	flags.BoolVar(&opt.json, "json", false, "print one JSON object instead of tables")
	flags.BoolVar(&opt.verify, "verify", false, "compare with a serial count; exit with 1 when they differ")
	if err := flags.Parse(args); err != nil {
		return opt, err
	}
	opt.roots = flags.Args()
	return opt, opt.check()
}

func (opt options) check() error {
	if opt.top < 0 || opt.top > maxTop {
		return fmt.Errorf("--top %d: must lie between 0 and %d", opt.top, maxTop)
	}
	for _, root := range opt.roots {
		if root == "" {
			return errors.New("an empty DIR; use . for the current directory")
		}
	}
	return nil
}
