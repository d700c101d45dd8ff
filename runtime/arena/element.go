package arena

import (
	"fmt"
	"reflect"
)

// isNumber: the kinds that certainly hold no pointer.
func isNumber(k reflect.Kind) bool { return k >= reflect.Bool && k <= reflect.Complex128 }

// pointerIn says where a value of type t holds a pointer, "" when nowhere:
// "the field Name is a string".
func pointerIn(t reflect.Type) string { return pointerAt(t, "") }

func pointerAt(t reflect.Type, path string) string {
	switch k := t.Kind(); {
	case isNumber(k):
		return ""
	case k == reflect.Array && t.Len() == 0:
		return ""
	case k == reflect.Array:
		return pointerAt(t.Elem(), path+"[0]")
	case k == reflect.Struct:
		return pointerInStruct(t, path)
	case path == "":
		return fmt.Sprintf("they are of kind %s", k)
	default:
		return fmt.Sprintf("%s is of kind %s", path, k)
	}
}

func pointerInStruct(t reflect.Type, path string) string {
	for i := range t.NumField() {
		f := t.Field(i)
		if found := pointerAt(f.Type, path+"."+f.Name); found != "" {
			return found
		}
	}
	return ""
}
