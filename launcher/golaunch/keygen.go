package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/golaunch/golaunch/launcher"
)

const keygenIntro = `golaunch keygen makes the key of a cluster, 32 random bytes in a file that only its
owner may read. A file that is there is not overwritten.

Usage:
  golaunch keygen [FILE] [flags]

FILE is $GOLAUNCH_KEY_FILE if it is not given, or /etc/golaunch/key for root and
~/.config/golaunch/key for others.

Example:
  $ golaunch keygen cluster.key              a new key, to be copied to every host
  $ golaunch keygen --rotate cluster.key     a newer one in front of it
`

// keygenFlags are those of golaunch keygen.
func keygenFlags(o *launcher.KeygenOptions, help *bool) group {
	g := newGroup("Flags")
	g.flags.BoolVar(&o.Rotate, "rotate", false, "put a new key in front of those in FILE, which stay valid")
	g.flags.BoolVarP(help, "help", "h", false, "print this")
	return g
}

// keygen does what the command line of golaunch keygen says and returns the exit code.
func keygen(args []string) int {
	var o launcher.KeygenOptions
	var help bool
	g := keygenFlags(&o, &help)
	fs := flagSet(g)
	fs.SetInterspersed(true)
	err := fs.Parse(args)
	if err == nil && fs.NArg() > 1 && !help {
		err = fmt.Errorf("%s: one file is enough", fs.Arg(1))
	}
	switch {
	case err != nil:
		return mistake("keygen", err, fs)
	case help:
		fmt.Print(keygenIntro + g.help())
		return 0
	}
	o.File = fs.Arg(0)
	return launcher.RunKeygen(o)
}

// mistake prints what is wrong with the flags of a command, and returns the exit code.
func mistake(command string, err error, fs *pflag.FlagSet) int {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		given := givenFlag(unknown)
		err = fmt.Errorf("unknown flag %s (golaunch %s --help lists them)", given, command)
		if better := suggest(strings.TrimLeft(given, "-"), fs); better != "" {
			err = fmt.Errorf("unknown flag %s; did you mean %s?", given, better)
		}
	}
	fmt.Fprintf(os.Stderr, "golaunch: %s: %v\n", command, err)
	return launcher.CodeUsage
}
