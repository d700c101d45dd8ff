package verbs

import (
	"fmt"
	"time"

	"github.com/golaunch/golaunch/transport"
)

// DefaultTimeout is a Provider's when Timeout is 0.
const DefaultTimeout = 10 * time.Second

// A Provider makes endpoints on an RDMA device. All ranks of a job use the same
// Secret, Job and Version.
type Provider struct {
	// Secret is what the job's ranks prove to each other before they connect: at
	// least 16 random bytes.
	Secret []byte
	// Job and Version are names in which all ranks of the job agree.
	Job, Version string
	// Device is the name of an RDMA device; "": the first one with an active port.
	Device string
	// Interface is the only network interface over which connections are arranged, and,
	// unless Device is set, the one whose RDMA device is used; "": any.
	Interface string
	// Loopback arranges connections over loopback addresses only, for jobs that do
	// not leave the machine.
	Loopback bool
	// Timeout bounds how long arranging a connection takes. 0: DefaultTimeout.
	Timeout time.Duration

	buffers int // of messages, for all peers; 0: sharedBuffers
}

var _ transport.Provider = Provider{}

// Name returns "verbs".
func (Provider) Name() string { return "verbs" }

// Open opens the device and starts the endpoint's goroutines, which end with Close.
// Its error says what is missing: cgo, the library, the kernel's support, a device,
// an active port, or the permission to lock memory.
func (p Provider) Open(cfg transport.Config) (transport.Endpoint, error) {
	if p.Timeout == 0 {
		p.Timeout = DefaultTimeout
	}
	e, err := p.open(cfg)
	if err != nil {
		return nil, fmt.Errorf("verbs: rank %d: open: %w", cfg.Rank, err)
	}
	return e, nil
}
