package boot

// Version is what golaunch and rank programs are built from. They must agree:
// the memory they share has no other layout than this version's. It is a
// variable so that a release, or a test, can set it when linking
// (-ldflags "-X github.com/golaunch/golaunch/launcher/boot.Version=1.2.3").
var Version = "0.1.0"

// Protocol is the number of the packet layout. It changes with the layout of any
// packet but hello and refused, which stay as they are for ever, so that programs
// of different versions can refuse each other by name.
const Protocol = 2

// What golaunch puts into a rank's environment. The socket's answer counts; the
// others are a convenience for scripts.
const (
	EnvSocket = "GOLAUNCH_SOCKET" // number of the inherited descriptor
	EnvRank   = "GOLAUNCH_RANK"   // 0 to size-1
	EnvSize   = "GOLAUNCH_SIZE"   // ranks in the job
	EnvHost   = "GOLAUNCH_HOST"   // name of the host the rank runs on

	// EnvTerminal lists which of golaunch's own outputs are terminals: "stdout",
	// "stderr", "stdout,stderr" or "". A rank's outputs are pipes, so it cannot see
	// for itself whether a person looks on.
	EnvTerminal = "GOLAUNCH_TERMINAL"
)
