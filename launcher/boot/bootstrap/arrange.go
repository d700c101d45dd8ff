package bootstrap

import (
	"errors"
	"fmt"
	"math/big"
	"math/bits"
	"slices"

	"github.com/golaunch/golaunch/launcher/boot"
	"github.com/golaunch/golaunch/launcher/boot/helper"
)

// An arrangement is who is where, the same at every rank.
type arrangement struct {
	hosts []int    // of each rank; hosts are numbered as they first appear
	first []int    // the first rank of each host
	names []string // of hosts
	cards []card
}

// arrange puts ranks with equal Host together.
func arrange(cards []card) (*arrangement, error) {
	if err := errors.Join(sameVersion(cards), able(cards)); err != nil {
		return nil, err
	}
	if cards[0].Lead == nil { // all are of one other version, this process included: nonsense
		return nil, errors.New("rank 0 does not say what holds for the job")
	}
	a := &arrangement{cards: cards}
	numbers := map[string]int{}
	for rank, c := range cards {
		host, known := numbers[c.Host]
		if !known {
			host = len(a.names)
			numbers[c.Host] = host
			a.names, a.first = append(a.names, c.Name), append(a.first, rank)
		}
		a.hosts = append(a.hosts, host)
	}
	a.names = distinct(a.names)
	if a.several() && cards[0].Lead.Settings.Transport == "shm" {
		return nil, fmt.Errorf("transport shm is asked for, and there are %d hosts", len(a.names))
	}
	return a, nil
}

func sameVersion(cards []card) error {
	if len(cards) == 0 {
		return errors.New("there are no ranks")
	}
	for rank, c := range cards {
		if c.Version != cards[0].Version || c.Protocol != cards[0].Protocol {
			return fmt.Errorf("rank %d (%s) was built with version %s of golaunch (protocol %d) and rank 0 (%s) with version %s (protocol %d): build all from the same version",
				rank, c.Name, c.Version, c.Protocol, cards[0].Name, cards[0].Version, cards[0].Protocol)
		}
	}
	return nil
}

// able returns why ranks cannot join.
func able(cards []card) (err error) {
	for rank, c := range cards {
		if c.Error != "" {
			err = errors.Join(err, fmt.Errorf("rank %d (%s): %s", rank, c.Name, c.Error))
		}
	}
	return err
}

// distinct numbers hosts of one name, as golaunch does its virtual hosts.
func distinct(names []string) []string {
	count, seen := map[string]int{}, map[string]int{}
	for _, n := range names {
		count[n]++
	}
	distinct := slices.Clone(names)
	for i, n := range names {
		if count[n] > 1 {
			distinct[i] = fmt.Sprintf("%s/%d", n, seen[n])
			seen[n]++
		}
	}
	return distinct
}

func (a *arrangement) several() bool { return len(a.names) > 1 }

// isFirst reports whether a rank is the first of its host.
func (a *arrangement) isFirst(rank int) bool { return a.first[a.hosts[rank]] == rank }

// job is what the helper of a host must know.
func (a *arrangement) job(host int) helper.Job {
	j := helper.Job{Hosts: a.hosts, Names: a.names, Host: host, Details: a.details()}
	j.Cores, j.Sharers = a.cores(a.cards[a.first[host]].Machine)
	return j
}

// details are what every rank is told.
func (a *arrangement) details() boot.Details {
	lead := a.cards[0].Lead
	d := boot.Details{Job: lead.Job, Secret: lead.Secret, Settings: lead.Settings}
	d.Settings.Loopback = !slices.ContainsFunc(a.cards, func(c card) bool { return c.Network != a.cards[0].Network })
	for _, n := range a.names {
		d.Hosts = append(d.Hosts, boot.Hosts{Name: n, Count: 1})
	}
	return d
}

// cores is how many cores the ranks of a machine may use together, and how many
// ranks these are. A rank whose control groups allow less than its CPUs holds for
// the others: those of a job are usually in one.
func (a *arrangement) cores(machine string) (cores, sharers int) {
	cpus, quota := new(big.Int), 0
	for _, c := range a.cards {
		if c.Machine == machine {
			cpus.Or(cpus, c.CPUs)
			quota = max(quota, c.Quota)
			sharers++
		}
	}
	for _, w := range cpus.Bits() {
		cores += bits.OnesCount(uint(w))
	}
	if quota > 0 {
		cores = min(cores, quota)
	}
	return max(cores, 1), sharers
}
