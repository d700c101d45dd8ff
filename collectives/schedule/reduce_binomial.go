package schedule

// reduceBinomial: the broadcast's tree, upwards: a rank combines its children's
// values with its own and passes the result to its parent; ceil(log2 n) rounds,
// the whole buffer in each.
//
// Order: the tree over the ranks as they follow the root around the ring, root,
// root+1, ..., root-1; a child's value stands to the right of its parent's, and
// of the nearer children's.
//
// Thakur, Rabenseifner, Gropp 2005.
func reduceBinomial(p Plan, rank int) Schedule {
	b := newBuilder(rank, p.Size, p.Count, 0)
	relative := p.relative(rank)
	sum, folded := Ref{In, 0}, none
	result := b.result(p, relative == 0, relative%2 == 0 && relative+1 < p.Size)
	for child := 1; child < p.Size; child *= 2 {
		if relative&child != 0 {
			b.send(p.absolute(relative-child), sum, p.Count, folded)
			return b.Schedule
		}
		if relative+child < p.Size {
			folded = b.recvReduce(p.absolute(relative+child), result, sum, p.Count, folded)
			sum = result
		}
	}
	if p.Size == 1 {
		b.copy(result, sum, p.Count)
	}
	return b.Schedule
}

// result is where a rank gathers its part of a reduction: Out at the root, Temp
// at a rank that has something to combine.
func (b *builder) result(p Plan, root, combines bool) Ref {
	switch {
	case root:
		b.Out, b.InAt = p.Count, 0
		return Ref{Out, 0}
	case combines:
		return b.temp(p.Count)
	default:
		return Ref{}
	}
}
