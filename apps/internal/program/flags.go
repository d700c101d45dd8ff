package program

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"
)

// Flags is an empty set of flags for a Parse function. --help writes text and the
// flags, in the order of their definition, to help.
func Flags(name, text string, help io.Writer) *pflag.FlagSet {
	flags := pflag.NewFlagSet(name, pflag.ContinueOnError)
	flags.SortFlags = false
	flags.Usage = func() { fmt.Fprint(help, text, "\nFlags:\n", flags.FlagUsages()) }
	return flags
}

// ParseOnly parses a command line that has flags and no arguments.
func ParseOnly(flags *pflag.FlagSet, args []string) error {
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	return nil
}

// rankVariable is set by golaunch. It is good enough to know who prints help,
// which is before joining; everything else asks the communicator.
const rankVariable = "GOLAUNCH_RANK"

// helpWriter is out, for one rank of a job: the others would say the same.
func helpWriter(out io.Writer) io.Writer {
	if rank := os.Getenv(rankVariable); rank != "" && rank != "0" {
		return io.Discard
	}
	return out
}
