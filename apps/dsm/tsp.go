package main

import "math"

// tsp finds the shortest tour through cities by branch and bound. The first three cities
// of a tour are a task; ranks take tasks from a shared counter, and give up a tour when
// what it has at least is no better than the shortest that any rank has found: the
// bound, which all read at every step and hardly anybody ever changes.
func tsp(j *job) error {
	memory, err := newTspMemory(j)
	if err != nil {
		return err
	}
	s := &salesman{cities: newCities(j.size), bound: memory.bound, found: memory.found}
	if err := j.time(func() error { return s.travel(memory.next) }); err != nil {
		return err
	}
	if err := j.checkTsp(s.cities, memory); err != nil {
		return err
	}
	return memory.free()
}

// tspMemory is where the counter and the bound are.
type tspMemory interface {
	next() (task int64, err error)
	bound() (int64, error)
	found(length int64) error // makes the bound length, if that is less
	shortest() (int64, error) // is the bound when all ranks have called it
	free() error
}

func (j *job) checkTsp(c cities, memory tspMemory) error {
	got, err := memory.shortest()
	if err != nil || !j.verify || j.me() != 0 {
		return err
	}
	if want := serialTsp(c); got != want {
		return j.differ("length of tour", 0, got, want)
	}
	return nil
}

// none is the bound before a tour was found.
const none = math.MaxInt64

// cities are the distances of each two, and how near the nearest of each is.
type cities struct {
	n       int
	apart   [][]int64
	nearest []int64
}

func newCities(n int) cities {
	c := cities{n: n, nearest: make([]int64, n)}
	for i := range n {
		c.apart = append(c.apart, make([]int64, n))
		c.nearest[i] = none
		for k := range n {
			x := float64(scramble(uint64(2*i))%1000) - float64(scramble(uint64(2*k))%1000)
			y := float64(scramble(uint64(2*i+1))%1000) - float64(scramble(uint64(2*k+1))%1000)
			c.apart[i][k] = int64(math.Hypot(x, y))
			if i != k {
				c.nearest[i] = min(c.nearest[i], c.apart[i][k])
			}
		}
	}
	return c
}

// tasks is how many there are: two different cities behind city 0.
func (c cities) tasks() int64 { return int64((c.n - 1) * (c.n - 2)) }

func (c cities) task(number int64) (second, third int) {
	second, third = 1+int(number)/(c.n-2), 1+int(number)%(c.n-2)
	if third >= second {
		third++
	}
	return second, third
}

// salesman is one rank's search.
type salesman struct {
	cities
	bound func() (int64, error)
	found func(length int64) error
}

func (s *salesman) travel(next func() (int64, error)) error {
	for {
		number, err := next()
		if err != nil || number >= s.tasks() {
			return err
		}
		second, third := s.task(number)
		seen := uint64(1)<<0 | 1<<second | 1<<third
		least := s.nearest[third]
		for city := range s.n {
			if seen>>city&1 == 0 {
				least += s.nearest[city]
			}
		}
		if err := s.visit(third, seen, s.apart[0][second]+s.apart[second][third], least); err != nil {
			return err
		}
	}
}

// visit goes on from a city, where the tour is so long. Least is what the rest of it has at
// least: as many ways as there are cities to leave.
func (s *salesman) visit(city int, seen uint64, length, least int64) error {
	if seen == 1<<s.n-1 {
		return s.home(length + s.apart[city][0])
	}
	bound, err := s.bound()
	if err != nil || length+least >= bound {
		return err
	}
	for next := range s.n {
		if seen>>next&1 != 0 {
			continue
		}
		if err := s.visit(next, seen|1<<next, length+s.apart[city][next], least-s.nearest[city]); err != nil {
			return err
		}
	}
	return nil
}

func (s *salesman) home(length int64) error {
	bound, err := s.bound()
	if err != nil || length >= bound {
		return err
	}
	return s.found(length)
}

// serialTsp is the length of the shortest tour, found another way: for each set of cities
// and each end, the shortest path (Held and Karp, 1962).
func serialTsp(c cities) int64 {
	paths := make([]int64, 1<<c.n*c.n) // from city 0 through all of a set to one of them
	for i := range paths {
		paths[i] = none
	}
	paths[1*c.n] = 0
	for set := 1; set < 1<<c.n; set += 2 {
		for end := range c.n {
			if paths[set*c.n+end] != none {
				extend(c, paths, set, end)
			}
		}
	}
	best := int64(none)
	for end := 1; end < c.n; end++ {
		best = min(best, paths[(1<<c.n-1)*c.n+end]+c.apart[end][0])
	}
	return best
}

func extend(c cities, paths []int64, set, end int) {
	for next := 1; next < c.n; next++ {
		if set>>next&1 == 0 {
			longer := &paths[(set|1<<next)*c.n+next]
			*longer = min(*longer, paths[set*c.n+end]+c.apart[end][next])
		}
	}
}
