package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/golaunch/golaunch/launcher"
)

// parse reads a command line: flags, a program and its arguments, and perhaps,
// after a lone colon, more programs with flags of their own.
func parse(args []string) (*command, error) {
	c := &command{}
	for i, part := range split(args) {
		var s launcher.Segment
		fs := flagSet(segmentFlags(&s))
		if i == 0 {
			fs = flagSet(c.groups(&s)...)
		}
		if err := fs.Parse(part); err != nil {
			return nil, c.explain(err, part, i)
		}
		if c.help || c.version || c.completion != "" {
			return c, nil
		}
		if fs.NArg() == 0 {
			return nil, noProgram(i, len(args) == 0)
		}
		if i == 0 {
			if err := c.settle(fs); err != nil {
				return nil, err
			}
		}
		s.Program, s.Args = fs.Arg(0), fs.Args()[1:]
		c.options.Segments = append(c.options.Segments, s)
	}
	return c, nil
}

// settle makes options of the flags that mean one thing with --listen and another over
// a cluster.
func (c *command) settle(fs *pflag.FlagSet) error {
	o := &c.options
	if !fs.Changed("failure-timeout") && o.Listen == "" {
		o.FailureTimeout = 0 // the cluster has its own
	}
	if c.hosts == "" {
		return nil
	}
	n, err := strconv.Atoi(c.hosts)
	switch {
	case err == nil && (o.Listen != "" || !o.OverCluster()):
		o.Hosts = n
	case o.Listen != "":
		return fmt.Errorf("--hosts %s: with --listen it is how many hosts to wait for", c.hosts)
	default:
		o.Cluster.Hosts = strings.Split(c.hosts, ",")
	}
	return nil
}

// split divides a command line at its lone colons.
func split(args []string) [][]string {
	parts := [][]string{nil}
	for _, arg := range args {
		if arg == ":" {
			parts = append(parts, nil)
		} else {
			last := len(parts) - 1
			parts[last] = append(parts[last], arg)
		}
	}
	return parts
}

func noProgram(segment int, empty bool) error {
	switch {
	case empty:
		return errors.New("no program to run\n\nUsage: golaunch [flags] PROGRAM [ARGS]\nTry:   golaunch -n 4 hostname\n       golaunch --help")
	case segment > 0:
		return errors.New(`no program to run after ":"`)
	}
	return errors.New("no program to run after the flags")
}

// explain turns pflag's error into one that helps.
func (c *command) explain(err error, args []string, segment int) error {
	all := flagSet(c.groups(&launcher.Segment{})...)
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return explainValue(err, args)
	}
	given := givenFlag(unknown)
	name := strings.TrimLeft(given, "-")
	if segment > 0 && all.Lookup(name) != nil {
		return fmt.Errorf("%s is for the whole job: it goes before the first program", given)
	}
	if better := suggest(name, all); better != "" {
		return fmt.Errorf("unknown flag %s; did you mean %s?", given, better)
	}
	return fmt.Errorf("unknown flag %s (golaunch --help lists them)", given)
}

// givenFlag is an unknown flag as it was typed.
func givenFlag(unknown *pflag.NotExistError) string {
	if letters := unknown.GetSpecifiedShortnames(); letters != "" {
		return "-" + letters
	}
	return "--" + unknown.GetSpecifiedName()
}

// explainValue knows mistakes that other launchers' users make.
func explainValue(err error, args []string) error {
	for _, arg := range args {
		if strings.HasPrefix(arg, "-np") {
			return errors.New("unknown flag -np; did you mean -n?")
		}
	}
	return err
}
