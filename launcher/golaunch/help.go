package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/golaunch/golaunch/launcher"
)

const intro = `golaunch starts the ranks of a parallel program, on this machine or on several.

Usage:
  golaunch [flags] PROGRAM [ARGS]
  golaunch [flags] PROGRAM [ARGS] : [-n N] [-x ...] [--wdir DIR] PROGRAM [ARGS] : ...
  golaunch COMMAND [flags]                one of those below (golaunch help COMMAND)

PROGRAM is a binary, found as a shell would find it, or the directory of a Go
package (./apps/heat), which is built first.

Examples:
  golaunch -n 4 hostname                      any program, four times
  golaunch -n 8 ./apps/heat --n 2048          build a Go package and run 8 ranks of it
  golaunch -n 4 --tag-output ./prog           see which rank says what
  golaunch -n 4 --output-dir out ./prog       a file for each rank's output
  golaunch -n 1 ./server : -n 7 ./client      ranks 0 and 1-7 run different programs
  golaunch -n 4 --timeout 10m --json ./prog   stop after ten minutes; a report for scripts
  golaunch -n 4 --on-failure continue ./prog  the other ranks go on when one fails
  golaunch -n 4 --virtual-hosts 2 ./prog      as on two hosts: TCP between ranks 0-1 and 2-3
  golaunch -n 64 --map-by host ./prog         over a cluster, where golaunch agent runs
`

const outro = `
Ctrl-C is passed on to the ranks; a second one kills them. Ctrl-\ has every rank
that is a Go program print its goroutines.

Exit code: 0; or that of the first rank that failed, 128+N if signal N killed it;
2 for a mistake in the command line; 124 after the timeout; 1 for anything else.

Completion:
  bash   source <(golaunch --completion bash)
  zsh    golaunch --completion zsh > "${fpath[1]}/_golaunch"
  fish   golaunch --completion fish > ~/.config/fish/completions/golaunch.fish
`

// helpText is what --help prints.
func helpText() string {
	var b strings.Builder
	b.WriteString(intro + "\nCommands:\n")
	for _, s := range subcommands() {
		fmt.Fprintf(&b, "  %-12s%s\n", s.name, s.about)
	}
	for _, g := range new(command).groups(&launcher.Segment{}) {
		b.WriteString(g.help())
	}
	b.WriteString(outro)
	return b.String()
}

func helpCommand() *subcommand {
	s := newSubcommand("help", "this, or what a command does")
	s.offers, s.own = offersCommands, printHelp
	return s
}

// printHelp prints the help of golaunch or of a command, and returns the exit code.
func printHelp(args []string) int {
	args = slices.DeleteFunc(args, func(a string) bool { return a == "--help" || a == "-h" })
	switch len(args) {
	case 0:
		fmt.Print(helpText())
		return 0
	case 1:
		if args[0] == "help" {
			return printHelp(nil)
		}
		if s := findSubcommand(args[0]); s != nil {
			return s.main([]string{"--help"})
		}
	}
	fmt.Fprintf(os.Stderr, "golaunch: help: %s: no such command (golaunch help lists them)\n", strings.Join(args, " "))
	return launcher.CodeUsage
}

// help explains the flags of a group.
func (g group) help() string {
	var b strings.Builder
	b.WriteString("\n" + g.title + ":\n")
	g.flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			b.WriteString(flagHelp(f))
		}
	})
	return b.String()
}

// helpColumn is where the explanation of a flag begins.
const helpColumn = 36

func flagHelp(f *pflag.Flag) string {
	value, text := pflag.UnquoteUsage(f)
	left := "      --" + f.Name
	if f.Shorthand != "" {
		left = "  -" + f.Shorthand + ", --" + f.Name
	}
	switch {
	case f.NoOptDefVal == "":
		left += " " + value
	case value != "":
		left += "[=" + value + "]"
	}
	if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" && !none(f) {
		text += " (default " + f.DefValue + ")"
	}
	text = strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", helpColumn))
	return fmt.Sprintf("%-*s%s\n", helpColumn, left, text)
}

// none reports whether a flag's default stands for nothing.
func none(f *pflag.Flag) bool { return f.DefValue == "0" && f.Name != "stdin" || f.DefValue == "-1" }
