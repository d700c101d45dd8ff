//go:build cgo && linux

package verbs

/*
#cgo noescape v_poll_cq
#cgo nocallback v_poll_cq
#include <errno.h>
#include "verbs_cgo.h"
*/
import "C"

import (
	"errors"
	"unsafe"
)

// A completionQueue is where all work of an endpoint ends, and the channel on which
// its events can be waited for.
type completionQueue struct {
	device  *device
	c       *C.struct_ibv_cq
	channel *C.struct_ibv_comp_channel
	fd      int // of the channel; does not block
	batch   [16]C.struct_v_wc
}

func newCompletionQueue(d *device, entries int) (*completionQueue, error) {
	q := &completionQueue{device: d}
	var fd C.int
	err := result("ibv_create_cq", C.v_create_cq(d.lib.c, d.c, C.int(entries), &q.channel, &q.c, &fd))
	q.fd = int(fd)
	return q, err
}

// poll calls handle for some work that has ended and returns how much: less than a
// batch when that was all.
func (q *completionQueue) poll(handle func(work)) (int, error) {
	n, ok := q.device.polls.Call(unsafe.Pointer(C.v_poll_cq), unsafe.Pointer(q.c), unsafe.Pointer(&q.batch[0]), uintptr(len(q.batch)))
	if !ok {
		n = int32(C.v_poll_cq(q.c, &q.batch[0], C.int(len(q.batch))))
	}
	if n < 0 {
		return 0, errors.New("ibv_poll_cq failed")
	}
	for i := range q.batch[:n] {
		w := &q.batch[i]
		handle(work{
			id: workID(w.wr_id), status: int(w.status), bytes: int(w.byte_len),
			immediate: uint32(w.imm), pair: uint32(w.qp_num), vendor: uint32(w.vendor_err),
		})
	}
	return int(n), nil
}

// arm has an event put on the channel when the next work ends.
func (q *completionQueue) arm() error {
	rc, ok := q.device.polls.Call(unsafe.Pointer(C.v_arm_cq), unsafe.Pointer(q.c), nil, 0)
	if !ok {
		rc = int32(C.v_arm_cq(q.c))
	}
	return result("ibv_req_notify_cq", C.int(rc))
}

// event takes an event from the channel. ok is false when there is none.
func (q *completionQueue) event() (ok bool, err error) {
	rc := C.v_cq_event(q.device.lib.c, q.channel)
	if rc == C.EAGAIN {
		return false, nil
	}
	err = result("ibv_get_cq_event", rc)
	return err == nil, err
}

func (q *completionQueue) close() error {
	return result("ibv_destroy_cq", C.v_destroy_cq(q.device.lib.c, q.channel, q.c))
}

// status is what libibverbs calls the status of a completion.
func (q *completionQueue) status(code int) string {
	return C.GoString(C.v_status(q.device.lib.c, C.int(code)))
}
