package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/golaunch/golaunch/apps/peers/internal/report"
)

// A contender knows how to start its own build of a program.
type contender struct {
	name     string
	launcher string
	bind     []string // launcher flags for a core a rank, in turn where ranks outnumber cores
	crowded  []string // launcher flags where they do
	divide   int      // by what batches are smaller then
	network  []string // launcher flags for TCP on the loopback interface
	env      []string // environment for that
	programs [programs]string
	json     bool // its programs take --json and --buffers
}

// When ranks share cores, an operation takes some ten times as long. Where ranks
// spin while they wait it takes a hundred thousand times as long. Batches should be
// long enough for the ranks to be spread over the cores, and end today.
const (
	crowdedDivide  = 10
	spinningDivide = 500
)

// contenders returns this project and the peers asked for, whose programs lie in
// dir.
func contenders(dir string, peers []string) []contender {
	all := []contender{{
		name: report.Golaunch, launcher: filepath.Join(dir, "golaunch"), bind: []string{"--bind-to", "core"}, divide: crowdedDivide, json: true,
		network:  []string{"--virtual-hosts", "2"},
		programs: [programs]string{filepath.Join(dir, "rmabench"), filepath.Join(dir, "allreduce"), filepath.Join(dir, "joinexit"), filepath.Join(dir, "p2pbench")},
	}}
	for _, name := range peers {
		c := contender{name: name, launcher: "mpirun.openmpi", bind: []string{"--bind-to", "core:overload-allowed"}, crowded: []string{"--oversubscribe"}, divide: crowdedDivide,
			network: []string{"--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "osc", "^sm,ucx", "--mca", "btl_tcp_if_include", "lo"}}
		if name == report.MPICH {
			c.launcher, c.bind, c.crowded, c.divide = "mpirun.mpich", []string{"-bind-to", "core"}, nil, spinningDivide
			c.network, c.env = nil, []string{"UCX_TLS=tcp,self", "UCX_NET_DEVICES=lo", "MPIR_CVAR_NOLOCAL=1"}
		}
		for i, source := range cSources {
			c.programs[i] = filepath.Join(dir, name+"-"+source)
		}
		all = append(all, c)
	}
	return all
}

// command is the whole command line of a case.
func (c contender) command(bc benchCase, o options, cores int) []string {
	var argv []string
	if bc.network && c.env != nil {
		argv = append(append(argv, "env"), c.env...)
	}
	argv = append(argv, c.launcher, "-n", fmt.Sprint(bc.ranks))
	if bc.network {
		argv = append(argv, c.network...)
	}
	argv = append(argv, c.bind...)
	if bc.ranks > cores {
		argv = append(argv, c.crowded...)
	}
	argv = append(argv, c.programs[bc.program])
	argv = append(argv, bc.args(o)...)
	if bc.program != idle && bc.ranks > cores && o.divide == 0 {
		argv = append(argv, fmt.Sprintf("--divide=%d", c.divide))
	}
	switch {
	case c.json && bc.program != idle:
		argv = append(argv, "--buffers="+strings.Join(bc.buffers, ","), "--json")
		if bc.bare {
			argv = append(argv, "--bare")
		}
	case bc.network:
		argv = append(argv, "--transport=tcp")
	}
	return argv
}

// kinds is how many kinds of buffers the contender has in a case.
func (c contender) kinds(bc benchCase) int {
	if c.json {
		return len(bc.buffers)
	}
	return 1
}

// environment lets Open MPI start as root, which it refuses by default.
func environment() []string {
	env := os.Environ()
	if os.Geteuid() == 0 {
		env = append(env, "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	}
	return env
}
