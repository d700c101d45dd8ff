package coherence

import (
	"slices"
	"strconv"
	"strings"
)

// A value is a bool, an int, a string, a set or a function. Records are functions of
// strings, sequences functions of 1..n.
type value any

type tlaSet struct {
	elements []value // in the order of their keys
	key      string
}

type tlaFunction struct {
	domain, values []value // in the order of the domain's keys
	key            string
}

// keyOf is the same for equal values, and only for them.
func keyOf(v value) string {
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case string:
		return strconv.Quote(v)
	case *tlaSet:
		return v.key
	case *tlaFunction:
		return v.key
	}
	panic("no value")
}

func setFrom(elements []value) *tlaSet {
	slices.SortFunc(elements, func(a, b value) int { return strings.Compare(keyOf(a), keyOf(b)) })
	elements = slices.CompactFunc(elements, func(a, b value) bool { return keyOf(a) == keyOf(b) })
	keys := make([]string, len(elements))
	for i, e := range elements {
		keys[i] = keyOf(e)
	}
	return &tlaSet{elements, "{" + strings.Join(keys, ", ") + "}"}
}

func (s *tlaSet) has(v value) bool {
	k := keyOf(v)
	return slices.ContainsFunc(s.elements, func(e value) bool { return keyOf(e) == k })
}

// functionFrom takes arguments and values in any order.
func functionFrom(domain, values []value) *tlaFunction {
	order := make([]int, len(domain))
	keys := make([]string, len(domain))
	for i := range domain {
		order[i], keys[i] = i, keyOf(domain[i])
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(keys[a], keys[b]) })
	f := &tlaFunction{}
	var text strings.Builder
	for _, i := range order {
		f.domain, f.values = append(f.domain, domain[i]), append(f.values, values[i])
		text.WriteString(keys[i] + ": " + keyOf(values[i]) + "; ")
	}
	f.key = "[" + text.String() + "]"
	return f
}

func record(fields ...value) *tlaFunction {
	var domain, values []value
	for i := 0; i < len(fields); i += 2 {
		domain, values = append(domain, fields[i]), append(values, fields[i+1])
	}
	return functionFrom(domain, values)
}

func sequence(elements []value) *tlaFunction {
	domain := make([]value, len(elements))
	for i := range elements {
		domain[i] = i + 1
	}
	return functionFrom(domain, elements)
}

func (f *tlaFunction) apply(v value) value {
	k := keyOf(v)
	for i, d := range f.domain {
		if keyOf(d) == k {
			return f.values[i]
		}
	}
	panic(k + " is not in the domain of " + f.key)
}

// elements are a sequence's.
func (f *tlaFunction) elements() []value {
	all := make([]value, len(f.values))
	for i := range all {
		all[i] = f.apply(i + 1)
	}
	return all
}

// with is [f EXCEPT ![path] = change(the old value)].
func (f *tlaFunction) with(path []value, change func(value) value) *tlaFunction {
	k := keyOf(path[0])
	i := slices.IndexFunc(f.domain, func(d value) bool { return keyOf(d) == k })
	if i < 0 {
		panic(k + " is not in the domain of " + f.key)
	}
	values := slices.Clone(f.values)
	if len(path) > 1 {
		values[i] = values[i].(*tlaFunction).with(path[1:], change)
	} else {
		values[i] = change(values[i])
	}
	return functionFrom(slices.Clone(f.domain), values)
}
