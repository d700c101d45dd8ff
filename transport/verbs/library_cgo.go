//go:build cgo && linux

package verbs

/*
#cgo LDFLAGS: -ldl
#include "verbs_cgo.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"syscall"
)

// A library is libibverbs, loaded. It stays loaded as long as the process lives.
//
// Its memory survives a fork by C code of the program: while a child lives, a page that
// this process writes to would otherwise be replaced by a copy of which the device
// knows nothing, also where bounce buffers are. Linux from 5.12 on gives the copy to
// the child; for older ones libibverbs keeps registered pages from children, which then
// have nothing there. What os/exec does needs neither: nothing runs in the child but exec.
type library struct{ c *C.struct_v_lib }

func load() (library, error) {
	var why [256]C.char
	l := C.v_load(&why[0], C.size_t(len(why)))
	if l == nil {
		return library{}, fmt.Errorf("libibverbs: %s", C.GoString(&why[0]))
	}
	if err := result("ibv_fork_init", C.v_fork_init(l)); err != nil {
		return library{}, fmt.Errorf("%w (memory was registered before, by other code of this program?)", err)
	}
	return library{l}, nil
}

// devices returns the names of the devices that libibverbs finds.
func (l library) devices() ([]string, error) {
	var names []string
	for {
		var name [64]C.char
		err := result("ibv_get_device_list", C.v_device_name(l.c, C.int(len(names)), &name[0], C.size_t(len(name))))
		switch {
		case errors.Is(err, syscall.ENOENT):
			return names, nil
		case errors.Is(err, syscall.ENOSYS):
			return nil, errors.New("the kernel has no RDMA (module ib_uverbs)")
		case err != nil:
			return nil, err
		}
		names = append(names, C.GoString(&name[0]))
	}
}

// result makes an error of what a call returned.
func result(call string, rc C.int) error {
	if rc == 0 {
		return nil
	}
	return fmt.Errorf("%s: %w", call, syscall.Errno(rc))
}
