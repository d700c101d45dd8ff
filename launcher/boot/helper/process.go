package helper

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"
)

// init catches the process that Start has started, before the program's main, which
// knows nothing of it. Packages that this one does not import, and whose paths come
// first, have been initialised by then.
func init() {
	if len(os.Args) == 1 && os.Args[0] == name && os.Getenv(envHelper) == "1" {
		os.Exit(run())
	}
}

// listening is what a helper says when it does.
const listening = "listening"

// maxJob bounds what a helper reads of its job, in bytes.
const maxJob = 64 << 20

// run is the whole life of a helper. It returns the process's exit code.
func run() int {
	closeInherited()
	os.WriteFile("/proc/self/comm", []byte(name), 0)
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGPIPE)
	h, err := open(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stdout, err)
		return 1
	}
	fmt.Fprintln(os.Stdout, listening)
	os.Stdout.Close()
	if err := h.serve(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "golaunch: the helper process of host", h.job.Host, "has failed:", err)
		return 1
	}
	return 0
}

// open makes what a job needs.
func open(in io.Reader) (*helper, error) {
	var j Job
	err := json.NewDecoder(io.LimitReader(in, maxJob)).Decode(&j)
	if err == nil {
		err = j.check()
	}
	if err != nil {
		return nil, fmt.Errorf("the job makes no sense: %w", err)
	}
	return newHelper(j)
}

// closeInherited closes what a process manager has left open in the rank, which did
// not know of it: it may wait for the end of a pipe. All that Go has opened in this
// process is closed on exec, and stays.
func closeInherited() {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return
	}
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd <= 2 {
			continue
		}
		if flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFD, 0); errno == 0 && flags&syscall.FD_CLOEXEC == 0 {
			syscall.Close(fd)
		}
	}
}
