package exchange

import "encoding/binary"

// A Verdict says why a member broke the group.
type Verdict struct {
	Member int
	Failed int // the rank whose failure was the cause, -1: none
	Op     string
	Cause  string
}

// The layout of a break: kind (4 bytes), 4 bytes of zeros, member (4), 1 + failed
// (4), lengths of op and cause (2 and 2), op, cause.
const verdictSize = 20

// maxText bounds both texts, so that a break is a short message.
const maxText = 1 << 10

// Encode returns the verdict as a message. Texts that are too long are cut.
func (v Verdict) Encode() []byte {
	op, cause := v.Op[:min(len(v.Op), maxText)], v.Cause[:min(len(v.Cause), maxText)]
	b := []byte{kindBreak, 0, 0, 0, 0, 0, 0, 0}
	b = binary.LittleEndian.AppendUint32(b, uint32(v.Member))
	b = binary.LittleEndian.AppendUint32(b, uint32(1+v.Failed))
	b = binary.LittleEndian.AppendUint16(b, uint16(len(op)))
	b = binary.LittleEndian.AppendUint16(b, uint16(len(cause)))
	return append(append(b, op...), cause...)
}

// IsBreak reports whether a message is a verdict, well-formed or not.
func IsBreak(msg []byte) bool { return len(msg) > 0 && msg[0] == kindBreak }

// DecodeVerdict reads what Encode wrote.
func DecodeVerdict(msg []byte) (Verdict, error) {
	if len(msg) < verdictSize || binary.LittleEndian.Uint64(msg) != kindBreak {
		return Verdict{}, malformed("%d bytes are no break", len(msg))
	}
	v := Verdict{
		Member: int(binary.LittleEndian.Uint32(msg[8:])),
		Failed: int(int32(binary.LittleEndian.Uint32(msg[12:]))) - 1,
	}
	op, cause := int(binary.LittleEndian.Uint16(msg[16:])), int(binary.LittleEndian.Uint16(msg[18:]))
	texts := msg[verdictSize:]
	switch {
	case op > maxText || cause > maxText || op+cause != len(texts):
		return Verdict{}, malformed("a break with texts of %d and %d bytes in %d", op, cause, len(texts))
	case v.Failed < -1:
		return Verdict{}, malformed("a break because of rank %d", v.Failed)
	}
	v.Op, v.Cause = string(texts[:op]), string(texts[op:])
	return v, nil
}
