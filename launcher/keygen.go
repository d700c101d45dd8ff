package launcher

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/golaunch/golaunch/launcher/internal/keys"
)

// KeygenOptions say what golaunch keygen does.
type KeygenOptions struct {
	// File is the key file; "": the usual one, whose directory is made if need be.
	File string
	// Rotate puts a new key in front of those in the file.
	Rotate bool
}

// RunKeygen makes or rotates a key file, says what comes next, and returns golaunch's
// exit code.
func RunKeygen(o KeygenOptions) int {
	next, err := o.run()
	if err != nil {
		fmt.Fprintf(os.Stderr, "golaunch: keygen: %v\n", err)
		return CodeUsage
	}
	fmt.Println(next)
	return 0
}

func (o *KeygenOptions) run() (next string, err error) {
	if o.File == "" {
		if o.File, err = keys.UsualPath(); err != nil {
			return "", err
		}
		if err := os.MkdirAll(filepath.Dir(o.File), 0o700); err != nil {
			return "", err
		}
	}
	if o.Rotate {
		return o.rotate()
	}
	k, err := keys.Generate(o.File)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s has %v now. Copy it to the same place on every host of the cluster, readable by its\n"+
		"owner only (mode 0600): who has it is a member.", o.File, k), nil
}

func (o *KeygenOptions) rotate() (string, error) {
	ring, err := keys.Rotate(o.File)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s has %v now, and behind it %s.\n"+
		"Copy it to every host, in any order, and have each agent read it: systemctl reload golaunch, or SIGHUP.\n"+
		"When all have, take the old keys' lines out and do the same again: from then on they are worth nothing.",
		o.File, ring[0], strings.Join(ring.Names()[1:], ", ")), nil
}
