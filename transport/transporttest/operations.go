package transporttest

import (
	"fmt"

	"github.com/golaunch/golaunch/transport"
)

// The operations of a node wait for their completion: the error is that of the
// call or that of the completion, whichever the transport chose.

// run starts an operation and waits for it.
func (n *node) run(target int, start func(c transport.Conn, op transport.OpID) error) error {
	op := n.newOp()
	if err := start(n.conns[target], op); err != nil {
		return err
	}
	done, err := n.await(op)
	if err != nil {
		return err
	}
	if done.Rank != target {
		return fmt.Errorf("operation on rank %d completed as one on rank %d", target, done.Rank)
	}
	return done.Err
}

func (n *node) put(target int, dst transport.Remote, src []byte) error {
	return n.run(target, func(c transport.Conn, op transport.OpID) error { return c.Put(dst, src, op) })
}

func (n *node) get(target int, dst []byte, src transport.Remote) error {
	return n.run(target, func(c transport.Conn, op transport.OpID) error { return c.Get(dst, src, op) })
}

func (n *node) fetchAdd(target int, dst transport.Remote, delta uint64) (old uint64, err error) {
	err = n.run(target, func(c transport.Conn, op transport.OpID) error { return c.FetchAdd(dst, delta, &old, op) })
	return old, err
}

func (n *node) compareSwap(target int, dst transport.Remote, expect, new uint64) (old uint64, err error) {
	err = n.run(target, func(c transport.Conn, op transport.OpID) error {
		return c.CompareSwap(dst, expect, new, &old, op)
	})
	return old, err
}

func (n *node) flush(target int) error {
	return n.run(target, func(c transport.Conn, op transport.OpID) error { return c.Flush(op) })
}

func (n *node) send(target int, text string) error { return n.conns[target].Send([]byte(text)) }

// shared is registered memory of some rank.
type shared struct {
	owner  int
	mem    []byte
	remote transport.Remote
	region transport.Region
}

// share registers n new bytes.
func (n *node) share(bytes int) (shared, error) {
	key, offset, mem := n.job.Alloc(n.rank, bytes)
	region, err := n.endpoint.Register(key, offset, mem)
	if err != nil {
		return shared{}, err
	}
	return shared{n.rank, mem, region.Remote(), region}, nil
}

// part is a piece of the region that may lie outside it: what a caller with wrong
// numbers would ask for.
func (s shared) part(offset, length int64) transport.Remote {
	return transport.Remote{Key: s.remote.Key, Offset: s.remote.Offset + offset, Len: length}
}
