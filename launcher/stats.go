package launcher

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// jsonPath is what a rank reports of one path to its peers, and what --json shows.
type jsonPath struct {
	Ops   int64 `json:"ops"`
	Bytes int64 `json:"bytes"`
	Wait  int64 `json:"wait_ns"`
}

// jsonPaths are a rank's paths by name: "shm", "tcp", "verbs".
type jsonPaths map[string]jsonPath

func (p jsonPaths) add(other jsonPaths) {
	for name, path := range other {
		sum := p[name]
		p[name] = jsonPath{sum.Ops + path.Ops, sum.Bytes + path.Bytes, sum.Wait + path.Wait}
	}
}

// paths are what a rank has reported, nil if it has not, or nothing that makes
// sense.
func (r *rankInfo) paths() jsonPaths {
	var figures struct {
		Paths jsonPaths `json:"paths"`
	}
	if json.Unmarshal(r.figures, &figures) != nil {
		return nil
	}
	return figures.Paths
}

// allPaths sums up the ranks'.
func (f *front) allPaths() jsonPaths {
	sum := jsonPaths{}
	for i := range f.ranks {
		sum.add(f.ranks[i].paths())
	}
	return sum
}

// reportStats prints the table of --stats, if it is wanted.
func (f *front) reportStats() {
	if !f.Stats {
		return
	}
	sum := f.allPaths()
	if len(sum) == 0 {
		f.say("--stats: no rank has reported anything")
		return
	}
	var table strings.Builder
	fmt.Fprintf(&table, "paths between ranks:\n%8s  %-5s %12s %16s %12s\n", "rank", "path", "operations", "bytes", "waited")
	for i := range f.ranks {
		f.ranks[i].paths().rows(&table, fmt.Sprint(i))
	}
	sum.rows(&table, "all")
	f.say("%s", strings.TrimSuffix(table.String(), "\n"))
}

// rows appends a line for each path.
func (p jsonPaths) rows(table *strings.Builder, who string) {
	for _, name := range slices.Sorted(maps.Keys(p)) {
		fmt.Fprintf(table, "%8s  %-5s %12d %16d %10.3f s\n", who, name, p[name].Ops, p[name].Bytes, seconds(p[name].Wait))
		who = ""
	}
}
