package arena

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
	// Quarantined is in extents that were freed after Quarantine.
	Quarantined int64
	// Allocs counts calls of Alloc that returned memory, Reuses those of them whose
	// memory had been used before.
	Allocs, Reuses uint64
}

// Usage returns the present figures, consistent with each other. It takes one
// uncontended lock.
func (a *Arena) Usage() Usage {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.usage
}
