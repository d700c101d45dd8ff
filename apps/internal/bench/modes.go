package bench

import (
	"fmt"
	"slices"
	"strings"

	"github.com/golaunch/golaunch/apps/internal/bench/figures"
	"github.com/golaunch/golaunch/runtime/world"
)

// MaxRepeat is how many runs of each mode can be asked for.
const MaxRepeat = 1001

// CheckModes says what is wrong with the values of --mode and --repeat of a program that
// does the same thing in several modes.
func CheckModes(chosen, all []string, repeat int) error {
	for _, mode := range chosen {
		if !slices.Contains(all, mode) {
			return fmt.Errorf("--mode %q: want %s", mode, strings.Join(all, ", "))
		}
	}
	switch {
	case len(chosen) == 0:
		return fmt.Errorf("--mode: none is given")
	case repeat < 1 || repeat > MaxRepeat:
		return fmt.Errorf("--repeat %d: must lie between 1 and %d", repeat, MaxRepeat)
	}
	return nil
}

// TakeTurns runs once for each mode, i is its index, as often as is asked for, and returns
// the median time of each. The modes take turns, so that other programs disturb all of them
// alike.
func TakeTurns(modes []string, repeat int, once func(i int, mode string) (seconds float64, err error)) ([]float64, error) {
	times := make([][]float64, len(modes))
	for range repeat {
		for i, mode := range modes {
			seconds, err := once(i, mode)
			if err != nil {
				return nil, err
			}
			times[i] = append(times[i], seconds)
		}
	}
	medians := make([]float64, len(modes))
	for i := range times {
		medians[i] = figures.Median(times[i])
	}
	return medians, nil
}

// Farthest is the path to a rank of another host; if there is none, that to another rank, or
// to the only one itself.
func Farthest(comm *world.Comm) string {
	path := comm.Path(comm.Rank())
	for rank := range comm.Size() {
		switch p := comm.Path(rank); p {
		case "self":
		case "shm":
			path = p
		default:
			return p
		}
	}
	return path
}
