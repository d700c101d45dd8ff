package launcher

import (
	"fmt"
	"os"
	"os/user"
	"slices"
	"strings"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/api"
	"github.com/golaunch/golaunch/launcher/internal/member"
)

// ClusterOptions say how a cluster is reached, and where in it ranks may go.
type ClusterOptions struct {
	Access
	// MapBy is a way to place ranks: one of Policies; "": the first.
	MapBy string
	// PerHost is how many ranks a host may have; 0: any number.
	PerHost int
	// Hosts are the only hosts that ranks may go to, in that order; none: all, by name.
	Hosts []string
	// Labels are what hosts must have.
	Labels map[string]string
	// Oversubscribe lets hosts have more ranks than slots.
	Oversubscribe bool
	// DryRun prints where the ranks would go, and starts nothing.
	DryRun bool
}

// Policies are the ways to place ranks over a cluster.
func Policies() []string { return []string{"slot", "host", "load"} }

// given names a flag of those that say something about a cluster, "" if there is none.
func (o *Options) given() string {
	c := &o.Cluster
	for _, flag := range []struct {
		name string
		is   bool
	}{
		{"--agent", c.Agent != ""}, {"--map-by", c.MapBy != ""}, {"--ppn", c.PerHost != 0}, {"--hosts", len(c.Hosts) > 0},
		{"--label", len(c.Labels) > 0}, {"--oversubscribe", c.Oversubscribe}, {"--dry-run", c.DryRun}, {"--file", len(o.Files) > 0},
	} {
		if flag.is {
			return flag.name
		}
	}
	return ""
}

// OverCluster reports whether agents start the job's supervisors.
func (o *Options) OverCluster() bool { return o.whyNoCluster() == "" }

// whyNoCluster says why they do not.
func (o *Options) whyNoCluster() string {
	switch {
	case o.Local:
		return "--local asks for this machine alone"
	case o.Listen != "":
		return "--listen waits for hosts that join by themselves"
	case o.VirtualHosts != 1:
		return "--virtual-hosts is for this machine alone"
	case !o.Cluster.isThere():
		return "no agent runs on this host, and --agent names none"
	}
	return ""
}

// checkCluster finds what is wrong with a job over a cluster before an agent is asked.
func (o *Options) checkCluster() error {
	switch {
	case o.Key.given():
		return usage("--secret-file and --secret-fd go with --listen; a cluster has --key-file")
	case o.Cluster.PerHost < 0:
		return usage("--ppn %d: it must not be negative", o.Cluster.PerHost)
	case o.Cluster.MapBy != "" && !slices.Contains(Policies(), o.Cluster.MapBy):
		return usage("--map-by %s: it is one of %s", o.Cluster.MapBy, strings.Join(Policies(), ", "))
	}
	for _, name := range o.Cluster.Hosts {
		if err := api.CheckHost(name); err != nil {
			return usage("--hosts: %v", err)
		}
	}
	return nil
}

// LocalProfileTimeout is the failure timeout in a cluster whose members gossip with
// the local profile, unless Options say something else.
const LocalProfileTimeout = 2 * time.Second

// usualTimeout is the failure timeout in a cluster whose members gossip with a profile.
func usualTimeout(profile string) time.Duration {
	if profile == string(member.Local) {
		return LocalProfileTimeout
	}
	return FailureTimeout
}

// CheckLabel finds what is wrong with a label.
func CheckLabel(name, value string) error { return api.CheckLabel(name, value) }

// printMap says where the ranks would go.
func (f *front) printMap() {
	first := 0
	for _, b := range f.blocks {
		ranks := fmt.Sprintf("rank %d", first)
		if b.Ranks > 1 {
			ranks = fmt.Sprintf("ranks %d-%d", first, first+b.Ranks-1)
		}
		f.output.say(false, fmt.Sprintf("%s: %s\n", b.Host, ranks))
		first += b.Ranks
	}
	f.flush()
}

// commandText is the job's programs, for people.
func (o *Options) commandText() string {
	var text []string
	for _, s := range o.Segments {
		text = append(text, fmt.Sprintf("-n %d %s", s.Ranks, strings.Join(append([]string{s.Program}, s.Args...), " ")))
	}
	const most = 4096
	all := strings.ToValidUTF8(strings.Join(text, " : "), "?")
	return all[:min(len(all), most)]
}

// userName is who runs this, for people.
func userName() string {
	if u, err := user.Current(); err == nil && u.Username != "" && len(u.Username) < 64 {
		return u.Username
	}
	return fmt.Sprint("uid ", os.Geteuid())
}
