//go:build amd64 || arm64

package window

import "unsafe"

// settle returns p, and whether it points to this goroutine's stack. The compiler does
// not follow p into it: p does not escape, even if what is returned does. It is not
// interrupted, so the stack stays where it is between the two comparisons.
//
//go:noescape
func settle(p unsafe.Pointer) (q unsafe.Pointer, onStack bool)
