package schedule

// sentChunks remembers which step sends which chunk of the input to whom: a
// result may be stored over an input (in place) only after that.
type sentChunks struct {
	rounds int // the largest number of chunks in a part
	lag    int // a result follows the inputs of this many chunks later
	step   [][]int
}

// newSentChunks chooses a lag of one chunk where there are several: while the
// peers fold one chunk the next is on its way.
func newSentChunks(p Plan) *sentChunks {
	rounds := part(0, p.Size, p.Count).chunks(p.Chunk)
	s := &sentChunks{rounds: rounds, lag: min(1, max(rounds-1, 0)), step: make([][]int, p.Size)}
	back := make([]int, p.Size*rounds)
	for i := range s.step {
		s.step[i] = back[i*rounds : (i+1)*rounds]
	}
	return s
}

// scatter sends chunk c of each peer's part of the input to that peer, starting
// with the next rank so that the ranks do not all turn to the same peer.
func (b *builder) scatter(p Plan, c int, sent *sentChunks) {
	for i := 1; i < p.Size && c < sent.rounds; i++ {
		peer := (b.Rank + i) % p.Size
		s := part(peer, p.Size, p.Count).chunk(c, p.Chunk)
		sent.step[peer][c] = b.send(peer, Ref{In, s.off}, s.n)
	}
}

// collect receives chunk c of each peer's finished part into Out.
func (b *builder) collect(p Plan, c int, sent *sentChunks) {
	for i := 1; i < p.Size && c >= 0 && c < sent.rounds; i++ {
		peer := (b.Rank - i + p.Size) % p.Size
		s := part(peer, p.Size, p.Count).chunk(c, p.Chunk)
		b.recv(peer, Ref{Out, s.off}, s.n, sent.step[peer][c])
	}
}
