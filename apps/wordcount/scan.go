package main

import (
	"bytes"
	"fmt"
	"go/scanner"
	"go/token"
	"os"
)

// maxIdentifier is the longest identifier a table entry can describe, in bytes.
const maxIdentifier = 1<<lengthBits - 1

// counter counts identifiers, one file after the other. It is one rank's own:
// not safe for several goroutines.
//
// The standard scanner decides what an identifier is, also in files that do not
// compile: it reports an error and goes on, and so the count is defined for any
// bytes at all. It takes about half of the time of a count; a scanner that knew
// only identifiers would be faster and would have to be kept equal to this one.
type counter struct {
	counts      map[string]uint64
	files       uint64
	bytes       uint64
	identifiers uint64
	buf         bytes.Buffer // the file being read
}

func newCounter() *counter { return &counter{counts: make(map[string]uint64)} }

// file adds the identifiers of one file. Its errors name the file.
func (c *counter) file(path string) error {
	if err := c.read(path); err != nil {
		return err
	}
	if err := c.source(c.buf.Bytes()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	c.files++
	c.bytes += uint64(c.buf.Len())
	return nil
}

func (c *counter) read(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	c.buf.Reset()
	_, err = c.buf.ReadFrom(f)
	return err
}

// source adds the identifiers of src, which it does not keep.
func (c *counter) source(src []byte) error {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(src)), src, nil, 0)
	for {
		switch _, tok, name := s.Scan(); {
		case tok == token.EOF:
			return nil
		case tok != token.IDENT:
		case len(name) > maxIdentifier:
			return fmt.Errorf("an identifier of %d bytes; at most %d are supported", len(name), maxIdentifier)
		default:
			c.counts[name]++
			c.identifiers++
		}
	}
}
