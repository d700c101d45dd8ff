package collectives

import (
	"fmt"
	"reflect"
)

// pointerFree returns an error if values of the type contain pointers, which mean
// nothing in another process.
func pointerFree(t reflect.Type) error {
	switch t.Kind() {
	case reflect.Array:
		return pointerFree(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if err := pointerFree(t.Field(i).Type); err != nil {
				return fmt.Errorf("field %s: %w", t.Field(i).Name, err)
			}
		}
		return nil
	case reflect.Pointer, reflect.UnsafePointer, reflect.Slice, reflect.String, reflect.Map,
		reflect.Chan, reflect.Func, reflect.Interface:
		return fmt.Errorf("elements of type %v hold pointers, which mean nothing to another rank", t)
	default:
		return nil
	}
}
