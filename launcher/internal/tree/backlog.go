package tree

import "slices"

// A backlog holds the root's records to all hosts that may have to be sent again.
type backlog struct {
	first   uint64 // the number of records[0]
	records [][]byte
	tidy    int // when so many are held, those are dropped that nobody lacks
}

// minTidy is the least number of records after which it is worth a look at every
// host.
const minTidy = 1024

func (b *backlog) end() uint64 { return b.first + uint64(len(b.records)) }

// add adds a record. least tells the first record that some host lacks.
func (b *backlog) add(record []byte, least func() uint64) {
	b.records = append(b.records, record)
	if len(b.records) >= max(b.tidy, minTidy) {
		b.drop(least())
		b.tidy = 2 * len(b.records)
	}
}

func (b *backlog) drop(before uint64) {
	if n := min(before, b.end()) - b.first; n > 0 {
		b.records = slices.Clone(b.records[n:])
		b.first += n
	}
}

// A session is what the root knows of one host. Of the root's records, acked are
// acknowledged; not acknowledged are those to all from the record all on, and own.
//
// Invariant: own[i].after <= own[i+1].after, and all <= own[0].after.
type session struct {
	all      uint64
	own      []record
	acked    uint64
	accepted uint64 // records of the host
	owes     bool   // accepted has not been told
}

// A record is one to one host. Those to all that were sent before it have numbers
// below after.
type record struct {
	after uint64
	data  []byte
}

// pending is how many records are not acknowledged.
func (s *session) pending(end uint64) uint64 { return end - s.all + uint64(len(s.own)) }

// acknowledge notes that the host has accepted so many records. It reports whether
// that can be.
func (s *session) acknowledge(count, end uint64) bool {
	if count > s.acked+s.pending(end) {
		return false
	}
	for s.acked < count {
		s.acked += s.advance(count - s.acked)
	}
	return true
}

// advance takes some of the next records for acknowledged, most at most, and returns
// how many.
func (s *session) advance(most uint64) uint64 {
	if len(s.own) > 0 {
		if s.own[0].after == s.all {
			s.own = s.own[1:]
			return 1
		}
		most = min(most, s.own[0].after-s.all)
	}
	s.all += most
	return most
}

// each calls do for every record that is not acknowledged, in order.
func (s *session) each(b *backlog, do func(data []byte)) {
	all := s.all
	upTo := func(end uint64) {
		for ; all < end; all++ {
			do(b.records[all-b.first])
		}
	}
	for _, r := range s.own {
		upTo(r.after)
		do(r.data)
	}
	upTo(b.end())
}
