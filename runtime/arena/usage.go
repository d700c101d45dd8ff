package arena

import "time"

// Usage says what an arena holds. Amounts are bytes of whole extents: from
// four pages on, up to a quarter more than was asked for.
type Usage struct {
	// Segments is the number of memfds. Each costs one descriptor.
	Segments int
	// Mapped is address space; it costs nothing until it is populated.
	Mapped int64
	// Populated is what the arena has filled with pages: memory that is gone for
	// others, whether in use or free.
	Populated int64
	// InUse is in extents that are handed out.
	InUse int64
	// Free is in extents that wait for reuse.
	Free int64
	// Quarantined is in extents that were freed while a hold kept them.
	Quarantined int64
	// Allocs counts calls of Alloc that returned memory, Reuses those of them whose
	// memory had been used before.
	Allocs, Reuses uint64
	// Registered is in segments that are registered with a transport.
	Registered int64
	// Registrations counts calls of Registrar.Register that succeeded, Registering is
	// the time spent in calls of it and in ending registrations.
	Registrations uint64
	Registering   time.Duration
	// Returned is what was given back to the kernel, over time.
	Returned int64
}

// history is what stays of the figures when everything is given up.
func (u Usage) history() Usage {
	return Usage{Allocs: u.Allocs, Reuses: u.Reuses, Registrations: u.Registrations, Registering: u.Registering, Returned: u.Returned}
}

// Usage returns the present figures, consistent with each other. It takes one
// uncontended lock.
func (a *Arena) Usage() Usage {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.usage
}
