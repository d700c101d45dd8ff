package element

import (
	"fmt"
	"hash/fnv"
	"reflect"
)

// Width is how an element's atomic operations are carried out.
type Width uint8

const (
	Ranged Width = iota // under a lock over a range of elements
	Narrow              // 1 or 2 bytes, in the word around them
	Word                // 4 bytes
	Double              // 8 bytes
)

// A Kind is all that operations need to know of an element type.
type Kind struct {
	Type  reflect.Type
	Size  int // bytes
	Width Width
	// Native: the Sum of such elements is one instruction of the CPU.
	Native bool

	class class
	apply apply // nil for opaque elements and those wider than 8 bytes
	swap  error // why there is no CompareAndSwap
}

// Of returns the kind of a type, or an error if it cannot be a window's: if a value
// holds a Go pointer, which means nothing to another process, or has no size.
func Of(t reflect.Type) (Kind, error) {
	if path, holds := pointer(t); holds != nil {
		return Kind{}, fmt.Errorf("element type %v: %s holds a Go pointer", t, place(path, holds))
	}
	if t.Size() == 0 {
		return Kind{}, fmt.Errorf("element type %v: its values have no size", t)
	}
	k := Kind{Type: t, Size: int(t.Size()), Width: width(t.Size()), class: classOf(t.Kind()), apply: applyOf(t.Kind())}
	k.Native = k.class == integer && k.Width >= Word
	if gap, found := padding(t); found {
		k.swap = fmt.Errorf("CompareAndSwap is not defined for elements of type %v, which has bytes without a meaning %s", t, gap)
	}
	return k, nil
}

// Swappable returns why elements of this kind have no CompareAndSwap, nil if they
// have.
func (k *Kind) Swappable() error { return k.swap }

// Signature tells element types apart: ranks that use one window compare it.
func (k *Kind) Signature() uint32 {
	h := fnv.New32a()
	fmt.Fprintf(h, "%s.%v %d", k.Type.PkgPath(), k.Type, k.Size)
	return h.Sum32()
}

func width(size uintptr) Width {
	switch size {
	case 1, 2:
		return Narrow
	case 4:
		return Word
	case 8:
		return Double
	}
	return Ranged
}

func classOf(k reflect.Kind) class {
	switch {
	case k == reflect.Bool:
		return boolean
	case k >= reflect.Int && k <= reflect.Uintptr:
		return integer
	case k == reflect.Float32, k == reflect.Float64:
		return float
	case k == reflect.Complex64, k == reflect.Complex128:
		return complexNumber
	}
	return opaque
}

// pointer finds a part of t that holds a Go pointer: where it is, and its type.
func pointer(t reflect.Type) (path string, holds reflect.Type) {
	switch t.Kind() {
	case reflect.Array:
		if t.Len() == 0 {
			return "", nil
		}
		path, holds = pointer(t.Elem())
		return "[]" + path, holds
	case reflect.Struct:
		for f := range t.Fields() {
			if path, holds := pointer(f.Type); holds != nil {
				return "." + f.Name + path, holds
			}
		}
		return "", nil
	case reflect.Pointer, reflect.UnsafePointer, reflect.Slice, reflect.String, reflect.Map, reflect.Chan, reflect.Func, reflect.Interface:
		return "", t
	}
	return "", nil
}

func place(path string, holds reflect.Type) string {
	if path == "" {
		return "it"
	}
	return fmt.Sprintf("%s, of type %v,", path, holds)
}

// padding finds bytes of t that its values do not determine: gaps that alignment
// leaves, and blank fields.
func padding(t reflect.Type) (where string, found bool) {
	switch t.Kind() {
	case reflect.Array:
		return padding(t.Elem())
	case reflect.Struct:
		var end uintptr
		for f := range t.Fields() {
			if f.Offset != end || f.Name == "_" {
				return fmt.Sprintf("before or in field %s", f.Name), true
			}
			if where, found := padding(f.Type); found {
				return where, true
			}
			end += f.Type.Size()
		}
		if end != t.Size() {
			return "at its end", true
		}
	}
	return "", false
}
