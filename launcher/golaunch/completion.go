package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/golaunch/golaunch/launcher"
)

var shells = []string{"bash", "zsh", "fish"}

// completion returns the completion script of a shell. It is made from the flags
// themselves.
func completion(shell string) string {
	flags := completedFlags()
	switch shell {
	case "zsh":
		return zsh(flags)
	case "fish":
		return fish(flags)
	}
	return bash(flags)
}

// A completed flag is what a completion needs to know of a flag.
type completed struct {
	*pflag.Flag
	help   string
	takes  bool     // a value
	values []string // the value is one of these
	files  string   // the value is a "file" or a "directory"
}

func completedFlags() []completed {
	return completedOf(flagSet(new(command).groups(&launcher.Segment{})...))
}

func completedOf(fs *pflag.FlagSet) []completed {
	var list []completed
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		_, help := pflag.UnquoteUsage(f)
		help, _, _ = strings.Cut(strings.ReplaceAll(help, "\n", " "), ";")
		c := completed{Flag: f, help: help, takes: f.NoOptDefVal == ""}
		switch v := f.Value.(type) {
		case *choice:
			c.values = v.among
		case *stdinValue:
			c.values = []string{"none", "all", "0"}
		}
		switch f.Name {
		case "wdir", "output-dir", "state", "runtime", "cache":
			c.files = "directory"
		case "secret-file", "key-file", "file":
			c.files = "file"
		}
		list = append(list, c)
	})
	return list
}

// names are the ways to write the flag.
func (c *completed) names() []string {
	if c.Shorthand == "" {
		return []string{"--" + c.Name}
	}
	return []string{"-" + c.Shorthand, "--" + c.Name}
}

// bash completes flags and their values, then, once the program is there, what
// bash completes by itself.
func bash(flags []completed) string {
	all, withValue, cases := bashFlags(flags)
	var parts strings.Builder
	for _, s := range subcommands() {
		own, _, ownCases := bashFlags(completedOf(s.flagSet()))
		parts.WriteString(strings.NewReplacer("@NAME@", s.name, "@CASES@", ownCases, "@ALL@", strings.Join(own, " "),
			"@OFFERS@", bashOffers(s.offers)).Replace(bashSubcommand))
	}
	return strings.NewReplacer("@SUBCOMMANDS@", parts.String(), "@NAMES@", commandNames(),
		"@CASES@", cases, "@ALL@", strings.Join(all, " "), "@WITHVALUE@", strings.Join(withValue, "|")).Replace(bashScript)
}

// commandNames are those of the subcommands.
func commandNames() string {
	var names []string
	for _, s := range subcommands() {
		names = append(names, s.name)
	}
	return strings.Join(names, " ")
}

// jobNames prints those of the jobs that run.
const jobNames = `golaunch ps 2>/dev/null | sed '1d;s/ .*//'`

// bashOffers completes an argument of a subcommand.
func bashOffers(o offer) string {
	switch o {
	case offersFiles:
		return ` $(compgen -f -- "$cur")`
	case offersCommands:
		return ` $(compgen -W "` + commandNames() + `" -- "$cur")`
	case offersJobs:
		return ` $(compgen -W "$(` + jobNames + `)" -- "$cur")`
	}
	return ""
}

const bashSubcommand = `  if ((COMP_CWORD > 1)) && [[ ${COMP_WORDS[1]} == @NAME@ ]]; then
    case $prev in
@CASES@    esac
    COMPREPLY=($(compgen -W "@ALL@" -- "$cur")@OFFERS@)
    return
  fi
`

// bashFlags returns the names of flags, of those that take a value, and the cases
// that complete the values.
func bashFlags(flags []completed) (all, withValue []string, values string) {
	var cases strings.Builder
	for _, f := range flags {
		all = append(all, f.names()...)
		if !f.takes {
			continue
		}
		withValue = append(withValue, f.names()...)
		pattern := strings.Join(f.names(), "|")
		switch {
		case f.values != nil:
			fmt.Fprintf(&cases, "    %s) COMPREPLY=($(compgen -W %q -- \"$cur\")); return ;;\n", pattern, strings.Join(f.values, " "))
		case f.files == "directory":
			fmt.Fprintf(&cases, "    %s) COMPREPLY=($(compgen -d -- \"$cur\")); return ;;\n", pattern)
		case f.files == "file":
			fmt.Fprintf(&cases, "    %s) COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n", pattern)
		default:
			fmt.Fprintf(&cases, "    %s) return ;;\n", pattern)
		}
	}
	return all, withValue, cases.String()
}

const bashScript = `# bash completion of golaunch
_golaunch() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} i program=
  COMPREPLY=()
@SUBCOMMANDS@  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
    :) program= ;;
    @WITHVALUE@) [[ -n $program ]] || ((i++)) ;;
    -*) ;;
    *) program=${COMP_WORDS[i]} ;;
    esac
  done
  if [[ -n $program ]]; then
    COMPREPLY=($(compgen -f -- "$cur"))
    return
  fi
  case $prev in
@CASES@  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "@ALL@" -- "$cur"))
  elif [[ $cur == */* ]]; then
    COMPREPLY=($(compgen -f -- "$cur"))
  else
    COMPREPLY=($(compgen -c -- "$cur") $(compgen -d -- "$cur"))
    ((COMP_CWORD > 1)) || COMPREPLY+=($(compgen -W "@NAMES@" -- "$cur"))
  fi
}
complete -o filenames -F _golaunch golaunch
`

// zsh completes flags, then the program, then what the program completes.
func zsh(flags []completed) string {
	var b strings.Builder
	b.WriteString("#compdef golaunch\n# zsh completion of golaunch\n")
	for _, s := range subcommands() {
		fmt.Fprintf(&b, "if ((CURRENT > 2)) && [[ $words[2] == %s ]]; then\n  shift words; ((CURRENT--))\n  _arguments -S \\\n", s.name)
		zshFlags(&b, completedOf(s.flagSet()))
		b.WriteString(zshOffers(s.offers) + "  && return\n  return 1\nfi\n")
	}
	b.WriteString("((CURRENT == 2)) && compadd -X 'golaunch command' -- " + commandNames() + "\n")
	b.WriteString("_arguments -S \\\n")
	zshFlags(&b, flags)
	b.WriteString("  '(-)1:program:{_alternative \"commands:command:_command_names -e\" \"files:file:_files\"}' \\\n")
	b.WriteString("  '*::arguments:_normal'\n")
	return b.String()
}

// zshOffers completes an argument of a subcommand.
func zshOffers(o offer) string {
	switch o {
	case offersFiles:
		return "  '1:file:_files' \\\n"
	case offersCommands:
		return "  '1:command:(" + commandNames() + ")' \\\n"
	case offersJobs:
		return "  '1:job:('\"$(" + jobNames + ")\"')' \\\n"
	}
	return ""
}

func zshFlags(b *strings.Builder, flags []completed) {
	for _, f := range flags {
		for _, name := range f.names() {
			fmt.Fprintf(b, "  '*%s[%s]%s' \\\n", name, zshQuote(f.help), zshValue(&f, name))
		}
	}
}

func zshValue(f *completed, name string) string {
	switch {
	case !f.takes:
		return ""
	case f.values != nil:
		return ":" + f.Name + ":(" + strings.Join(f.values, " ") + ")"
	case f.files == "directory":
		return ":directory:_directories"
	case f.files == "file":
		return ":file:_files"
	}
	return ":" + f.Name + ": "
}

func zshQuote(s string) string {
	return strings.NewReplacer("[", `\[`, "]", `\]`, "'", `'\''`, ":", `\:`).Replace(s)
}

// fish completes our flags before the program, and then what the program
// completes.
func fish(flags []completed) string {
	var b strings.Builder
	short, long := []string{}, []string{} // fish wants the short ones first
	for _, f := range flags {
		b.WriteString(fishFlag("__golaunch_at_flags", f))
		if !f.takes {
			continue
		}
		long = append(long, "--"+f.Name)
		if f.Shorthand != "" {
			short = append(short, "-"+f.Shorthand)
		}
	}
	for _, s := range subcommands() {
		fmt.Fprintf(&b, "complete -c golaunch -n __fish_use_subcommand -a %s -d '%s'\n", s.name, fishQuote(s.about))
		for _, f := range completedOf(s.flagSet()) {
			b.WriteString(fishFlag("'__golaunch_command "+s.name+"'", f))
		}
		b.WriteString(fishOffers(s))
	}
	return strings.NewReplacer("@FLAGS@", b.String(), "@NAMES@", commandNames(),
		"@WITHVALUE@", strings.Join(append(short, long...), " ")).Replace(fishScript)
}

// fishOffers completes an argument of a subcommand.
func fishOffers(s *subcommand) string {
	line := "complete -c golaunch -n '__golaunch_command " + s.name + "' "
	switch s.offers {
	case offersFiles:
		return line + "-F\n"
	case offersCommands:
		return line + "-f -a '" + commandNames() + "'\n"
	case offersJobs:
		return line + `-f -a "(` + jobNames + `)"` + "\n"
	}
	return line + "-f\n"
}

// fishFlag is the line that completes a flag under a condition.
func fishFlag(condition string, f completed) string {
	line := "complete -c golaunch -n " + condition
	if f.Shorthand != "" {
		line += " -s " + f.Shorthand
	}
	line += " -l " + f.Name
	switch {
	case f.values != nil:
		line += " -x -a '" + strings.Join(f.values, " ") + "'"
	case f.files == "directory":
		line += " -x -a '(__fish_complete_directories)'"
	case f.files == "file":
		line += " -r"
	case f.takes:
		line += " -x"
	}
	return fmt.Sprintf("%s -d '%s'\n", line, fishQuote(f.help))
}

func fishQuote(s string) string { return strings.ReplaceAll(s, "'", `\'`) }

const fishScript = `# fish completion of golaunch
function __golaunch_at_flags
    set -l program
    set -l skip
    for word in (commandline -opc)[2..-1]
        if set -q skip[1]
            set skip
            continue
        end
        switch $word
            case :
                set program
            case @WITHVALUE@
                set -q program[1]; or set skip yes
            case '-*'
            case '*'
                set program $word
        end
    end
    not set -q program[1]
end
function __golaunch_command
    set -l words (commandline -opc)
    test "$words[2]" = "$argv[1]"
end
function __golaunch_program
    set -l words (commandline -opc)
    not contains -- "$words[2]" @NAMES@
end
@FLAGS@complete -c golaunch -n __golaunch_program -a '(__fish_complete_subcommand @WITHVALUE@)'
`
