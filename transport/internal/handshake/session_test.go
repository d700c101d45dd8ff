package handshake

import (
	"crypto/sha256"
	"errors"
	"strings"
	"testing"
)

var secret = []byte("0123456789abcdef0123456789abcdef")

func identity(rank int) Identity {
	return Identity{Secret: secret, Job: "heat-1", Version: "1.2.0", Rank: rank, Size: 4}
}

func nonce(b byte) (n [nonceSize]byte) {
	for i := range n {
		n[i] = b + byte(i)
	}
	return n
}

func key(t *testing.T, id Identity) []byte {
	t.Helper()
	k, err := id.derive("handshake")
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// A talk carries the frames of one handshake between its two machines. alter,
// when not nil, sees and may change each frame on its way; it returns the frame.
type talk struct {
	dialer, listener       Identity
	peer                   int
	ofDialer, ofListener   channel
	nonceDialer, nonceList [nonceSize]byte
	alter                  func(step int, frame []byte) []byte
	steps                  int
	frames                 [][]byte // what arrived
	proved                 bool     // the listener took the dialer's proof
}

func newTalk() *talk {
	return &talk{
		dialer: identity(1), listener: identity(2), peer: 2,
		ofDialer: channel{trusted: true}, ofListener: channel{trusted: true},
		nonceDialer: nonce(7), nonceList: nonce(99),
	}
}

func (k *talk) carry(frame []byte) []byte {
	frame = append([]byte(nil), frame...)
	if k.alter != nil {
		frame = k.alter(k.steps, frame)
	}
	k.steps++
	k.frames = append(k.frames, frame)
	return frame
}

// run returns the rank that the listener ends up with, and what ended the
// handshake otherwise: at the dialer, what a refusal means to it.
func (k *talk) run(t *testing.T) (int, error) {
	d := newDialing(k.dialer, key(t, k.dialer), k.ofDialer, k.peer, k.nonceDialer)
	a := newAnswering(k.listener, key(t, k.listener), k.ofListener)
	hello := k.carry(d.hello())
	if err := a.begun(hello); err != nil {
		return -1, k.told(t, err)
	}
	challenge, err := a.greeted(hello, k.nonceList)
	if err != nil {
		return -1, k.told(t, err)
	}
	proof, err := d.challenged(k.carry(challenge))
	if err != nil {
		return -1, err
	}
	accept, err := a.proved(k.carry(proof))
	if err != nil {
		return -1, k.told(t, err)
	}
	k.proved = true
	confirm, err := d.accepted(k.carry(accept))
	if err != nil {
		return -1, err
	}
	if err := a.confirmed(k.carry(confirm)); err != nil {
		return -1, err
	}
	return a.peer, nil
}

func (k *talk) told(t *testing.T, err error) error {
	var why refusal
	if !errors.As(err, &why) {
		return err
	}
	r, err := decodeRefusal(k.carry(why.encode()))
	if err != nil {
		return err
	}
	return r.explain(k.dialer, k.peer)
}

func TestTheTwoFindEachOther(t *testing.T) {
	k := newTalk()
	peer, err := k.run(t)
	if err != nil || peer != 1 {
		t.Errorf("the listener has rank %d, %v; want 1", peer, err)
	}
	self := newTalk()
	self.dialer, self.peer = identity(2), 2
	if peer, err := self.run(t); err != nil || peer != 2 {
		t.Errorf("a rank that dials itself gets rank %d, %v", peer, err)
	}
}

func TestRefusalsSayWhatDiffers(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*talk)
		is     error
		says   []string
	}{
		"version": {func(k *talk) { k.listener.Version = "1.3.0" }, ErrVersion, []string{`"1.3.0"`, `"1.2.0"`}},
		"job":     {func(k *talk) { k.listener.Job = "wordcount-9" }, ErrJob, []string{`"wordcount-9"`, `"heat-1"`}},
		"size":    {func(k *talk) { k.listener.Size = 8 }, ErrJob, []string{"8 ranks", "counts 4"}},
		"rank":    {func(k *talk) { k.peer = 3 }, ErrRank, []string{"rank 2", "rank 3"}},
		"dialer":  {func(k *talk) { k.dialer.Rank = 4 }, ErrRank, nil},
		"secret": {func(k *talk) { k.listener.Secret = []byte("another secret, 16 or more") }, ErrSecret,
			[]string{"rank 1", `"heat-1"`}},
		"plain to encrypted":     {func(k *talk) { k.listener.Encrypt = true }, ErrEncryption, []string{"encrypts, rank 1 does not"}},
		"encrypted to plain":     {func(k *talk) { k.dialer.Encrypt = true }, ErrEncryption, []string{"does not encrypt, rank 1 does"}},
		"untrusted dialer":       {func(k *talk) { k.ofListener.trusted = false }, ErrSecret, nil},
		"untrusted listener":     {func(k *talk) { k.ofDialer.trusted = false }, ErrSecret, []string{"does not prove"}},
		"another tls connection": {func(k *talk) { k.ofListener.binding = sha256.Sum256(nil) }, ErrSecret, nil},
		"another protocol": {func(k *talk) {
			k.alter = func(step int, frame []byte) []byte {
				if step == 0 {
					frame[4] = 9
				}
				return frame
			}
		}, ErrProtocol, []string{"protocol 1", `"1.2.0"`}},
	} {
		k := newTalk()
		c.change(k)
		_, err := k.run(t)
		if !errors.Is(err, c.is) {
			t.Errorf("%s: %v; want %v", name, err, c.is)
			continue
		}
		for _, s := range c.says {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("%s: %q does not say %s", name, err, s)
			}
		}
		if k.proved {
			t.Errorf("%s: the listener took the dialer's proof", name)
		}
	}
}

// Nothing that depends on the secret is in a refusal.
func TestARefusalIsTheSameForEverySecret(t *testing.T) {
	refused := func(wrong string) string {
		k := newTalk()
		k.dialer.Secret = []byte(wrong)
		if _, err := k.run(t); !errors.Is(err, ErrSecret) {
			t.Fatal(err)
		}
		return string(k.frames[len(k.frames)-1])
	}
	if refused("wrong secret 1234567") != refused("another wrong secret") {
		t.Error("the refusal depends on the secret")
	}
}

// Somebody between the two who changes any bit of any frame ends the handshake.
func TestEveryBitCounts(t *testing.T) {
	whole := newTalk()
	if _, err := whole.run(t); err != nil {
		t.Fatal(err)
	}
	for step, frame := range whole.frames {
		for bit := range 8 * len(frame) {
			k := newTalk()
			k.alter = func(at int, frame []byte) []byte {
				if at == step {
					frame[bit/8] ^= 1 << (bit % 8)
				}
				return frame
			}
			if _, err := k.run(t); err == nil {
				t.Fatalf("frame %d with bit %d changed is taken", step, bit)
			}
		}
	}
}

func TestEveryByteIsNeeded(t *testing.T) {
	whole := newTalk()
	if _, err := whole.run(t); err != nil {
		t.Fatal(err)
	}
	for step, frame := range whole.frames {
		for n := range len(frame) {
			k := newTalk()
			k.alter = func(at int, frame []byte) []byte {
				if at == step {
					return frame[:n]
				}
				return frame
			}
			if _, err := k.run(t); err == nil {
				t.Fatalf("frame %d cut to %d bytes is taken", step, n)
			}
		}
	}
}

// Each frame of one handshake, played into another with other nonces.
func TestReplay(t *testing.T) {
	recorded := newTalk()
	if _, err := recorded.run(t); err != nil {
		t.Fatal(err)
	}
	for first := range recorded.frames {
		k := newTalk()
		k.nonceDialer, k.nonceList = nonce(1), nonce(2)
		k.alter = func(step int, frame []byte) []byte {
			if step >= first {
				return recorded.frames[step]
			}
			return frame
		}
		if _, err := k.run(t); err == nil {
			t.Errorf("the frames from %d on of an earlier handshake are taken", first)
		}
	}
}

// A stranger has the dialer's hello, and wants the listener's proof or the
// dialer's: it sends each end what it said itself.
func TestReflection(t *testing.T) {
	me := identity(2)
	a := newAnswering(me, key(t, me), channel{trusted: true})
	d := newDialing(identity(2), key(t, me), channel{trusted: true}, 2, nonce(5))
	challenge, err := a.greeted(d.hello(), nonce(6))
	if err != nil {
		t.Fatal(err)
	}
	proof, err := d.challenged(challenge)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []kind{kindProof, kindAccept, kindConfirm} {
		if _, err := d.accepted(encodeProof(k, proof[headerSize:])); err == nil {
			t.Errorf("the dialer takes its own proof back as %v", k)
		}
	}
	if _, err := a.proved(encodeProof(kindProof, challenge[headerSize:])); err == nil {
		t.Error("the listener takes its own challenge back as a proof")
	}
	accept, err := a.proved(proof)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.confirmed(encodeProof(kindConfirm, accept[headerSize:])); err == nil {
		t.Error("the listener takes its own proof back as the confirmation")
	}
	if err := a.confirmed(encodeProof(kindConfirm, proof[headerSize:])); err == nil {
		t.Error("the listener takes the proof a second time as the confirmation")
	}
}

// A proof made for one pair of ranks is worth nothing to another pair.
func TestSwappedRanks(t *testing.T) {
	k := newTalk()
	k.alter = func(step int, frame []byte) []byte {
		if step == 0 { // 1 to 2 becomes 3 to 2
			frame[headerSize] = 3
		}
		return frame
	}
	if peer, err := k.run(t); !errors.Is(err, ErrSecret) {
		t.Errorf("rank 1's proof makes it rank %d: %v", peer, err)
	}
	k = newTalk()
	k.dialer, k.peer = identity(2), 1 // 2 to 1, carried to 2 as 1 to 2
	k.alter = func(step int, frame []byte) []byte {
		if step == 0 {
			frame[headerSize], frame[headerSize+4] = frame[headerSize+4], frame[headerSize]
		}
		return frame
	}
	if peer, err := k.run(t); !errors.Is(err, ErrSecret) {
		t.Errorf("rank 2's own proof makes its sender rank %d: %v", peer, err)
	}
}

func TestIdentityIsChecked(t *testing.T) {
	for name, change := range map[string]func(*Identity){
		"no secret":      func(id *Identity) { id.Secret = nil },
		"short secret":   func(id *Identity) { id.Secret = make([]byte, 15) },
		"long job":       func(id *Identity) { id.Job = strings.Repeat("j", MaxName+1) },
		"long version":   func(id *Identity) { id.Version = strings.Repeat("v", MaxName+1) },
		"zero in job":    func(id *Identity) { id.Job = "a\x00b" },
		"negative rank":  func(id *Identity) { id.Rank = -1 },
		"rank too large": func(id *Identity) { id.Rank = 4 },
		"no ranks":       func(id *Identity) { id.Size = 0 },
		"timeout":        func(id *Identity) { id.Timeout = -1 },
	} {
		id := identity(1)
		if err := id.check(); err != nil {
			t.Fatal(err)
		}
		change(&id)
		if id.check() == nil {
			t.Errorf("%s is taken", name)
		}
	}
}
