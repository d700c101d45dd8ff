package far

import (
	"errors"
	"time"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/tcp"
	"github.com/golaunch/golaunch/transport/verbs"
)

// DefaultTimeout is that of Options when Timeout is 0.
const DefaultTimeout = tcp.DefaultTimeout

// Options are what both ends have of the job. All ranks of the job use the same, but for
// Interface.
type Options struct {
	// Transport is "tcp", "verbs", which insists on a device, or "auto": by devices
	// where both ranks have one.
	Transport string
	// Secret is what the ranks prove to each other before they connect: at least 16
	// random bytes.
	Secret []byte
	// Job and Version are names in which all ranks of the job agree.
	Job, Version string
	// Interface is the only network interface to be used; "": any.
	Interface string
	// Loopback uses loopback addresses only, for jobs that do not leave the machine.
	Loopback bool
	// Encrypt has everything encrypted, which RDMA cannot do.
	Encrypt bool
	// Timeout is after how long a peer that does not answer has failed. 0: DefaultTimeout.
	Timeout time.Duration
}

// Open opens the endpoints, for whom cfg is. prepare, unless it is nil, is called when there
// is a device, before any peer can know of it: its error is as if there were none. That is
// an error only where devices are insisted on; [Far.HasDevice] tells.
func Open(o Options, cfg transport.Config, prepare func(*Far) error) (f *Far, err error) {
	f = newFar(cfg.Size)
	if o.Transport == "verbs" {
		if err := f.addVerbs(o, cfg, prepare); err != nil {
			return nil, err
		}
		return f, nil
	}
	f.tcp, err = tcp.Provider{
		Secret: o.Secret, Job: o.Job, Version: o.Version,
		Interface: o.Interface, Loopback: o.Loopback, Encrypt: o.Encrypt, Timeout: o.Timeout,
	}.Open(cfg)
	if err != nil {
		return nil, err
	}
	if o.Transport != "tcp" && !o.Encrypt && mayLock() {
		_ = f.addVerbs(o, cfg, prepare)
	}
	return f, nil
}

func (f *Far) addVerbs(o Options, cfg transport.Config, prepare func(*Far) error) error {
	if o.Encrypt {
		return errors.New("transport \"verbs\": RDMA has no encryption")
	}
	end, err := verbs.Provider{
		Secret: o.Secret, Job: o.Job, Version: o.Version,
		Interface: o.Interface, Loopback: o.Loopback, Timeout: o.Timeout,
	}.Open(cfg)
	if err != nil {
		return err
	}
	f.verbs = end
	if prepare == nil {
		return nil
	}
	if err := prepare(f); err != nil {
		f.verbs = nil
		return errors.Join(err, end.Close())
	}
	return nil
}
