package golaunch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/golaunch/golaunch"

// A source is what the rules look at in one file.
type source struct {
	path    string // from the module's root, with slashes
	pkg     string // package name
	imports []string
	calls   []string // selector calls and init declarations: "time.Sleep", "func init"
}

func (s source) dir() string  { return path.Dir(s.path) }
func (s source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }
func (s source) house() []string {
	var rooms []string
	for _, i := range s.imports {
		if room, ok := strings.CutPrefix(i, module+"/"); ok {
			rooms = append(rooms, room)
		}
	}
	return rooms
}

// A rule returns what is wrong with a file, "" if nothing is.
type rule struct {
	name  string
	check func(source) string
	// bad is a file that breaks the rule: each rule is shown to be able to fail.
	bad source
}

// floors is what each room may import of the others. A room not listed here may
// import nothing: new rooms are entered on purpose.
var floors = map[string][]string{
	"transport":               {},
	"transport/shm":           {"transport", "runtime/relax"},
	"transport/transporttest": {"transport"},

	"transport/far": {"transport", "transport/tcp", "transport/verbs"},

	"transport/internal/address":   {},
	"transport/internal/handshake": {},

	"transport/tcp/wire": {},
	"transport/tcp":      {"transport", "transport/tcp/wire", "runtime/relax", "transport/internal/address", "transport/internal/handshake"},
	"transport/verbs":    {"transport", "transport/internal/address", "transport/internal/handshake", "transport/verbs/internal/credit", "transport/verbs/internal/cstack"},

	"transport/verbs/internal/credit":       {},
	"transport/verbs/internal/cstack":       {},
	"transport/verbs/internal/cstack/ctest": {}, // for tests
	"transport/verbs/internal/forking":      {}, // for tests

	"launcher/boot":                {},
	"launcher/boot/pmi":            {"launcher/boot/pmi/wire"},
	"launcher/boot/pmi/wire":       {},
	"launcher/boot/helper":         {"launcher/boot", "launcher/internal/desk", "runtime/job", "runtime/group"},
	"launcher/boot/bootstrap":      {"launcher/boot", "launcher/boot/helper", "launcher/boot/pmi", "launcher/internal/cores"},
	"launcher/internal/api":        {"launcher/internal/stage/manifest", "launcher/internal/stage/needs"},
	"launcher/internal/agent":      {"launcher/internal/api", "launcher/internal/cores", "launcher/internal/placement", "launcher/internal/slots", "launcher/internal/stage", "launcher/internal/stage/cache", "launcher/internal/stage/jobdir", "launcher/internal/stage/manifest", "launcher/internal/stage/needs"},
	"launcher/internal/control":    {},
	"launcher/internal/desk":       {"launcher/boot"},
	"launcher/internal/cores":      {},
	"launcher/internal/join":       {"launcher/internal/keys"},
	"launcher/internal/keys":       {},
	"launcher/internal/lifecycle":  {},
	"launcher/internal/lines":      {},
	"launcher/internal/netns":      {},
	"launcher/internal/built":      {},
	"launcher/internal/placement":  {},
	"launcher/internal/scale":      {"launcher/internal/tree", "runtime/group/exchange"},
	"launcher/internal/scale/page": {"launcher/internal/scale", "launcher/internal/tree"},
	"launcher/internal/slots":      {},
	"launcher/internal/proc":       {},
	"launcher/internal/tree":       {},
	"launcher/internal/relay":      {"launcher/internal/join", "launcher/internal/tree"},
	"launcher/internal/supervisor": {"launcher/boot", "launcher/internal/control", "launcher/internal/cores", "launcher/internal/desk", "launcher/internal/proc", "launcher/internal/relay", "runtime/job", "runtime/group"},
	"launcher":                     {"launcher/boot", "launcher/internal/agent", "launcher/internal/api", "launcher/internal/control", "launcher/internal/cores", "launcher/internal/doctor", "launcher/internal/join", "launcher/internal/keys", "launcher/internal/lifecycle", "launcher/internal/lines", "launcher/internal/member", "launcher/internal/proc", "launcher/internal/relay", "launcher/internal/stage", "launcher/internal/stage/manifest", "launcher/internal/stage/needs", "launcher/internal/supervisor", "launcher/internal/tree", "runtime/job"},
	"launcher/golaunch":            {"launcher"},
	"launcher/crosshost":           {},
	"launcher/bootstrapped":        {},

	"launcher/internal/stage":          {"launcher/internal/stage/cache", "launcher/internal/stage/digest", "launcher/internal/stage/manifest", "launcher/internal/stage/spread"},
	"launcher/internal/stage/cache":    {"launcher/internal/stage/digest", "launcher/internal/stage/eviction", "launcher/internal/stage/private"},
	"launcher/internal/stage/digest":   {},
	"launcher/internal/stage/eviction": {},
	"launcher/internal/stage/jobdir":   {"launcher/internal/stage/cache", "launcher/internal/stage/digest", "launcher/internal/stage/manifest", "launcher/internal/stage/private"},
	"launcher/internal/stage/manifest": {"launcher/internal/stage/digest"},
	"launcher/internal/stage/needs":    {},
	"launcher/internal/stage/private":  {},
	"launcher/internal/stage/spread":   {},

	"launcher/internal/doctor":        {"launcher/internal/keys"},
	"launcher/internal/member":        {"launcher/internal/join", "launcher/internal/keys", "launcher/internal/member/roster"},
	"launcher/internal/member/roster": {},

	"runtime/memlimit":             {},
	"runtime/copying":              {},
	"runtime/crossmem":             {},
	"runtime/matching":             {},
	"runtime/rendezvous":           {},
	"runtime/pipe":                 {},
	"internal/spawntest":           {},
	"runtime/futex":                {},
	"runtime/job":                  {"runtime/futex", "runtime/memlimit"},
	"runtime/relax":                {},
	"runtime/waiting":              {"runtime/job", "runtime/relax"},
	"runtime/group/exchange":       {},
	"runtime/group":                {"runtime/group/exchange", "runtime/relax", "runtime/job", "runtime/waiting"},
	"runtime/arena/quarantine":     {},
	"runtime/arena/foreign/ranges": {},
	"runtime/arena/foreign":        {"runtime/arena/foreign/ranges", "runtime/memlimit", "transport"},
	"runtime/arena":                {"runtime/arena/quarantine", "runtime/memlimit", "transport"},
	"runtime/world/router":         {"runtime/job", "runtime/waiting", "transport"},
	"runtime/world/messages":       {"runtime/world/router", "runtime/copying", "runtime/crossmem", "runtime/job", "runtime/matching", "runtime/relax", "runtime/rendezvous", "transport/verbs/internal/credit", "runtime/waiting", "transport"},
	"runtime/world":                {"runtime/world/router", "runtime/world/messages", "runtime/rendezvous", "transport/verbs/internal/credit", "runtime/arena", "runtime/group", "runtime/job", "runtime/pipe", "runtime/relax", "runtime/waiting", "transport", "transport/far", "transport/shm", "launcher/boot", "launcher/boot/bootstrap"},
	"runtime/worldtest":            {"runtime/world", "launcher/boot", "launcher/boot/bootstrap"},

	"window/coherence":    {},
	"window/element":      {},
	"window/pager/stride": {},
	"window/pager/uffd":   {},
	"window/litmus":       {},
	"window/pager/line":   {"runtime/futex"},
	"window/pager/parcel": {"window/coherence"},
	"window/pager":        {"window/pager/line", "window/pager/uffd"},
	// It imports this project's launcher for its line to the supervisor only.
	"window/pager/process": {"window/pager/line", "window/pager/parcel", "window/pager/stride", "window/pager/uffd", "window/coherence", "runtime/relax", "transport", "transport/far", "launcher/boot"},
	"window/packet":        {"runtime/job", "runtime/group"},
	"window/lock":          {"runtime/job", "runtime/waiting", "runtime/group"},
	"window":               {"window/pager", "window/pager/line", "window/pager/process", "window/element", "window/lock", "window/packet", "runtime/world", "runtime/arena", "runtime/group", "runtime/job", "runtime/waiting", "runtime/copying", "runtime/memlimit", "transport"},

	"collectives/schedule": {},
	"collectives/reduce":   {},
	"collectives/link":     {},
	"collectives":          {"collectives/schedule", "collectives/reduce", "collectives/link", "transport", "runtime/world", "runtime/arena", "runtime/group", "runtime/pipe", "runtime/waiting", "runtime/copying"},
}

// testFloors is what a room's tests may import beyond that.
var testFloors = map[string][]string{
	"runtime/pipe":                    {"runtime/job"}, // for memory that two processes share
	"runtime/arena":                   {"runtime/arena/foreign", "transport/tcp", "transport/verbs"},
	"transport/verbs":                 {"transport/verbs/internal/forking"},
	"transport/verbs/internal/cstack": {"transport/verbs/internal/cstack/ctest"},
	"launcher/golaunch":               {"launcher/boot", "runtime/job"},
	"launcher/crosshost":              {"launcher/internal/built", "launcher/internal/netns", "runtime/world", "window", "collectives"},

	"launcher/fivehosts":    {"launcher/internal/built", "launcher/internal/netns", "launcher/internal/api", "runtime/world", "collectives"},
	"launcher/bootstrapped": {"launcher/boot", "launcher/internal/built", "launcher/internal/netns", "runtime/world", "window", "collectives"},

	"launcher/internal/scale": {"launcher/internal/api", "launcher/internal/join", "launcher/internal/keys", "launcher/internal/member", "launcher/internal/netns", "launcher/internal/relay", "runtime/world", "collectives"},
	"launcher/internal/stage": {"launcher/internal/netns"},

	"window":        {"runtime/relax"},
	"window/litmus": {"runtime/relax", "runtime/world", "window", "collectives"},

	"runtime/world/router":   {"transport/shm"},
	"runtime/world/messages": {"transport/shm", "transport/tcp"},
}

// appFloor is what programs under apps/ may use, beside rooms of apps/ itself.
var appFloor = []string{"runtime/world", "runtime/arena", "runtime/arena/foreign", "window", "collectives"}

func mayImport(s source, room string) bool {
	if strings.HasPrefix(s.dir(), "apps/") {
		return slices.Contains(appFloor, room) || strings.HasPrefix(room, "apps/")
	}
	return slices.Contains(floors[s.dir()], room)
}

// mayImportInTests adds what exists for tests, the room itself, and what
// testFloors has.
func mayImportInTests(s source, room string) bool {
	switch room {
	case s.dir(), "internal/spawntest":
		return true
	case "runtime/worldtest":
		return !slices.Contains(floors["runtime/world"], s.dir())
	case "transport/transporttest":
		return strings.HasPrefix(s.dir(), "transport/") || s.dir() == "runtime/arena" || strings.HasPrefix(s.dir()+"/", "runtime/world/")
	}
	return mayImport(s, room) || slices.Contains(testFloors[s.dir()], room)
}

var pure = []string{"collectives/schedule", "launcher/boot/pmi/wire", "launcher/internal/lifecycle", "launcher/internal/placement", "launcher/internal/scale", "launcher/internal/slots", "launcher/internal/tree", "runtime/arena/foreign/ranges", "runtime/arena/quarantine", "runtime/group/exchange", "runtime/matching", "runtime/rendezvous", "transport/verbs/internal/credit", "window/coherence", "window/pager/parcel", "window/pager/stride"}

// thirdParty is who may import what from outside the standard library.
var thirdParty = map[string]func(source) bool{
	"golang.org/x/sys": func(source) bool { return true },
	"github.com/spf13/pflag": func(s source) bool {
		return s.pkg == "main" || s.dir() == "launcher" || strings.HasPrefix(s.dir(), "apps/")
	},
	"github.com/hashicorp/memberlist":   func(s source) bool { return s.dir() == "launcher/internal/member" },
	"github.com/anishathalye/porcupine": source.isTest,
	"github.com/google/go-cmp":          source.isTest,
	"go.uber.org/goleak":                func(s source) bool { return s.isTest() || strings.HasSuffix(s.dir(), "test") },
	"github.com/mmcloughlin/avo":        func(s source) bool { return path.Base(s.dir()) == "asm" },
}

var rules = []rule{
	{"imports go down only", importsGoDown, source{path: "runtime/world/x.go", imports: []string{module + "/window"}}},
	{"tests import what their room may, and test rooms", testsImportDown, source{path: "transport/x_test.go", imports: []string{module + "/runtime/world"}}},
	{"pure rooms do no I/O and have no clock", staysPure, source{path: "collectives/schedule/x.go", imports: []string{"time"}}},
	{"boot uses the standard library only", bootIsPlain, source{path: "launcher/boot/x.go", imports: []string{"golang.org/x/sys/unix"}}},
	{"concrete transports are named in one file each", transportsInOneFile, source{path: "runtime/world/x.go", imports: []string{module + "/transport/shm"}}},
	{"unsafe stands in files named for it", unsafeIsNamed, source{path: "window/x.go", imports: []string{"unsafe"}}},
	{"cgo stands in files named for it", cgoIsNamed, source{path: "transport/x.go", imports: []string{"C"}}},
	{"assembly is named for its architecture", assemblyIsNamed, source{path: "window/x.s"}},
	{"runtime is no package", runtimeIsNoPackage, source{path: "runtime/x.go", pkg: "runtime"}},
	{"libraries do not end the process", nobodyExits, source{path: "window/x.go", pkg: "window", calls: []string{"os.Exit"}}},
	{"there are no init functions", noInit, source{path: "window/x.go", calls: []string{"func init"}}},
	{"tests wait for events, not for time", noSleepInTests, source{path: "window/x_test.go", calls: []string{"time.Sleep"}}},
	{"other people's code is agreed on", thirdPartyIsAgreed, source{path: "window/x.go", imports: []string{"github.com/spf13/pflag"}}},
}

func importsGoDown(s source) string {
	return firstBadImport(s, !s.isTest(), mayImport)
}

func testsImportDown(s source) string {
	return firstBadImport(s, s.isTest(), mayImportInTests)
}

func firstBadImport(s source, applies bool, may func(source, string) bool) string {
	if !applies || s.dir() == "." {
		return ""
	}
	for _, room := range s.house() {
		if !may(s, room) {
			return "imports " + room
		}
	}
	return ""
}

func staysPure(s source) string {
	if !slices.Contains(pure, s.dir()) || s.isTest() {
		return ""
	}
	for _, i := range s.imports {
		if first, _, _ := strings.Cut(i, "/"); slices.Contains([]string{"net", "os", "sync", "time", "context", "syscall", "unsafe", "C"}, first) {
			return "imports " + i
		}
	}
	return ""
}

func bootIsPlain(s source) string {
	if s.dir() != "launcher/boot" && !strings.HasPrefix(s.dir(), "launcher/boot/pmi") || s.isTest() {
		return ""
	}
	for _, i := range s.imports {
		if strings.Contains(i, ".") && !strings.HasPrefix(i, module+"/"+s.dir()+"/") {
			return "imports " + i
		}
	}
	return ""
}

// openers are the files that name concrete transports: shared memory's, and those to other
// hosts, which ranks and pagers have from one place.
var openers = []string{"runtime/world/transports.go", "transport/far/open.go"}

func transportsInOneFile(s source) string {
	for _, room := range s.house() {
		concrete := strings.HasPrefix(room, "transport/") && room != "transport/transporttest" && room != "transport/far" && !strings.HasPrefix(room, "transport/internal/")
		concrete = concrete && !(strings.HasPrefix(s.dir(), "transport/") && strings.HasPrefix(room, s.dir()+"/")) // its own rooms
		if concrete && !slices.Contains(openers, s.path) && !s.isTest() && !strings.HasPrefix(s.path, room) {
			return "names " + room
		}
	}
	return ""
}

func unsafeIsNamed(s source) string {
	named := strings.HasSuffix(strings.TrimSuffix(s.path, "_test.go"), "_unsafe") || strings.HasSuffix(s.path, "_unsafe.go")
	named = named || strings.HasSuffix(s.path, "_cgo.go") // pointers are what cgo is about
	if slices.Contains(s.imports, "unsafe") && !named && path.Base(s.dir()) != "asm" {
		return "imports unsafe and is not called *_unsafe.go"
	}
	return ""
}

func cgoIsNamed(s source) string {
	if slices.Contains(s.imports, "C") && !strings.HasSuffix(s.path, "_cgo.go") {
		return "uses cgo and is not called *_cgo.go"
	}
	return ""
}

func assemblyIsNamed(s source) string {
	if strings.HasSuffix(s.path, ".s") && !strings.HasSuffix(s.path, "_amd64.s") && !strings.HasSuffix(s.path, "_arm64.s") {
		return "is assembly and is not called *_amd64.s or *_arm64.s"
	}
	return ""
}

func runtimeIsNoPackage(s source) string {
	if s.dir() == "runtime" {
		return "would shadow the standard library's runtime"
	}
	return ""
}

// secondInstances are the files that may have an init function and end the process: the
// helper process of a job that golaunch has not started, and the pager process of a host,
// are second instances of the user's program, which have to be caught before main.
var secondInstances = []string{"launcher/boot/helper/process.go", "window/pager/process/process.go"}

func nobodyExits(s source) string {
	if slices.Contains(s.calls, "os.Exit") && s.pkg != "main" && !s.isTest() && !slices.Contains(secondInstances, s.path) {
		return "calls os.Exit"
	}
	return ""
}

func noInit(s source) string {
	if slices.Contains(s.calls, "func init") && !slices.Contains(secondInstances, s.path) {
		return "has an init function"
	}
	return ""
}

func noSleepInTests(s source) string {
	if slices.Contains(s.calls, "time.Sleep") && s.isTest() {
		return "sleeps"
	}
	return ""
}

func thirdPartyIsAgreed(s source) string {
	for _, i := range s.imports {
		first, _, _ := strings.Cut(i, "/")
		if !strings.Contains(first, ".") || strings.HasPrefix(i, module) {
			continue
		}
		if !agreed(s, i) {
			return "imports " + i
		}
	}
	return ""
}

func agreed(s source, imported string) bool {
	for prefix, may := range thirdParty {
		if imported == prefix || strings.HasPrefix(imported, prefix+"/") {
			return may(s)
		}
	}
	return false
}

func TestEachRuleCanFail(t *testing.T) {
	for _, r := range rules {
		if r.check(r.bad) == "" {
			t.Errorf("%s: %s passes", r.name, r.bad.path)
		}
	}
}

func TestHouseObeysItsRules(t *testing.T) {
	sources := readHouse(t, os.DirFS("."))
	if len(sources) < 50 {
		t.Fatalf("only %d files found: the rules saw nothing", len(sources))
	}
	for _, s := range sources {
		for _, r := range rules {
			if wrong := r.check(s); wrong != "" {
				t.Errorf("%s: %s %s", r.name, s.path, wrong)
			}
		}
	}
}

// readHouse reads every Go and assembly file of the module.
func readHouse(t *testing.T, root fs.FS) []source {
	t.Helper()
	var sources []source
	err := fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); p != "." && (strings.HasPrefix(name, ".") || name == "testdata" || name == "bin") {
				return fs.SkipDir
			}
			return nil
		}
		switch filepath.Ext(p) {
		case ".s":
			sources = append(sources, source{path: p})
		case ".go":
			s, err := readGo(p)
			if err != nil {
				return err
			}
			sources = append(sources, s)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return sources
}

func readGo(p string) (source, error) {
	file, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.SkipObjectResolution)
	if err != nil {
		return source{}, fmt.Errorf("%s: %w", p, err)
	}
	s := source{path: p, pkg: file.Name.Name}
	for _, i := range file.Imports {
		name, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return source{}, fmt.Errorf("%s: %w", p, err)
		}
		s.imports = append(s.imports, name)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Name.Name == "init" && n.Recv == nil {
				s.calls = append(s.calls, "func init")
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				s.calls = append(s.calls, x.Name+"."+n.Sel.Name)
			}
		}
		return true
	})
	return s, nil
}
