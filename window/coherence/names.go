package coherence

import "fmt"

var kindNames = [kinds]string{
	None: "nothing", ReadFault: "read-fault", WriteFault: "write-fault", PrefetchRead: "prefetch-read", PrefetchWrite: "prefetch-write",
	Evict: "evict", HoldOver: "hold-over", HostDead: "host-dead", Fence: "fence",
	Read: "Read", Write: "Write", Upgrade: "Upgrade", InvalidateAck: "InvalidateAck", FetchAck: "FetchAck", WriteBack: "WriteBack",
	GrantRead: "GrantRead", GrantWrite: "GrantWrite", Invalidate: "Invalidate", Recall: "Recall", Fetch: "Fetch", Store: "Store", Lost: "Lost",
	Locate: "Locate", Located: "Located",
	Fill: "fill", FillWritable: "fill-writable", Unprotect: "unprotect", Protect: "protect", Save: "save", Drop: "drop", Discard: "discard", Wake: "wake",
	Hold: "hold", Free: "free", Fail: "fail", Kill: "kill",
}

// String is the kind's name: what happens and what the pager does in small letters,
// what travels in capitals.
func (k Kind) String() string {
	if k < kinds {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// isOrder tells what the pager does from what travels.
func (k Kind) isOrder() bool { return k >= Fill && k < kinds }

var stateNames = [states]string{"Invalid", "Reading", "Writing", "Shared", "Upgrading", "Modified"}

// String is the state's name.
func (s State) String() string {
	if s < states {
		return stateNames[s]
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

var dirStateNames = [dirStates]string{"untouched", "copied", "busy", "lost"}

func (s dirState) String() string { return dirStateNames[s] }
