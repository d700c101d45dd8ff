package bootstrap

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/launcher/boot"
	"github.com/golaunch/golaunch/launcher/internal/cores"
)

// A card is what a rank tells the others of itself.
type card struct {
	Version  string
	Protocol uint16
	Name     string // of the host, for people

	// Ranks of one Machine share its cores. Ranks of one Network reach each other on
	// the loopback interface; of one Host, also by abstract sockets and process IDs.
	Machine, Network, Host string

	CPUs  *big.Int // a bit for each that the rank may use
	Quota int      // how many its control groups allow it; 0: any number

	Lead *lead `json:",omitempty"` // of rank 0: what holds for the job

	Error string `json:",omitempty"` // why the rank cannot join, so that no other waits for it
}

// A lead is what rank 0 decides for all.
type lead struct {
	Job      string
	Secret   []byte
	Settings boot.Settings
}

// maxCPU bounds the CPUs of a card.
const maxCPU = 1 << 14

// ownCard describes this process.
func ownCard(rank int) card {
	name, err := os.Hostname()
	if err != nil {
		name = "localhost"
	}
	c := card{Version: boot.Version, Protocol: boot.Protocol, Name: name, CPUs: ownCPUs()}
	if quota, limited := cores.Quota(os.DirFS("/")); limited {
		c.Quota = max(1, int(math.Ceil(quota)))
	}
	// Virtual machines that were cloned while they ran have one boot ID: the host's
	// name tells them apart.
	c.Machine = read("/proc/sys/kernel/random/boot_id") + " " + name
	c.Network = c.Machine + " " + link("/proc/self/ns/net")
	c.Host = c.Network + " " + link("/proc/self/ns/pid")
	if rank == 0 {
		if c.Lead, err = newLead(); err != nil {
			c.Error = err.Error()
		}
	}
	return c
}

func read(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return "?"
	}
	return strings.TrimSpace(string(text))
}

func link(file string) string {
	text, err := os.Readlink(file)
	if err != nil {
		return "?"
	}
	return text
}

// ownCPUs are those of this process's affinity.
func ownCPUs() *big.Int {
	cpus := new(big.Int)
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) == nil {
		for cpu := range len(set) * 64 {
			if set.IsSet(cpu) {
				cpus.SetBit(cpus, cpu, 1)
			}
		}
	}
	return cpus
}

// What stands for golaunch's flags, in rank 0's environment.
const (
	envTransport = "GOLAUNCH_TRANSPORT"       // --transport: "auto" or "shm"
	envInterface = "GOLAUNCH_INTERFACE"       // --interface
	envEncrypt   = "GOLAUNCH_ENCRYPT"         // --encrypt: 1
	envTimeout   = "GOLAUNCH_FAILURE_TIMEOUT" // --failure-timeout
)

// defaultTimeout is that of golaunch.
const defaultTimeout = 10 * time.Second

func newLead() (*lead, error) {
	settings, err := settings()
	var random [48]byte
	rand.Read(random[:])
	return &lead{Job: hex.EncodeToString(random[:8]), Secret: random[16:], Settings: settings}, err
}

func settings() (s boot.Settings, err error) {
	s = boot.Settings{Transport: "auto", Interface: os.Getenv(envInterface), Timeout: defaultTimeout}
	switch value := os.Getenv(envTransport); value {
	case "", "auto":
	case "shm":
		s.Transport = value
	default:
		return s, fmt.Errorf("%s=%q: want auto or shm", envTransport, value)
	}
	switch value := os.Getenv(envEncrypt); value {
	case "", "0":
	case "1":
		s.Encrypt = true
	default:
		return s, fmt.Errorf("%s=%q: want 0 or 1", envEncrypt, value)
	}
	if value := os.Getenv(envTimeout); value != "" {
		if s.Timeout, err = time.ParseDuration(value); err != nil || s.Timeout <= 0 {
			return s, fmt.Errorf("%s=%q: want a time such as 10s", envTimeout, value)
		}
	}
	return s, nil
}

// parseCard decodes the card of a rank. One of another version has a Version and a
// Protocol, and whatever else.
func parseCard(text []byte, rank int) (c card, err error) {
	if err := json.Unmarshal(text, &c); err != nil && (c.Version == "" || c.ours()) {
		return card{}, fmt.Errorf("rank %d's card: %w", rank, err)
	}
	if !c.ours() || c.Error != "" {
		return c, nil
	}
	switch {
	case c.Name == "" || c.Host == "":
		err = fmt.Errorf("no host")
	case c.CPUs == nil || c.CPUs.Sign() < 0 || c.CPUs.BitLen() > maxCPU || c.Quota < 0:
		err = fmt.Errorf("CPUs %v, quota %d", c.CPUs, c.Quota)
	case (rank == 0) != (c.Lead != nil):
		err = fmt.Errorf("leads: %v", c.Lead != nil)
	case c.Lead != nil && (c.Lead.Job == "" || len(c.Lead.Secret) < 16 || c.Lead.Settings.Timeout <= 0):
		err = fmt.Errorf("job %q, a secret of %d bytes, timeout %v", c.Lead.Job, len(c.Lead.Secret), c.Lead.Settings.Timeout)
	}
	if err != nil {
		return card{}, fmt.Errorf("rank %d's card makes no sense: %w", rank, err)
	}
	return c, nil
}

// ours reports whether a card is of this program's version.
func (c card) ours() bool { return c.Version == boot.Version && c.Protocol == boot.Protocol }
