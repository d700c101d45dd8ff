package main

import (
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/pflag"
)

// elsewhere are flags of other launchers, and ours for them.
var elsewhere = map[string]string{
	"np": "-n", "n": "-n", "c": "-n", "wd": "--wdir", "genv": "-x", "l": "--tag-output", "prepend-rank": "--tag-output",
	"output-filename": "--output-dir", "outfile-pattern": "--output-dir", "bind-to-core": "--bind-to core",
}

// suggest returns the flag that somebody meant who typed name, "" if it cannot be
// guessed.
func suggest(name string, flags *pflag.FlagSet) string {
	if ours := elsewhere[name]; ours != "" {
		return ours
	}
	best, least := "", len(name)/3+2
	flags.VisitAll(func(f *pflag.Flag) {
		if d := distance(name, f.Name); d < least {
			best, least = "--"+f.Name, d
		}
	})
	return best
}

// mistyped returns golaunch's command that somebody meant, with a letter too many or
// behind a flag, where there is no such program; "" if there is one, or no such command.
func (c *command) mistyped() string {
	program := c.options.Segments[0].Program
	if _, err := exec.LookPath(program); err == nil || strings.Contains(program, "/") {
		return ""
	}
	if _, err := os.Lstat(program); err == nil {
		return "" // launcher says how a program is named that is here
	}
	for _, s := range subcommands() {
		if distance(program, s.name) <= 1 {
			return s.name
		}
	}
	return ""
}

// distance is how many letters must be inserted, deleted, replaced, or exchanged
// with their neighbour, to make b of a.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}
