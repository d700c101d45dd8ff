package arena

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// placesVariable says that the machine has huge pages for shared memory and more than one
// NUMA node, so that nothing here is skipped; see transport/verbs/guest.
const placesVariable = "GOLAUNCH_PLACES_REQUIRED"

func skipPlaces(t *testing.T, why string) {
	t.Helper()
	if os.Getenv(placesVariable) != "" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// The kernel says which of its choices is made by brackets.
func hugeChoice(text string) string {
	_, after, _ := strings.Cut(text, "[")
	choice, _, _ := strings.Cut(after, "]")
	return choice
}

// Where the host gives huge pages to shared memory that asks for them, an extent of many
// of them consists of them.
func TestHugePages(t *testing.T) {
	text, _ := os.ReadFile("/sys/kernel/mm/transparent_hugepage/shmem_enabled") // no file: no huge pages
	if choice := hugeChoice(string(text)); !slices.Contains([]string{"always", "within_size", "advise", "force"}, choice) {
		skipPlaces(t, fmt.Sprintf("huge pages of shared memory: %q", choice))
	}
	const bytes = 4 * hugePage
	mem := mustAlloc[byte](t, newArena(t, Config{}), bytes)
	kib, err := hugeKiB(start(mem))
	if err != nil || kib < bytes>>10 {
		t.Errorf("%d KiB of %d are in huge pages, %v", kib, bytes>>10, err)
	}
}

// hugeKiB is how much of the mapping at an address is mapped by huge pages.
func hugeKiB(at uintptr) (int, error) {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }() // it was only read
	inside := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var from, to uintptr
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x ", &from, &to); n == 2 {
			inside = from <= at && at < to
		}
		if kib, ok := strings.CutPrefix(lines.Text(), "ShmemPmdMapped:"); ok && inside {
			return strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(kib, "kB")))
		}
	}
	return 0, errors.New("no such mapping")
}

// Memory of a rank that is bound to a node's cores lies on that node, whichever it is.
func TestPagesOnOwnNode(t *testing.T) {
	nodes := nodesOf("/sys/devices/system/node")
	if len(nodes) < 2 {
		skipPlaces(t, fmt.Sprintf("NUMA nodes with cores: %v", nodes))
	}
	runtime.LockOSThread() // and never unlocked: the thread ends, and what it is bound to
	for node, cores := range nodes {
		if err := unix.SchedSetaffinity(0, &cores); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), os.Args[0]) // bound as this thread
		cmd.Env = append(os.Environ(), childEnv+"=placed", "ARENA_TEST_NODE="+strconv.Itoa(node))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("bound to node %d: %v: %s", node, err, out)
		}
	}
}

// placedChild is a rank that is bound to a node.
func placedChild() error {
	a := New(Config{})
	for _, n := range []int{100, 3 * hugePage} {
		mem, err := Alloc[byte](a, n)
		if err != nil {
			return err
		}
		nodes, err := nodesOfPages(mem)
		if err != nil {
			return err
		}
		for i, node := range nodes {
			if strconv.Itoa(node) != os.Getenv("ARENA_TEST_NODE") {
				return fmt.Errorf("page %d of %d bytes is on node %d", i, n, node)
			}
		}
	}
	return a.Close()
}

// nodesOf returns the cores of each node that has some.
func nodesOf(dir string) map[int]unix.CPUSet {
	all := map[int]unix.CPUSet{}
	lists, _ := filepath.Glob(filepath.Join(dir, "node*", "cpulist")) // the pattern is right
	for _, list := range lists {
		node, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(filepath.Dir(list)), "node"))
		text, _ := os.ReadFile(list)
		if cores := coresOf(string(bytes.TrimSpace(text))); err == nil && cores.Count() > 0 {
			all[node] = cores
		}
	}
	return all
}

// coresOf reads a list as "0-3,8".
func coresOf(list string) (set unix.CPUSet) {
	for part := range strings.SplitSeq(list, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		first, err := strconv.Atoi(from)
		last, err2 := strconv.Atoi(to)
		for core := first; core <= last && errors.Join(err, err2) == nil; core++ {
			set.Set(core)
		}
	}
	return set
}

func TestReadsPlaces(t *testing.T) {
	for text, want := range map[string]string{
		"always within_size advise [never] deny force\n": "never", "always within_size [advise] never deny force\n": "advise", "": "",
	} {
		if got := hugeChoice(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
	dir := t.TempDir()
	for node, cores := range map[string]string{"node0": "0-2,5\n", "node1": "3-4\n", "node2": "\n"} {
		if err := os.Mkdir(filepath.Join(dir, node), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, node, "cpulist"), []byte(cores), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	nodes := nodesOf(dir)
	first, second := nodes[0], nodes[1]
	if len(nodes) != 2 || first.Count() != 4 || !first.IsSet(5) || second.Count() != 2 || !second.IsSet(3) {
		t.Errorf("nodes of cores: %v", nodes)
	}
}
