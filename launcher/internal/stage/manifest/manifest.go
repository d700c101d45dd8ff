// Package manifest says what a job needs on its hosts: a program, and files that
// its ranks find in a directory of the job.
package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/golaunch/golaunch/launcher/internal/stage/digest"
)

// Limits of a manifest.
const (
	MaxFiles = 256
	MaxBlob  = 16 << 30 // bytes of one blob
	MaxTotal = 64 << 30 // bytes of all blobs
	// MaxEncoded is how long a manifest may be as JSON, in bytes.
	MaxEncoded = 512 << 10
)

// A Blob is content that hosts keep by its sum.
type Blob struct {
	Sum  digest.Sum `json:"sum"`
	Size int64      `json:"size"` // in bytes
}

// Check says what is wrong with a blob that a peer names.
func (b Blob) Check() error {
	switch {
	case b.Sum == digest.Sum{}:
		return errors.New("a blob without a sum")
	case b.Size < 0 || b.Size > MaxBlob:
		return fmt.Errorf("blob %s of %d bytes: want 0 to %d", b.Sum.Short(), b.Size, int64(MaxBlob))
	}
	return nil
}

// A File is a blob with a name.
type File struct {
	Name string `json:"name"` // below the job's directory, with slashes
	Blob
	Exec bool `json:"exec,omitempty"` // ranks may execute it
}

// A Manifest is all that one program of a job needs. The program's name is what
// ranks see it called: one component.
type Manifest struct {
	Program File   `json:"program"`
	Files   []File `json:"files,omitempty"`
}

// Check says what is wrong with a manifest. Sender and receiver ask it both.
func (m Manifest) Check() error {
	if len(m.Files) > MaxFiles {
		return fmt.Errorf("%d files: at most %d can be sent", len(m.Files), MaxFiles)
	}
	if err := m.checkProgram(); err != nil {
		return fmt.Errorf("the program: %w", err)
	}
	names := make([]string, 0, len(m.Files))
	for _, f := range m.Files {
		if err := errors.Join(CheckName(f.Name), f.Blob.Check()); err != nil {
			return err
		}
		names = append(names, f.Name)
	}
	if err := checkApart(names); err != nil {
		return err
	}
	_, err := m.blobs()
	return err
}

func (m Manifest) checkProgram() error {
	if strings.Contains(m.Program.Name, "/") {
		return fmt.Errorf("file name %.100q has more than one component", m.Program.Name)
	}
	return errors.Join(CheckName(m.Program.Name), m.Program.Blob.Check())
}

// Blobs are those that the manifest needs, each once, the program's first. The
// manifest must have passed Check.
func (m Manifest) Blobs() []Blob {
	blobs, _ := m.blobs()
	return blobs
}

func (m Manifest) blobs() ([]Blob, error) {
	var blobs []Blob
	var total int64
	sizes := make(map[digest.Sum]int64, 1+len(m.Files))
	for _, f := range append([]File{m.Program}, m.Files...) {
		size, known := sizes[f.Sum]
		if known && size != f.Size {
			return nil, fmt.Errorf("blob %s has %d bytes and %d bytes", f.Sum.Short(), size, f.Size)
		}
		if known {
			continue
		}
		sizes[f.Sum] = f.Size
		total += f.Size // at most (1 + MaxFiles) * MaxBlob: no overflow
		blobs = append(blobs, f.Blob)
	}
	if total > MaxTotal {
		return nil, fmt.Errorf("%d bytes: at most %d can be sent", total, int64(MaxTotal))
	}
	return blobs, nil
}

// Decode reads a manifest as JSON and checks it.
func Decode(b []byte) (Manifest, error) {
	var m Manifest
	if len(b) > MaxEncoded {
		return m, fmt.Errorf("manifest of %d bytes: want %d at most", len(b), MaxEncoded)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return Manifest{}, fmt.Errorf("manifest: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return Manifest{}, errors.New("manifest: something follows it")
	}
	if err := m.Check(); err != nil {
		return Manifest{}, fmt.Errorf("manifest: %w", err)
	}
	return m, nil
}
