package collectives

import "fmt"

// apart checks that in and out share no memory unless in is exactly the part of
// out that starts at the given byte.
func apart(in, out []byte, at int) error {
	if len(in) == 0 || len(out) == 0 {
		return nil
	}
	d := distance(out, in)
	if d == at || d >= len(out) || d <= -len(in) {
		return nil
	}
	return fmt.Errorf("in starts %d bytes into out (%d bytes): they must be apart, or in must start at byte %d", d, len(out), at)
}

// wants checks the length of out, in elements.
func (c *call) wants(out []byte, blocks int) error {
	if len(out) == c.bytes*blocks {
		return nil
	}
	return fmt.Errorf("out has %d elements, want %d", len(out)/c.width, c.bytes/c.width*blocks)
}

func (e *engine) checkRoot(root int) error {
	if root < 0 || root >= e.size {
		return fmt.Errorf("root %d is outside 0..%d", root, e.size-1)
	}
	return nil
}
