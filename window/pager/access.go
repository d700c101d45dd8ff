package pager

import (
	"encoding/binary"
	"fmt"

	"github.com/golaunch/golaunch/window/pager/line"
)

// What the pager does for a View without memory. Bytes count from the window's beginning.

// Load fetches the bytes from from on. Those of different pages may be of different times.
func (v *View) Load(from int, dst []byte) error {
	return v.byPage(from, len(dst), func(f line.Frame, done, n int) error {
		f.Kind, f.Body = line.Load, binary.LittleEndian.AppendUint16(nil, uint16(n))
		a := v.client.slow.ask(f)
		if a.err == nil && copy(dst[done:done+n], a.body) != n {
			a.err = fmt.Errorf("the pager has sent %d bytes, want %d", len(a.body), n)
		}
		return a.err
	})
}

// Store stores bytes from from on.
func (v *View) Store(from int, src []byte) error {
	return v.byPage(from, len(src), func(f line.Frame, done, n int) error {
		f.Kind, f.Body = line.Store, append([]byte(nil), src[done:done+n]...) // src stays on a stack, if it is on one
		return v.client.slow.ask(f).err
	})
}

// Swap stores a word at a multiple of 8 if the one that is expected is there, and returns
// what was.
func (v *View) Swap(at int, expect, replacement uint64) (found uint64, err error) {
	err = v.byPage(at, 8, func(f line.Frame, _, _ int) error {
		f.Kind = line.Swap
		f.Body = binary.NativeEndian.AppendUint64(binary.NativeEndian.AppendUint64(nil, expect), replacement)
		a := v.client.slow.ask(f)
		if a.err == nil && len(a.body) != 8 {
			a.err = fmt.Errorf("the pager has sent %d bytes, want 8", len(a.body))
		}
		if a.err == nil {
			found = binary.NativeEndian.Uint64(a.body)
		}
		return a.err
	})
	return found, err
}

// byPage does something with each page of a range.
func (v *View) byPage(from, n int, do func(f line.Frame, done, n int) error) error {
	size := 1 << v.shift
	for done := 0; done < n; {
		at := from + done
		length := min(n-done, size-at%size)
		if err := do(line.Frame{Window: v.window, First: uint32(at >> v.shift), N: uint32(at % size)}, done, length); err != nil {
			return err
		}
		done += length
	}
	return nil
}
