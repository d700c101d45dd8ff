package coherence

import (
	"fmt"
	"slices"
	"strconv"
)

// evaluator evaluates the expressions of a module. solve also finds the next states
// that an action allows, as TLC does: from left to right, where the first x' = e gives
// x its next value and all others are tests.
type evaluator struct {
	variables   []string
	definitions map[string]*definition
	constants   map[string]value
	now, next   map[string]value
}

// scope is the names that are bound where an expression stands.
type scope struct {
	name  string
	value value
	let   *definition // if not nil: evaluated when it is needed
	outer *scope
}

func (s *scope) find(name string) *scope {
	for ; s != nil && s.name != name; s = s.outer {
	}
	return s
}

func (v *evaluator) eval(e *expr, s *scope) value {
	switch e.op {
	case "value":
		return literal(e.name)
	case "name":
		return v.named(e, s)
	case "'":
		next, bound := v.next[e.args[0].name]
		if !bound {
			panic(fmt.Sprintf("line %d: %s' is not known yet", e.line, e.args[0].name))
		}
		return next
	case `/\`, `\/`, "=>", "<=>", "~", `\A`, `\E`:
		return v.logic(e, s)
	case "IF":
		if v.is(e.args[0], s) {
			return v.eval(e.args[1], s)
		}
		return v.eval(e.args[2], s)
	case "CASE":
		for i := 0; i < len(e.args); i += 2 {
			if v.is(e.args[i], s) {
				return v.eval(e.args[i+1], s)
			}
		}
		panic(fmt.Sprintf("line %d: no case applies", e.line))
	case "LET":
		return v.eval(e.args[0], s.with(e.lets))
	case "CHOOSE", "filter", "function", "record", "EXCEPT", "[", "<<", "{":
		return v.structure(e, s)
	}
	return v.operator(e, s)
}

func (v *evaluator) is(e *expr, s *scope) bool { return v.eval(e, s).(bool) }

func (s *scope) with(lets []*definition) *scope {
	for _, d := range lets {
		s = &scope{name: d.name, let: d, outer: s}
	}
	return s
}

func literal(text string) value {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	if text, err := strconv.Unquote(text); err == nil {
		return text
	}
	panic("what is " + text + "?")
}

// named is a bound name, a variable, a constant, or a defined operator with its arguments.
func (v *evaluator) named(e *expr, s *scope) value {
	if b := s.find(e.name); b != nil {
		if b.let != nil {
			return v.eval(b.let.body, b)
		}
		return b.value
	}
	if now, is := v.now[e.name]; is {
		return now
	}
	if c, is := v.constants[e.name]; is {
		return c
	}
	if d := v.definitions[e.name]; d != nil {
		return v.eval(d.read(), v.arguments(d, e, s))
	}
	return v.library(e, s)
}

func (v *evaluator) arguments(d *definition, e *expr, s *scope) (inner *scope) {
	for i, p := range d.params {
		inner = &scope{name: p, value: v.eval(e.args[i], s), outer: inner}
	}
	return inner
}

// library is what the standard modules define.
func (v *evaluator) library(e *expr, s *scope) value {
	arg := func(i int) *tlaFunction { return v.eval(e.args[i], s).(*tlaFunction) }
	switch e.name {
	case "TRUE", "FALSE":
		return e.name == "TRUE"
	case "BOOLEAN":
		return setFrom([]value{false, true})
	case "Len":
		return len(arg(0).values)
	case "Head":
		return arg(0).apply(1)
	case "Tail":
		return sequence(arg(0).elements()[1:])
	case "Append":
		return sequence(append(arg(0).elements(), v.eval(e.args[1], s)))
	case "SubSeq":
		from, to := v.eval(e.args[1], s).(int), v.eval(e.args[2], s).(int)
		return sequence(arg(0).elements()[from-1 : max(to, from-1)])
	case "Cardinality":
		return len(v.eval(e.args[0], s).(*tlaSet).elements)
	}
	panic(fmt.Sprintf("line %d: what is %s?", e.line, e.name))
}

func (v *evaluator) logic(e *expr, s *scope) bool {
	holds := func(a *expr) bool { return v.is(a, s) }
	switch e.op {
	case `/\`:
		return !slices.ContainsFunc(e.args, func(a *expr) bool { return !holds(a) })
	case `\/`:
		return slices.ContainsFunc(e.args, holds)
	case "=>":
		return !holds(e.args[0]) || holds(e.args[1])
	case "<=>":
		return holds(e.args[0]) == holds(e.args[1])
	case "~":
		return !holds(e.args[0])
	}
	for _, x := range v.eval(e.args[0], s).(*tlaSet).elements {
		if v.is(e.args[1], &scope{name: e.name, value: x, outer: s}) == (e.op == `\E`) {
			return e.op == `\E`
		}
	}
	return e.op == `\A`
}

func (v *evaluator) structure(e *expr, s *scope) value {
	switch e.op {
	case "[":
		return v.eval(e.args[0], s).(*tlaFunction).apply(v.eval(e.args[1], s))
	case "<<":
		return sequence(v.all(e.args, s))
	case "{":
		return setFrom(v.all(e.args, s))
	case "record":
		return record(v.all(e.args, s)...)
	case "EXCEPT":
		return v.except(e, s)
	}
	var chosen, values []value
	for _, x := range v.eval(e.args[0], s).(*tlaSet).elements {
		y := v.eval(e.args[1], &scope{name: e.name, value: x, outer: s})
		if e.op == "function" || y.(bool) {
			chosen, values = append(chosen, x), append(values, y)
		}
	}
	switch e.op {
	case "CHOOSE":
		return chosen[0]
	case "filter":
		return setFrom(chosen)
	}
	return functionFrom(chosen, values)
}

func (v *evaluator) all(args []*expr, s *scope) (values []value) {
	for _, a := range args {
		values = append(values, v.eval(a, s))
	}
	return values
}

func (v *evaluator) except(e *expr, s *scope) value {
	f := v.eval(e.args[0], s).(*tlaFunction)
	for i := 1; i < len(e.args); i += 2 {
		f = f.with(v.all(e.args[i].args, s), func(old value) value {
			return v.eval(e.args[i+1], &scope{name: "@", value: old, outer: s})
		})
	}
	return f
}

func (v *evaluator) operator(e *expr, s *scope) value {
	a, b := v.eval(e.args[0], s), v.eval(e.args[1], s)
	switch e.op {
	case "=":
		return keyOf(a) == keyOf(b)
	case "#":
		return keyOf(a) != keyOf(b)
	case `\in`:
		return b.(*tlaSet).has(a)
	case `\notin`:
		return !b.(*tlaSet).has(a)
	case `\cup`:
		return setFrom(append(slices.Clone(a.(*tlaSet).elements), b.(*tlaSet).elements...))
	case `\`:
		return setFrom(slices.DeleteFunc(slices.Clone(a.(*tlaSet).elements), b.(*tlaSet).has))
	case `\o`:
		return sequence(append(a.(*tlaFunction).elements(), b.(*tlaFunction).elements()...))
	case "+":
		return a.(int) + b.(int)
	case "-":
		return a.(int) - b.(int)
	case "..":
		var all []value
		for i := a.(int); i <= b.(int); i++ {
			all = append(all, i)
		}
		return setFrom(all)
	}
	panic(fmt.Sprintf("line %d: what is %s?", e.line, e.op))
}

// solve calls found for each way to make e true, with v.next as far as e says.
func (v *evaluator) solve(e *expr, s *scope, found func()) {
	switch e.op {
	case `/\`:
		v.solveAll(e.args, s, found)
	case `\/`:
		for _, a := range e.args {
			v.solve(a, s, found)
		}
	case `\E`:
		for _, x := range v.eval(e.args[0], s).(*tlaSet).elements {
			v.solve(e.args[1], &scope{name: e.name, value: x, outer: s}, found)
		}
	case "IF":
		if v.is(e.args[0], s) {
			v.solve(e.args[1], s, found)
		} else {
			v.solve(e.args[2], s, found)
		}
	case "LET":
		v.solve(e.args[0], s.with(e.lets), found)
	case "UNCHANGED":
		v.unchanged(e.args[0], found)
	default:
		v.solveOne(e, s, found)
	}
}

func (v *evaluator) solveAll(all []*expr, s *scope, found func()) {
	if len(all) == 0 {
		found()
		return
	}
	v.solve(all[0], s, func() { v.solveAll(all[1:], s, found) })
}

func (v *evaluator) solveOne(e *expr, s *scope, found func()) {
	if d := v.definitions[e.name]; e.op == "name" && d != nil && s.find(e.name) == nil {
		v.solve(d.read(), v.arguments(d, e, s), found)
		return
	}
	if e.op == "=" && e.args[0].op == "'" {
		if _, bound := v.next[e.args[0].args[0].name]; !bound {
			v.bind(e.args[0].args[0].name, v.eval(e.args[1], s), found)
			return
		}
	}
	if v.is(e, s) {
		found()
	}
}

// unchanged takes a variable or a tuple of them.
func (v *evaluator) unchanged(e *expr, found func()) {
	names := []*expr{e}
	if e.op == "<<" {
		names = e.args
	}
	if len(names) == 1 {
		v.bind(names[0].name, v.now[names[0].name], found)
		return
	}
	v.bind(names[0].name, v.now[names[0].name], func() { v.unchanged(&expr{op: "<<", args: names[1:]}, found) })
}

// bind gives a variable its next value; one that has one already must have this.
func (v *evaluator) bind(variable string, next value, found func()) {
	if old, bound := v.next[variable]; bound {
		if keyOf(old) == keyOf(next) {
			found()
		}
		return
	}
	v.next[variable] = next
	found()
	delete(v.next, variable)
}
