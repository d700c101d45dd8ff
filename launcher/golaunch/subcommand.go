package main

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"github.com/golaunch/golaunch/launcher"
)

// An offer says what a shell may complete an argument of a subcommand with.
type offer int

const (
	offersNothing offer = iota
	offersFiles
	offersCommands // golaunch's own
	offersJobs     // those that run
)

// A subcommand is what the first word of a command line may name instead of a program.
type subcommand struct {
	name  string
	about string // in a line
	intro string // above the flags in its help
	outro string // below them
	flags group
	args  string // what its one argument is called; "": it has none
	// offers are what shells complete an argument with.
	offers offer
	// stray says why an argument is a mistake where there is none; "": the usual.
	stray string
	run   func(args []string) int
	help  bool
	// own, if it is not nil, is used instead of what main does with the fields above.
	own func(args []string) int
}

// subcommands are all of them, new each time.
func subcommands() []*subcommand {
	return []*subcommand{agentCommand(), nodesCommand(), psCommand(), killCommand(), logsCommand(), keygenCommand(), doctorCommand(), superviseCommand(), helpCommand()}
}

// findSubcommand returns the one of a name, nil if there is none.
func findSubcommand(name string) *subcommand {
	for _, s := range subcommands() {
		if s.name == name {
			return s
		}
	}
	return nil
}

func keygenCommand() *subcommand {
	s := newSubcommand("keygen", "make a cluster's key")
	s.offers = offersFiles
	s.flags, s.own = keygenFlags(new(launcher.KeygenOptions), &s.help), keygen
	return s
}

// newSubcommand returns one with the flags that all have.
func newSubcommand(name, about string) *subcommand {
	return &subcommand{name: name, about: about, flags: newGroup("Flags")}
}

// main does what a command line says and returns the exit code.
func (s *subcommand) main(args []string) int {
	if s.own != nil {
		return s.own(args)
	}
	fs := s.flagSet()
	err := fs.Parse(args)
	switch {
	case err != nil:
		return mistake(s.name, err, fs)
	case s.help:
		fmt.Print(s.helpText())
		return 0
	case fs.NArg() > 0 && s.args == "":
		err = fmt.Errorf("%s: %s takes flags only%s", fs.Arg(0), s.name, s.stray)
	case fs.NArg() != 1 && s.args != "":
		err = fmt.Errorf("one %s is needed (golaunch %s --help)", s.args, s.name)
	default:
		return s.run(fs.Args())
	}
	fmt.Fprintf(os.Stderr, "golaunch: %s: %v\n", s.name, err)
	return launcher.CodeUsage
}

// flagSet are its flags, which may stand behind the argument, too.
func (s *subcommand) flagSet() *pflag.FlagSet {
	s.addHelp()
	fs := flagSet(s.flags)
	fs.SetInterspersed(true)
	return fs
}

func (s *subcommand) addHelp() {
	if s.flags.flags.Lookup("help") == nil {
		s.flags.flags.BoolVarP(&s.help, "help", "h", false, "print this")
	}
}

func (s *subcommand) helpText() string {
	s.addHelp()
	return s.intro + s.flags.help() + s.outro
}
