package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/golaunch/golaunch/launcher"
)

const superviseIntro = `golaunch supervise starts the ranks of one host, of a job that golaunch --listen
runs elsewhere. It ends with the job. When it loses golaunch, it kills its ranks.

Usage:
  golaunch supervise --join ADDR --secret-file FILE [flags]

Example, on two hosts and a third:
  node-a$ golaunch supervise --join node-c:4711 --secret-file job.key
  node-b$ golaunch supervise --join node-c:4711 --secret-file job.key
  node-c$ golaunch --listen :4711 --hosts 2 --secret-file job.key -n 8 /opt/prog
`

const superviseOutro = `
The program is not sent: it must be at the same path on every host.

Exit code: 0 when the job has had its end, whatever that was; 1 when golaunch was
lost or has refused this host; 2 for a mistake in the command line; 128+N after
signal N, which kills the ranks.
`

// superviseFlags are those of golaunch supervise.
func superviseFlags(o *launcher.SuperviseOptions, help *bool) group {
	g := newGroup("Flags")
	o.Wait = 10 * time.Second
	g.flags.StringVar(&o.Join, "join", "", "join the job whose golaunch listens at `ADDR`, host:port")
	keyFlags(g.flags, &o.Key)
	g.flags.StringVar(&o.Host, "host", "", "call this host `NAME` instead of its host name")
	g.flags.IntVar(&o.Slots, "slots", 0, "take `N` ranks at most; 0: any number")
	g.flags.Var(&timeoutValue{&o.Wait}, "wait", "try for `TIME` to reach golaunch")
	g.flags.BoolVarP(help, "help", "h", false, "print this")
	return g
}

// keyFlags say where the key is that golaunch and its hosts share.
func keyFlags(flags *pflag.FlagSet, key *launcher.Key) {
	flags.StringVar(&key.File, "secret-file", "", "the key is in `FILE`, which only its owner may read (16 bytes or more)")
	flags.IntVar(&key.FD, "secret-fd", -1, "the key is read from descriptor `N`, to the end")
}

// supervise does what the command line of golaunch supervise says and returns the
// exit code.
func supervise(args []string) int {
	var o launcher.SuperviseOptions
	var help bool
	fs := flagSet(superviseFlags(&o, &help))
	err := fs.Parse(args)
	if err == nil && fs.NArg() > 0 && !help {
		err = fmt.Errorf("%s: supervise takes flags only; the program is named to golaunch --listen", fs.Arg(0))
	}
	switch {
	case err != nil:
		fmt.Fprintf(os.Stderr, "golaunch: supervise: %v\n", explainSupervise(err, fs))
		return launcher.CodeUsage
	case help:
		fmt.Print(superviseHelp())
		return 0
	}
	return launcher.RunSupervise(o)
}

// explainSupervise turns pflag's error into one that helps.
func explainSupervise(err error, fs *pflag.FlagSet) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	given := givenFlag(unknown)
	if better := suggest(strings.TrimLeft(given, "-"), fs); better != "" {
		return fmt.Errorf("unknown flag %s; did you mean %s?", given, better)
	}
	return fmt.Errorf("unknown flag %s (golaunch supervise --help lists them)", given)
}

func superviseHelp() string {
	var help bool
	return superviseIntro + superviseFlags(new(launcher.SuperviseOptions), &help).help() + superviseOutro
}
