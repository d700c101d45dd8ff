package pipe

import (
	"bytes"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"testing"

	"github.com/golaunch/golaunch/internal/spawntest"
	"github.com/golaunch/golaunch/runtime/job"
)

func ends(t testing.TB) (*Writer, *Reader) {
	t.Helper()
	mem := make([]byte, Size)
	w, err := OpenWriter(mem)
	if err != nil {
		t.Fatal(err)
	}
	r, err := OpenReader(mem)
	if err != nil {
		t.Fatal(err)
	}
	return w, r
}

// TestAgainstModel drives both ends by a random schedule and compares with a
// buffer that grows.
func TestAgainstModel(t *testing.T) {
	for seed := range uint64(20) {
		w, r := ends(t)
		random := rand.New(rand.NewPCG(seed, 1))
		var model []byte
		next := byte(0)
		for range 5000 {
			if random.IntN(2) == 0 {
				b := make([]byte, random.IntN(Capacity/2))
				for i := range b {
					b[i] = next + byte(i)
				}
				n := w.Write(b)
				if len(b) > 0 && n == 0 && len(model) < Capacity {
					t.Fatalf("seed %d: nothing of %d bytes was taken though %d are free", seed, len(b), Capacity-len(model))
				}
				model = append(model, b[:n]...)
				next += byte(n)
				continue
			}
			got := r.Peek(1)
			if len(got) == 0 && len(model) > 0 {
				t.Fatalf("seed %d: nothing to read though %d bytes are in the pipe", seed, len(model))
			}
			got = got[:random.IntN(len(got)+1)]
			if !bytes.Equal(got, model[:len(got)]) {
				t.Fatalf("seed %d: the bytes differ", seed)
			}
			r.Take(len(got))
			model = model[len(got):]
		}
	}
}

func TestPadKeepsBothEndsTogether(t *testing.T) {
	w, r := ends(t)
	for i := range 3 * Capacity / Align {
		n := i % Align
		if got := w.Write(make([]byte, n)); got != n {
			t.Fatalf("message %d: %d of %d bytes written", i, got, n)
		}
		if !w.Pad() {
			t.Fatal("an empty pipe has no room to pad")
		}
		if len(r.Peek(n)) < n {
			t.Fatalf("message %d is not in one piece", i)
		}
		r.Take(n)
		if !r.Pad() {
			t.Fatal("the reader has nothing to pad with")
		}
		if w.at != r.at || w.at%Align != 0 {
			t.Fatalf("writer at %d, reader at %d", w.at, r.at)
		}
	}
}

func TestPadWaitsForTheOtherEnd(t *testing.T) {
	w, r := ends(t)
	w.Write(make([]byte, Capacity-1))
	r.Take(10) // not enough for nothing: one byte is free already
	if !w.Pad() {
		t.Error("the writer could pad with one byte and did not")
	}
	r.Peek(Capacity)
	r.Take(Capacity - 11)
	if !r.Pad() {
		t.Error("the reader could pad and did not")
	}
	w.Write([]byte{1})
	r.Peek(1)
	r.Take(1)
	if r.Pad() {
		t.Error("the reader padded before the writer")
	}
}

func TestWrongCountersReachNothingOutside(t *testing.T) {
	for _, wrong := range []uint64{1, Capacity, Capacity + 1, 1 << 40, 1<<64 - 1} {
		w, r := ends(t)
		w.Write(make([]byte, 100))
		r.Take(50)
		w.taken.Store(wrong)
		r.written.Store(wrong)
		if n := len(w.Room(Capacity)); n > Capacity {
			t.Errorf("counter %d: room for %d bytes", wrong, n)
		}
		if n := len(r.Peek(Capacity)); n > Capacity {
			t.Errorf("counter %d: %d bytes to read", wrong, n)
		}
	}
}

func TestOpenRefusesMemory(t *testing.T) {
	mem := make([]byte, Size+8)
	for name, m := range map[string][]byte{"short": mem[:Size-1], "misaligned": mem[1:]} {
		if _, err := OpenWriter(m); err == nil {
			t.Errorf("%s memory was accepted", name)
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	w, r := ends(t)
	b := make([]byte, 1000)
	if n := testing.AllocsPerRun(100, func() {
		w.Write(b)
		w.Pad()
		r.Peek(len(b))
		r.Take(len(b))
		r.Pad()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestAcrossProcesses streams a pseudorandom sequence and compares every byte.
func TestAcrossProcesses(t *testing.T) {
	const total = 64 << 20
	if rank, ok := spawntest.Rank(); ok {
		mem, err := job.Map(os.NewFile(spawntest.FirstFile, "job"))
		if err != nil {
			t.Fatal(err)
		}
		if rank == 0 {
			stream(t, mem.Extra(), total)
		} else {
			verify(t, mem.Extra(), total)
		}
		return
	}
	for _, procs := range []int{1, 2, 4} {
		mem, err := job.Create(2, job.Options{Extra: Size})
		if err != nil {
			t.Fatal(err)
		}
		spawntest.Run(t, 2, []string{"GOMAXPROCS=" + strconv.Itoa(procs)}, mem.File())
		mem.Close()
	}
}

func stream(t *testing.T, mem []byte, total int) {
	w, err := OpenWriter(mem)
	if err != nil {
		t.Fatal(err)
	}
	sizes, data := rand.New(rand.NewPCG(1, 1)), rand.NewChaCha8([32]byte{})
	for sent := 0; sent < total; {
		room := w.Room(1)
		room = room[:min(len(room), 1+sizes.IntN(20000), total-sent)]
		if len(room) == 0 {
			runtime.Gosched()
			continue
		}
		data.Read(room)
		w.Commit(len(room))
		sent += len(room)
	}
}

func verify(t *testing.T, mem []byte, total int) {
	r, err := OpenReader(mem)
	if err != nil {
		t.Fatal(err)
	}
	data := rand.NewChaCha8([32]byte{})
	want := make([]byte, Capacity)
	for got := 0; got < total; {
		b := r.Peek(1)
		if len(b) == 0 {
			runtime.Gosched()
			continue
		}
		data.Read(want[:len(b)])
		if !bytes.Equal(b, want[:len(b)]) {
			t.Fatalf("the bytes from %d on differ", got)
		}
		got += len(b)
		r.Take(len(b))
	}
}
