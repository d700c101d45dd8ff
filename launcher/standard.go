package launcher

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// terminals says on which of golaunch's outputs ranks can draw for a person: the
// value of boot.EnvTerminal.
func terminals(o Options) string {
	var names []string
	if !o.Tag && o.OutputDir == "" {
		if isTerminal(os.Stdout) {
			names = append(names, "stdout")
		}
		if isTerminal(os.Stderr) {
			names = append(names, "stderr")
		}
	}
	return strings.Join(names, ",")
}

// sameFile reports whether two files are one, so that what is written to them
// must be kept in order.
func sameFile(a, b *os.File) bool {
	x, err := a.Stat()
	if err != nil {
		return false
	}
	y, err := b.Stat()
	return err == nil && os.SameFile(x, y)
}

// isNull reports whether nothing can be read from f: it is closed, or /dev/null.
func isNull(f *os.File) bool {
	info, err := f.Stat()
	if err != nil {
		return true
	}
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(info, null)
}

// inForeground reports whether this process may read from the terminal f without
// being stopped for it.
func inForeground(f *os.File) bool {
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
