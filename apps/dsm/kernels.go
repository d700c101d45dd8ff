package main

import "github.com/golaunch/golaunch/apps/internal/program"

// A kernel is one of the programs.
type kernel struct {
	name        string
	run         func(*job) error
	size, steps int                        // where none are given
	fits        func(size, ranks int) bool // what sizes it takes
	sizes       string                     // fits in words
}

func kernels() []kernel {
	return []kernel{
		{"sor", sor, 2048, 20, func(size, ranks int) bool { return size%2 == 0 && size >= 4 && size >= ranks && size <= 1<<16 },
			"must be even, between 4 and 65536, and not less than there are ranks"},
		{"lu", lu, 1024, 1, func(size, _ int) bool { return size%side == 0 && size > 0 && size <= 1<<16 },
			"must be a multiple of 32, at most 65536"},
		{"is", is, 1 << 20, 10, func(size, _ int) bool { return size >= 2 },
			"must be at least 2"},
		{"water", water, 1000, 5, func(size, _ int) bool { return size >= 8 && size <= 1<<15 },
			"must lie between 8 and 32768"},
		{"tsp", tsp, 14, 1, func(size, _ int) bool { return size >= 4 && size <= 18 },
			"must lie between 4 and 18"},
		{"feed", feed, 10, 5, perThousand, perThousandText},
		{"mix", mix, 10, 5, perThousand, perThousandText},
	}
}

func perThousand(size, _ int) bool { return size >= 1 && size <= thousand }

const perThousandText = "must lie between 1 and 1000"

func kernelNames() (names []string) {
	for _, k := range kernels() {
		names = append(names, k.name)
	}
	return names
}

// choose is the kernel of a name as opt wants it, for so many ranks.
func choose(name string, opt options, ranks int) (kernel, error) {
	for _, k := range kernels() {
		if k.name != name {
			continue
		}
		if opt.size > 0 {
			k.size = opt.size
		}
		if opt.steps > 0 {
			k.steps = opt.steps
		}
		if !k.fits(k.size, ranks) {
			return k, program.Usagef("%s: --size %d, on %d ranks: %s", name, k.size, ranks, k.sizes)
		}
		return k, nil
	}
	return kernel{}, program.Usagef("unknown kernel %q", name)
}
