//go:build cgo && linux

package verbs

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golaunch/golaunch/transport/transporttest"
)

// perftestVariable has TestBesidePerftest run, on the device that it names.
const perftestVariable = "GOLAUNCH_VERBS_PERFTEST"

// A ping is one measurement: rounds exchanges of size bytes.
type ping struct{ Size, Rounds int }

// source is where the pings are written from, far from where they are written to.
const source = rankMemory / 2

// TestBesidePerftest measures Put as ib_write_lat does (two processes write to each
// other in turn and look at their memory; half a round) and Get as ib_read_lat does
// (one reads, the other does nothing; a whole round), each run beside a run of theirs,
// and reports medians of medians.
func TestBesidePerftest(t *testing.T) {
	device := os.Getenv(perftestVariable)
	if device == "" {
		t.Skip(perftestVariable + " names no device")
	}
	r, other := with(t, "pong")
	check(t, transporttest.Bind(other.Process.Pid, 1))
	check(t, transporttest.Bind(os.Getpid(), 0))
	for _, p := range []ping{{8, 500}, {64 << 10, 60}} {
		t.Run(strconv.Itoa(p.Size), func(t *testing.T) { r.beside(t, device, p) })
	}
	check(t, r.out.Encode(ping{}))
	check(t, r.endpoint.Close())
	check(t, other.Wait())
}

func (r *rank) beside(t *testing.T, device string, p ping) {
	var put, write, get, read []time.Duration
	for range 11 {
		put = append(put, r.pings(t, p))
		write = append(write, perftest(t, "ib_write_lat", device, p))
		get = append(get, r.gets(t, p))
		read = append(read, perftest(t, "ib_read_lat", device, p))
		t.Log(put[len(put)-1], write[len(put)-1], get[len(put)-1], read[len(put)-1])
	}
	report(t, "Put", "ib_write_lat", p.Size, put, write)
	report(t, "Get", "ib_read_lat", p.Size, get, read)
}

func report(t *testing.T, ours, theirs string, size int, a, b []time.Duration) {
	x, y := median(a), median(b)
	t.Logf("%s %d B: %v, %s: %v, ratio %.2f", ours, size, x, theirs, y, float64(x)/float64(y))
}

func median(all []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

func (r *rank) pings(t *testing.T, p ping) time.Duration {
	check(t, r.out.Encode(p))
	var ready ping
	check(t, r.in.Decode(&ready))
	return half(timed(t, p, func(k uint64) error { return errors.Join(r.hit(p, k), r.hear(p, k)) }))
}

func (r *rank) gets(t *testing.T, p ping) time.Duration {
	far, err := r.far.Slice(source, int64(p.Size))
	check(t, err)
	return timed(t, p, func(uint64) error { return r.done(1, r.conn.Get(r.mem[:p.Size], far, 1)) })
}

func half(d time.Duration) time.Duration { return d / 2 }

// timed is the median of the rounds. What it does beside them costs as little as what
// perftest does: it looks at one clock, once a round.
func timed(t *testing.T, p ping, round func(k uint64) error) time.Duration {
	took := make([]time.Duration, p.Rounds)
	start := time.Now()
	begun := time.Since(start)
	for k := range took {
		if err := round(uint64(k + 1)); err != nil {
			t.Fatal(err)
		}
		now := time.Since(start)
		took[k], begun = now-begun, now
	}
	return median(took)
}

// hit writes a ping to the other and waits until that has ended, as ib_write_lat does.
func (r *rank) hit(p ping, number uint64) error {
	mine := r.mem[source : source+p.Size]
	words(mine)[len(mine)/8-1] = number
	far, err := r.far.Slice(0, int64(p.Size))
	if err != nil {
		return err
	}
	return r.done(1, r.conn.Put(far, mine, 1))
}

// hear waits until the other's ping is there.
func (r *rank) hear(p ping, number uint64) error {
	last := &words(r.mem[:p.Size])[p.Size/8-1]
	for atomic.LoadUint64(last) != number {
	}
	return nil
}

// pong answers pings until one of no bytes is announced.
func (r *rank) pong() error {
	for {
		var p ping
		if err := r.in.Decode(&p); err != nil || p.Size == 0 {
			return err
		}
		clear(r.mem[:p.Size])
		if err := r.out.Encode(p); err != nil {
			return err
		}
		for k := range uint64(p.Rounds) {
			if err := r.hear(p, k+1); err != nil {
				return err
			}
			if err := r.hit(p, k+1); err != nil {
				return err
			}
		}
	}
}

// perftest runs one of its programs with itself and returns the median that it prints.
func perftest(t *testing.T, program, device string, p ping) time.Duration {
	args := []string{"-d", device, "-x", "1", "-s", strconv.Itoa(p.Size), "-n", strconv.Itoa(p.Rounds)}
	server := exec.CommandContext(t.Context(), program, args...)
	check(t, server.Start())
	check(t, transporttest.Bind(server.Process.Pid, 1)) // the client is where this process is
	var out []byte
	for end := time.Now().Add(patience); time.Now().Before(end); { // it may not listen yet
		var err error
		if out, err = exec.CommandContext(t.Context(), program, append(args, "127.0.0.1")...).CombinedOutput(); err == nil {
			break
		}
	}
	check(t, server.Wait())
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), "#bytes") && i+1 < len(lines) {
			us, err := strconv.ParseFloat(strings.Fields(lines[i+1])[4], 64)
			check(t, err)
			return time.Duration(us * 1000)
		}
	}
	t.Fatalf("%s printed\n%s", program, out)
	return 0
}
