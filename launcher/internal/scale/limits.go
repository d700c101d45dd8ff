package scale

// A Limit is something that runs out.
type Limit struct {
	What string // what cannot be done any more
	By   string // by which resource
	At   float64
	Of   string // hosts or ranks
	// Hard says that it is refused or fails there; otherwise it only takes long.
	Hard bool
}

// The project's own bounds, and those of what it uses.
const (
	askWait     = 2 * Second // launcher/internal/api.AskWait: all members are asked in that time
	maxBody     = 16 << 20   // launcher/internal/api.MaxBody
	maxHosts    = 1 << 17    // launcher/internal/api.MaxHosts
	maxRanks    = 1 << 16    // runtime/job.MaxRanks
	openFiles   = 65536      // docs/cluster.md: LimitNOFILE
	maxExchange = 20 << 20   // memberlist's maxPushStateBytes
	rankLine    = 512        // runtime/job: a rank's line, touched when its address is known
)

// Limits are what runs out, with so many cores and so much
// memory in bytes a host.
func Limits(c *Costs, cores int, memory float64) []Limit {
	return []Limit{
		{"every host acknowledges by itself, 22 times in the failure timeout", "one core of golaunch reads acknowledgements and does nothing else", float64(ackEvery) / float64(c.Frame.time()), "hosts", false},
		{"an agent asks all members of their hosts", "its cores, within the 2 s that it waits for all of them", askWait.Seconds() * float64(cores) / c.Request.times(0.5).Seconds(), "hosts", true},
		{"an agent asks all members of their hosts", "its descriptors, one for each connection", openFiles, "hosts", true},
		{"a job has more ranks", "the bound runtime/job.MaxRanks", maxRanks, "ranks", true},
		{"members exchange everything", "memberlist takes no more than 20 MiB", maxExchange / c.StateBytes.Value, "hosts", true},
		{"agents are asked for supervisors on more hosts", "the bound launcher/internal/api.MaxHosts", maxHosts, "hosts", true},
		{"what the first agent is asked to spawn", "the bound of a request, 16 MiB", maxBody / c.EntryBytes.Value, "hosts", true},
		{"every host knows every rank", "a tenth of a host's memory", memory / 10 / rankLine, "ranks", true},
	}
}
