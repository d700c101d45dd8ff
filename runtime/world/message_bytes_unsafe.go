package world

import (
	"fmt"
	"reflect"
	"unsafe"
)

// messageBytes views a slice as bytes. It is right because T holds no pointers:
// bytes that come from another process are stored through the view.
func messageBytes[T any](comm *Comm, op string, s []T) ([]byte, error) {
	if t := reflect.TypeFor[T](); !isNumber(t.Kind()) {
		if err := comm.process.sendable(t); err != nil {
			return nil, fmt.Errorf("rank %d: %s on communicator %q: %w", comm.process.rank, op, comm.name, err)
		}
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*sizeOf[T]()), nil
}

// sizeOf is the size of an element in bytes.
func sizeOf[T any]() int { return int(unsafe.Sizeof(*new(T))) }

func isNumber(k reflect.Kind) bool { return k >= reflect.Bool && k <= reflect.Complex128 }

// sendable returns an error if values of a type hold pointers, which mean nothing
// in another process. Types that do not are remembered.
func (p *process) sendable(t reflect.Type) error {
	if _, known := p.types.Load(t); known {
		return nil
	}
	if err := pointerFree(t); err != nil {
		return fmt.Errorf("elements of type %v hold pointers (%w), which mean nothing to another rank", t, err)
	}
	p.types.Store(t, nil)
	return nil
}

func pointerFree(t reflect.Type) error {
	switch k := t.Kind(); {
	case isNumber(k):
		return nil
	case k == reflect.Array:
		return pointerFree(t.Elem())
	case k == reflect.Struct:
		for i := range t.NumField() {
			if err := pointerFree(t.Field(i).Type); err != nil {
				return fmt.Errorf("field %s: %w", t.Field(i).Name, err)
			}
		}
		return nil
	default:
		return fmt.Errorf("a %v", k)
	}
}
