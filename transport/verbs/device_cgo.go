//go:build cgo && linux

package verbs

// #include "verbs_cgo.h"
import "C"

import (
	"errors"
	"fmt"
	"sync"
	"syscall"

	"github.com/golaunch/golaunch/transport/verbs/internal/cstack"
)

// A device is an opened NIC and the port of it that is used.
type device struct {
	posting sync.Mutex    // guards posts; nobody waits for it
	posts   *cstack.Stack // for who posts
	polls   *cstack.Stack // for who takes completions, guarded by what guards that
	lib     library
	c       *C.struct_ibv_context
	place   place
	limits  C.struct_v_attr
	port    C.struct_v_port
	asyncFD int
}

// openDevice opens the device at a place.
func openDevice(lib library, at place) (*device, error) {
	name := C.CString(at.device)
	defer free(name)
	d := &device{lib: lib, place: at}
	if err := result("ibv_open_device", C.v_open(lib.c, name, &d.c)); err != nil {
		return nil, err
	}
	err := errors.Join(d.query(), d.stack())
	if err != nil {
		err = errors.Join(err, d.close())
	}
	return d, err
}

func (d *device) query() error {
	if err := result("ibv_query_device", C.v_attr(d.lib.c, d.c, &d.limits)); err != nil {
		return err
	}
	if err := result("ibv_query_port", C.v_port(d.lib.c, d.c, C.int(d.place.port), &d.port)); err != nil {
		return err
	}
	if d.asyncFD = int(C.v_async_fd(d.c)); d.asyncFD < 0 {
		return errors.New("its asynchronous events cannot be read without waiting")
	}
	return nil
}

// stack makes the stacks of the calls that neither wait nor take long: posting and
// polling are made for it. Soft-RoCE does in posting what a NIC would do by itself, for
// as many packets as may be under way without an answer: 512 KiB. Who posts and finds
// the stack in use goes the way of cgo.
func (d *device) stack() (err error) {
	if d.posts, err = cstack.New(); err == nil {
		d.polls, err = cstack.New()
	}
	return err
}

// event takes an asynchronous event. ok is false when there is none, or none that
// means harm.
func (d *device) event() (e event, ok bool, err error) {
	var got C.struct_v_event
	err = result("ibv_get_async_event", C.v_async_event(d.lib.c, d.c, &got))
	if errors.Is(err, syscall.EAGAIN) {
		return event{}, false, nil
	}
	e = event{name: C.GoString(&got.name[0]), pair: uint32(got.qp_num), port: int(got.port)}
	return e, err == nil && got._type >= 0, err
}

func (d *device) close() error {
	err := result("ibv_close_device", C.v_close(d.lib.c, d.c))
	for _, s := range []*cstack.Stack{d.posts, d.polls} {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}
	if err != nil {
		return fmt.Errorf("device %s: %w", d.place.device, err)
	}
	return nil
}
