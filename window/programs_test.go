package window_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/runtime/worldtest"
)

// Some tests run the test binary as a rank program under golaunch: as many processes as
// ranks.

const (
	programVariable = "GOLAUNCH_WINDOW_PROGRAM"
	procsVariable   = "GOLAUNCH_WINDOW_PROCS"
	seedVariable    = "GOLAUNCH_WINDOW_SEED"
)

// programs are the rank programs; what they print is compared or read by their tests.
var programs = map[string]func(ctx context.Context, comm *world.Comm) error{
	"stress": stressProgram,
	"litmus": litmusProgram,
	"killed": killedProgram,
	"busy":   busyProgram,

	"pagerless": pagerlessProgram,
	"writer":    writerProgram,
	"lost":      lostProgram,
}

func TestMain(m *testing.M) {
	if unwatched() {
		if err := denyWatching(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	name := os.Getenv(programVariable)
	if name == "" {
		goleak.VerifyTestMain(worldtest.Main(m), goleak.Cleanup(func(code int) {
			os.RemoveAll(tools)
			os.Exit(code)
		}))
		return
	}
	if err := program(name); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func program(name string) error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), limit, errors.New("the test's deadline"))
	defer cancel()
	comm, err := world.Join(ctx)
	if err != nil {
		return err
	}
	if n := variable(procsVariable); n > 0 { // Join raises it to 2
		runtime.GOMAXPROCS(n)
	}
	return errors.Join(programs[name](ctx, comm), comm.Leave())
}

func variable(name string) int {
	n, _ := strconv.Atoi(os.Getenv(name))
	return n
}

// tools is where golaunch is built, if it is.
var tools string

// golaunch is the command, built once. Programs run under it as they will for users.
var golaunch = sync.OnceValues(func() (string, error) {
	var err error
	if tools, err = os.MkdirTemp("", "window-test"); err != nil {
		return "", err
	}
	command := filepath.Join(tools, "golaunch")
	out, err := exec.Command("go", "build", "-o", command, "../launcher/golaunch").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return command, nil
})

// onMachine are the arguments with which this machine plays several hosts.
func onMachine(hosts int) []string {
	if hosts == 1 {
		return nil
	}
	return []string{"--virtual-hosts", fmt.Sprint(hosts)}
}

// launch runs a program with n ranks and returns what they print.
func launch(t *testing.T, n int, name string, args []string, env ...string) (string, error) {
	t.Helper()
	worldtest.Alone(t)
	command, err := golaunch()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit+10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, command, append(args, "-n", fmt.Sprint(n), os.Args[0])...)
	cmd.Env = append(append(os.Environ(), programVariable+"="+name), env...)
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}
