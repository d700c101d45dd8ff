package line

// What a board says of a page: a byte that the pager stores and the rank loads.
const (
	BoardNone     = 0 // nothing may be done with it
	BoardReadable = 1
	BoardWritable = 2
)
