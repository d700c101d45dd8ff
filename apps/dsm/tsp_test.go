package main

import "testing"

// Held and Karp find what trying all tours does.
func TestSerialTsp(t *testing.T) {
	for n := 4; n <= 8; n++ {
		c := newCities(n)
		var try func(city, seen int, length int64) int64
		try = func(city, seen int, length int64) int64 {
			if seen == 1<<n-1 {
				return length + c.apart[city][0]
			}
			best := int64(none)
			for next := range n {
				if seen>>next&1 == 0 {
					best = min(best, try(next, seen|1<<next, length+c.apart[city][next]))
				}
			}
			return best
		}
		if got, want := serialTsp(c), try(0, 1, 0); got != want {
			t.Errorf("%d cities: %d, want %d", n, got, want)
		}
	}
}

// Every two cities behind city 0 are one task.
func TestTspTasks(t *testing.T) {
	c := newCities(6)
	seen := map[[2]int]bool{}
	for number := range c.tasks() {
		second, third := c.task(number)
		seen[[2]int{second, third}] = true
		if second < 1 || third < 1 || second >= c.n || third >= c.n || second == third {
			t.Errorf("task %d is 0, %d, %d", number, second, third)
		}
	}
	if len(seen) != 5*4 {
		t.Errorf("%d tasks: %v", len(seen), seen)
	}
}

// What a step of the search thinks it is at least is never more than it is: the bound is not
// used against a shortest tour.
func TestTspSearch(t *testing.T) {
	for n := 4; n <= 9; n++ {
		c := newCities(n)
		best, number := int64(none), int64(-1)
		s := &salesman{cities: c, bound: func() (int64, error) { return best, nil }, found: func(l int64) error { best = l; return nil }}
		if err := s.travel(func() (int64, error) { number++; return number, nil }); err != nil {
			t.Fatal(err)
		}
		if want := serialTsp(c); best != want {
			t.Errorf("%d cities: %d, want %d", n, best, want)
		}
	}
}

type wrongTsp struct{ tspMemory }

func (wrongTsp) shortest() (int64, error) { return 1, nil }

func TestTspCheckCanFail(t *testing.T) {
	alone(t, 5, 0, func(j *job) error { return noticed(j.checkTsp(newCities(5), wrongTsp{})) })
}
