package handshake

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// What a Dial's error wraps for an address where a rank answered and one of the
// two would not have the other; errors.Is finds them, also when several
// addresses failed in different ways.
var (
	// ErrProtocol: it speaks another number of this handshake.
	ErrProtocol = errors.New("another handshake protocol")
	// ErrVersion: it is built from another version.
	ErrVersion = errors.New("another version")
	// ErrJob: it belongs to another job, or to one of another size.
	ErrJob = errors.New("another job")
	// ErrRank: it is another rank of this job.
	ErrRank = errors.New("another rank")
	// ErrSecret: one of the two does not know the other's secret.
	ErrSecret = errors.New("wrong secret")
	// ErrEncryption: only one of the two wants to encrypt.
	ErrEncryption = errors.New("one end encrypts, the other does not")
)

// A reason is why a listener refuses, as it stands in the refusal's detail.
type reason uint8

const (
	reasonProtocol   reason = 1
	reasonVersion    reason = 2
	reasonJob        reason = 3
	reasonSize       reason = 4
	reasonRank       reason = 5
	reasonSecret     reason = 6
	reasonEncryption reason = 7
	reasons          reason = 8 // one past the last
)

// A refusal is what a listener tells a dialer it will not have: why, and what
// it is itself, from which the dialer makes the message. It holds no free text
// and no secret.
type refusal struct {
	protocol     uint16
	reason       reason
	rank, size   uint32
	version, job string
}

func (r refusal) Error() string {
	return fmt.Sprintf("refused for reason %d", r.reason)
}

func (r refusal) encode() []byte {
	b := header{protocol: r.protocol, kind: kindRefusal, detail: uint8(r.reason)}.append(make([]byte, 0, refusalSize))
	b = binary.LittleEndian.AppendUint32(b, r.rank)
	b = binary.LittleEndian.AppendUint32(b, r.size)
	return appendName(appendName(b, r.version), r.job)
}

func decodeRefusal(frame []byte) (refusal, error) {
	h, err := expect(kindRefusal, frame)
	if err != nil {
		return refusal{}, err
	}
	r := refusal{
		protocol: h.protocol,
		reason:   reason(h.detail),
		rank:     binary.LittleEndian.Uint32(frame[headerSize:]),
		size:     binary.LittleEndian.Uint32(frame[headerSize+4:]),
	}
	if r.reason == 0 || r.reason >= reasons {
		return refusal{}, fmt.Errorf("a refusal for reason %d", r.reason)
	}
	r.version, r.job, err = decodeNames(frame[headerSize+8:])
	return r, err
}

// explain says, as a dialer that wanted peer, what the refusal means. Names come
// from outside and are quoted.
func (r refusal) explain(me Identity, peer int) error {
	switch r.reason {
	case reasonProtocol:
		return fmt.Errorf("speaks handshake protocol %d and is version %q, rank %d speaks %d and is version %q: %w",
			r.protocol, r.version, me.Rank, Protocol, me.Version, ErrProtocol)
	case reasonVersion:
		return fmt.Errorf("is version %q, rank %d is version %q: %w", r.version, me.Rank, me.Version, ErrVersion)
	case reasonJob:
		return fmt.Errorf("belongs to job %q, rank %d to job %q: %w", r.job, me.Rank, me.Job, ErrJob)
	case reasonSize:
		return fmt.Errorf("counts %d ranks in job %q, rank %d counts %d: %w", r.size, r.job, me.Rank, me.Size, ErrJob)
	case reasonRank:
		return fmt.Errorf("is rank %d, not rank %d: %w", r.rank, peer, ErrRank)
	case reasonEncryption:
		return encryptionDiffers(me)
	}
	return fmt.Errorf("does not take rank %d's secret for that of job %q: %w", me.Rank, me.Job, ErrSecret)
}

func encryptionDiffers(me Identity) error {
	if me.Encrypt {
		return fmt.Errorf("does not encrypt, rank %d does: %w", me.Rank, ErrEncryption)
	}
	return fmt.Errorf("encrypts, rank %d does not: %w", me.Rank, ErrEncryption)
}
