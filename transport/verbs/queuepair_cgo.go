//go:build cgo && linux

package verbs

/*
#cgo noescape v_post
#cgo nocallback v_post
#cgo noescape v_post_srq
#cgo nocallback v_post_srq
#include "verbs_cgo.h"
*/
import "C"

import (
	"runtime"
	"unsafe"
)

// A queuePair is one end of a reliable connection.
type queuePair struct {
	domain *domain
	c      *C.struct_ibv_qp
	number uint32
	inline int // bytes that a request can carry in itself

	request C.struct_v_request // post's, guarded by what guards posting
}

// newQueuePair makes a queue pair for sends requests at once. It receives from srq,
// or, with nil, what was posted to itself, receives at once.
func newQueuePair(p *domain, q *completionQueue, srq *receiveQueue, sends, receives int) (*queuePair, error) {
	qp := &queuePair{domain: p}
	var shared *C.struct_ibv_srq
	if srq != nil {
		shared = srq.c
	}
	var number C.uint32_t
	inline := C.uint32_t(wantInline)
	lib := p.device.lib.c
	err := result("ibv_create_qp", C.v_create_qp(lib, p.c, q.c, shared, C.int(sends), C.int(receives), &inline, &qp.c, &number))
	if err != nil {
		return nil, err
	}
	qp.number, qp.inline = uint32(number), int(inline)
	return qp, result("ibv_modify_qp to INIT", C.v_init_qp(lib, qp.c, C.int(p.device.place.port)))
}

// connect makes the pair ready to receive and to send.
func (qp *queuePair) connect(own, peer greeting) error {
	to, err := routeTo(own, peer)
	if err != nil {
		return err
	}
	d := qp.domain.device
	c := C.struct_v_peer{
		qp_num: C.uint32_t(peer.pair), psn: C.uint32_t(peer.sequence), own_psn: C.uint32_t(own.sequence),
		lid: C.int(to.lid), global: flag(to.global), mtu: C.int(min(own.mtu, peer.mtu)), reads: C.int(min(own.reads, peer.reads)),
		port: C.int(d.place.port), gid_index: C.int(d.place.index),
	}
	for i, b := range peer.gid {
		c.gid[i] = C.uint8_t(b)
	}
	return result("ibv_modify_qp to RTS", C.v_connect_qp(d.lib.c, qp.c, &c))
}

// fail ends everything on the pair: what is under way comes back with an error.
func (qp *queuePair) fail() error {
	return result("ibv_modify_qp to ERR", C.v_fail_qp(qp.domain.device.lib.c, qp.c))
}

func (qp *queuePair) close() error {
	return result("ibv_destroy_qp", C.v_destroy_qp(qp.domain.device.lib.c, qp.c))
}

// post starts a request. local is memory that lkey covers, or anything at all when
// the request is inlined: it is copied then.
func (qp *queuePair) post(r *request, id workID, local []byte, lkey uint32) error {
	c := &qp.request
	c.wr_id, c.length, c.lkey = C.uint64_t(id), C.uint32_t(len(local)), C.uint32_t(lkey)
	c.remote, c.rkey = C.uint64_t(r.remote), C.uint32_t(r.rkey)
	c.compare_add, c.swap, c.imm = C.uint64_t(r.operand), C.uint64_t(r.swap), C.uint32_t(r.immediate)
	c.opcode, c.signalled, c.inlined = C.int(r.opcode), flag(r.signalled), flag(r.inlined)
	rc, posted := int32(0), false
	if d := qp.domain.device; d.posting.TryLock() {
		rc, posted = d.posts.Call(unsafe.Pointer(C.v_post), unsafe.Pointer(qp.c), unsafe.Pointer(c), uintptr(addressOf(local)))
		d.posting.Unlock()
	}
	if !posted {
		rc = int32(C.v_post(qp.c, c, C.uintptr_t(addressOf(local))))
	}
	runtime.KeepAlive(local)
	if rc == 0 { // result is not inlined
		return nil
	}
	return result("ibv_post_send", C.int(rc))
}

func flag(b bool) C.int {
	if b {
		return 1
	}
	return 0
}

// receive posts a receive request without memory.
func (qp *queuePair) receive(id workID) error {
	return result("ibv_post_recv", C.v_post_recv(qp.c, C.uint64_t(id)))
}

// A receiveQueue is a shared receive queue.
type receiveQueue struct {
	domain *domain
	c      *C.struct_ibv_srq
}

func newReceiveQueue(p *domain, entries int) (*receiveQueue, error) {
	s := &receiveQueue{domain: p}
	return s, result("ibv_create_srq", C.v_create_srq(p.device.lib.c, p.c, C.int(entries), &s.c))
}

// post lets a message be received to mem.
func (s *receiveQueue) post(id workID, mem []byte, lkey uint32) error {
	return result("ibv_post_srq_recv", C.v_post_srq(s.c, C.uint64_t(id), C.uintptr_t(addressOf(mem)), C.uint32_t(len(mem)), C.uint32_t(lkey)))
}

func (s *receiveQueue) close() error {
	return result("ibv_destroy_srq", C.v_destroy_srq(s.domain.device.lib.c, s.c))
}
