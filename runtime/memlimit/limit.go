package memlimit

import (
	"fmt"
	"math"
)

// A Limit is the bound on memory that binds first.
type Limit struct {
	// Available is what may still be filled, in bytes. It is never negative.
	Available int64
	// Source names the bound: "MemAvailable", or
	// "cgroup /a/b: memory.max 512.0 MiB".
	Source string
}

// String says how much is left and which bound says so, for example
// "200.0 MiB are available (cgroup /a/b: memory.max 512.0 MiB)".
func (l Limit) String() string {
	return fmt.Sprintf("%s are available (%s)", Bytes(l.Available), l.Source)
}

// Admit returns nil when that many bytes may be filled, and otherwise an
// [*ExceededError].
func (l Limit) Admit(bytes int64) error {
	if bytes <= l.Available {
		return nil
	}
	return &ExceededError{Asked: bytes, Limit: l}
}

// An ExceededError reports a request for more memory than there is.
type ExceededError struct {
	Asked int64 // bytes
	Limit Limit
}

// Error has the form "1.0 TiB: 22.9 GiB are available (MemAvailable)", so that
// a caller can put "window of " in front of it.
func (e *ExceededError) Error() string {
	return Bytes(e.Asked) + ": " + e.Limit.String()
}

// Bytes formats a number of bytes for people: "22.9 GiB", "100 B". Large values
// are rounded to a tenth.
func Bytes(n int64) string {
	const units = "KMGTPE"
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	v, u := float64(n)/1024, 0
	// 1023.95 would print as 1024.0.
	for ; v >= 1023.95 && u < len(units)-1; u++ {
		v /= 1024
	}
	return fmt.Sprintf("%.1f %ciB", v, units[u])
}

// none is the limit of a cgroup that sets none.
var none = Limit{Available: math.MaxInt64}

// tighter returns the limit that binds first; the earlier one when they agree.
func tighter(a, b Limit) Limit {
	if b.Available < a.Available {
		return b
	}
	return a
}
