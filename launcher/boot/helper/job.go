package helper

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/golaunch/golaunch/launcher/boot"
	"github.com/golaunch/golaunch/runtime/group"
	"github.com/golaunch/golaunch/runtime/job"
)

// A Job is what a helper must know of the job.
type Job struct {
	Hosts   []int // the host of each rank, 0 to len(Names)-1
	Names   []string
	Host    int // the helper's
	Cores   int // that Sharers ranks may use together
	Sharers int
	Details boot.Details // for the ranks; its Secret is not empty
}

// check looks for what must not reach the desk's loops. job.Create checks the rest.
func (j Job) check() error {
	switch {
	case len(j.Hosts) == 0 || len(j.Hosts) > job.MaxRanks:
		return fmt.Errorf("%d ranks", len(j.Hosts))
	case j.Host < 0 || j.Host >= len(j.Names):
		return fmt.Errorf("host %d of %d", j.Host, len(j.Names))
	case len(j.Details.Secret) == 0:
		return fmt.Errorf("no secret")
	}
	return nil
}

func (j Job) memory() (*job.Memory, error) {
	return job.Create(len(j.Hosts), job.Options{
		Cores: j.Cores, Sharers: j.Sharers, Hosts: j.Hosts, Host: j.Host, Extra: group.Size(len(j.Hosts)),
	})
}

// local tells whether a rank is on the helper's host.
func (j Job) local(rank int) bool {
	return rank >= 0 && rank < len(j.Hosts) && j.Hosts[rank] == j.Host
}

// first is the first rank of the helper's host, which has started it.
func (j Job) first() int { return slices.Index(j.Hosts, j.Host) }

// locals is how many ranks are on the helper's host.
func (j Job) locals() (n int) {
	for _, host := range j.Hosts {
		if host == j.Host {
			n++
		}
	}
	return n
}

// address is the name, in the abstract namespace, of a host's helper.
func address(secret []byte, host int) string {
	return "\x00golaunch-" + hex.EncodeToString(derive(secret, "address", host)[:16])
}

// proof is what a rank shows.
func proof(secret []byte, rank int) uint64 {
	return binary.LittleEndian.Uint64(derive(secret, "rank", rank))
}

func derive(secret []byte, use string, number int) []byte {
	h := hmac.New(sha256.New, secret)
	fmt.Fprintf(h, "golaunch-helper/1 %s %d", use, number)
	return h.Sum(nil)
}
