//go:build !cgo || !linux

package verbs

import (
	"errors"

	"github.com/golaunch/golaunch/transport"
)

// errNoCgo: libibverbs is reached through cgo.
var errNoCgo = errors.New("this program was built without cgo, which RDMA needs (CGO_ENABLED=1)")

func (Provider) open(transport.Config) (transport.Endpoint, error) { return nil, errNoCgo }
