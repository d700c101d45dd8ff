package coherence

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A reader of the part of TLA+ that docs/coherence.tla uses (Lamport, Specifying
// Systems, chapter 15), with lists of conjuncts and disjuncts by their columns.

type token struct {
	text      string
	line, col int
}

var (
	tlaComment = regexp.MustCompile(`(?s)\(\*.*?\*\)|\\\*[^\n]*|(?m:^[-=]{4}[^\n]*$)`)
	tlaToken   = regexp.MustCompile(`^(?:[A-Za-z_][A-Za-z0-9_]*|[0-9]+|"[^"]*"|<=>|\|->|\\[A-Za-z]+|/\\|\\/|==|=>|->|~>|<<|>>|\.\.|\[\]|<=|>=|\]_|[-#=<>~'()\[\]{},.:!@+\\])`)
)

func tlaTokens(text string) []token {
	text = tlaComment.ReplaceAllStringFunc(text, func(c string) string {
		return regexp.MustCompile(`[^\n]`).ReplaceAllString(c, " ")
	})
	var all []token
	for i, line := range strings.Split(text, "\n") {
		for col := 0; col < len(line); {
			if line[col] == ' ' {
				col++
				continue
			}
			t := tlaToken.FindString(line[col:])
			if t == "" {
				panic(fmt.Sprintf("line %d, column %d: %q is not TLA+ that this test knows", i+1, col+1, line[col:]))
			}
			all = append(all, token{t, i + 1, col})
			col += len(t)
		}
	}
	return all
}

// An expr is a node of an expression: what it does, and to what.
type expr struct {
	op   string
	name string
	args []*expr
	lets []*definition
	line int
}

type definition struct {
	name   string
	params []string
	tokens []token
	body   *expr
}

// tlaModule cuts a module into its definitions: whatever starts in the first column.
// Their bodies are read when they are needed, so the temporal formulas never are.
func tlaModule(text string) (variables []string, definitions map[string]*definition) {
	definitions = map[string]*definition{}
	tokens := tlaTokens(text)
	for len(tokens) > 0 {
		n := 1
		for n < len(tokens) && tokens[n].col > 0 {
			n++
		}
		part := tokens[:n]
		tokens = tokens[n:]
		switch part[0].text {
		case "EXTENDS", "CONSTANTS", "RECURSIVE":
		case "VARIABLES":
			for _, t := range part[1:] {
				if t.text != "," {
					variables = append(variables, t.text)
				}
			}
		default:
			p := &parser{tokens: part, limit: -1}
			d := p.head()
			d.tokens = p.tokens
			definitions[d.name] = d
		}
	}
	return variables, definitions
}

func (d *definition) read() *expr {
	if d.body == nil {
		p := &parser{tokens: d.tokens, limit: -1}
		d.body = p.expression(0)
		if len(p.tokens) > 0 {
			p.fail("the end of " + d.name)
		}
	}
	return d.body
}

type parser struct {
	tokens []token
	limit  int // tokens up to this column end the item of a list
}

func (p *parser) peek() string {
	if len(p.tokens) == 0 || p.tokens[0].col <= p.limit {
		return ""
	}
	return p.tokens[0].text
}

func (p *parser) next() string {
	t := p.peek()
	if t == "" {
		p.fail("more")
	}
	p.tokens = p.tokens[1:]
	return t
}

func (p *parser) fail(want string) {
	where := token{text: "the end"}
	if len(p.tokens) > 0 {
		where = p.tokens[0]
	}
	panic(fmt.Sprintf("line %d, column %d: %q, where %s was expected", where.line, where.col+1, where.text, want))
}

func (p *parser) expect(t string) {
	if p.peek() != t {
		p.fail(strconv.Quote(t))
	}
	p.next()
}

func (p *parser) take(t string) bool {
	if p.peek() == t {
		p.next()
		return true
	}
	return false
}

func (p *parser) node(op string, args ...*expr) *expr {
	line := 0
	if len(p.tokens) > 0 {
		line = p.tokens[0].line
	}
	return &expr{op: op, args: args, line: line}
}

// head reads a definition up to its body.
func (p *parser) head() *definition {
	d := &definition{name: p.next()}
	if p.take("(") {
		for !p.take(")") {
			d.params = append(d.params, p.next())
			p.take(",")
		}
	}
	p.expect("==")
	return d
}

var binding = map[string]int{"=>": 1, "<=>": 1, `\/`: 2, `/\`: 3, "=": 5, "#": 5, `\in`: 5, `\notin`: 5, "<": 5, ">": 5, "<=": 5, ">=": 5,
	`\cup`: 8, `\cap`: 8, `\`: 8, "..": 9, "+": 10, "-": 11, `\o`: 13}

func (p *parser) expression(least int) *expr {
	left := p.prefixed()
	for {
		op := p.peek()
		strength := binding[op]
		if strength == 0 || strength < least {
			return left
		}
		p.next()
		left = p.node(op, left, p.expression(strength+1))
	}
}

func (p *parser) prefixed() *expr {
	switch t := p.peek(); t {
	case `/\`, `\/`:
		return p.list(t)
	case "~":
		p.next()
		return p.node("~", p.expression(4))
	case "UNCHANGED":
		p.next()
		return p.node(t, p.expression(14))
	case `\A`, `\E`, "CHOOSE":
		p.next()
		e := p.node(t)
		e.name = p.next()
		p.expect(`\in`)
		set := p.expression(5)
		p.expect(":")
		e.args = []*expr{set, p.expression(0)}
		return e
	case "IF":
		return p.conditional()
	case "CASE":
		return p.cases()
	case "LET":
		return p.let()
	}
	return p.postfixed()
}

// list is /\ a /\ b with the same column.
func (p *parser) list(op string) *expr {
	e, col, outer := p.node(op), p.tokens[0].col, p.limit
	for len(p.tokens) > 0 && p.tokens[0].col == col && p.tokens[0].text == op {
		p.tokens = p.tokens[1:]
		p.limit = col
		e.args = append(e.args, p.expression(0))
		p.limit = outer
	}
	return e
}

func (p *parser) conditional() *expr {
	p.next()
	e := p.node("IF", p.expression(0))
	p.expect("THEN")
	e.args = append(e.args, p.expression(0))
	p.expect("ELSE")
	e.args = append(e.args, p.expression(0))
	return e
}

func (p *parser) cases() *expr {
	e := p.node("CASE")
	for sep := "CASE"; p.take(sep); sep = "[]" {
		when := p.expression(0)
		p.expect("->")
		e.args = append(e.args, when, p.expression(0))
	}
	return e
}

func (p *parser) let() *expr {
	p.next()
	e := p.node("LET")
	for !p.take("IN") {
		d := p.head()
		d.body = p.expression(0)
		e.lets = append(e.lets, d)
	}
	e.args = []*expr{p.expression(0)}
	return e
}

func (p *parser) postfixed() *expr {
	e := p.primary()
	for {
		switch {
		case p.take("'"):
			e = p.node("'", e)
		case p.take("."):
			field := p.node("value")
			field.name = strconv.Quote(p.next())
			e = p.node("[", e, field)
		case p.peek() == "[":
			p.next()
			e = p.node("[", e, p.expression(0))
			p.expect("]")
		default:
			return e
		}
	}
}

func (p *parser) primary() *expr {
	t := p.next()
	e := p.node("value")
	e.name = t
	switch {
	case t == "(":
		e = p.expression(0)
		p.expect(")")
	case t == "<<":
		e = p.several("<<", ">>")
	case t == "{":
		e = p.set()
	case t == "[":
		e = p.bracket()
	case t == "@" || t[0] >= 'A' && t[0] <= 'z' && t[0] != '\\':
		e.op = "name"
		if p.take("(") {
			e.args = p.several("", ")").args
		}
	}
	return e
}

func (p *parser) several(op, end string) *expr {
	e := p.node(op)
	for !p.take(end) {
		e.args = append(e.args, p.expression(0))
		p.take(",")
	}
	return e
}

// bound reads "x \in S" if that comes, for {x \in S : P} and [x \in S |-> e].
func (p *parser) bound(op, then, end string) *expr {
	if len(p.tokens) < 2 || p.tokens[1].text != `\in` {
		return nil
	}
	e := p.node(op)
	e.name = p.next()
	p.next()
	set := p.expression(5)
	p.expect(then)
	e.args = []*expr{set, p.expression(0)}
	p.expect(end)
	return e
}

func (p *parser) set() *expr {
	if e := p.bound("filter", ":", "}"); e != nil {
		return e
	}
	return p.several("{", "}")
}

func (p *parser) bracket() *expr {
	if e := p.bound("function", "|->", "]"); e != nil {
		return e
	}
	if len(p.tokens) > 1 && p.tokens[1].text == "|->" {
		return p.record()
	}
	e := p.node("EXCEPT", p.expression(0))
	p.expect("EXCEPT")
	for !p.take("]") {
		p.expect("!")
		path := p.node("path")
		for p.peek() != "=" {
			if p.take(".") {
				field := p.node("value")
				field.name = strconv.Quote(p.next())
				path.args = append(path.args, field)
				continue
			}
			p.expect("[")
			path.args = append(path.args, p.expression(0))
			p.expect("]")
		}
		p.expect("=")
		e.args = append(e.args, path, p.expression(0))
		p.take(",")
	}
	return e
}

func (p *parser) record() *expr {
	e := p.node("record")
	for !p.take("]") {
		field := p.node("value")
		field.name = strconv.Quote(p.next())
		p.expect("|->")
		e.args = append(e.args, field, p.expression(0))
		p.take(",")
	}
	return e
}
