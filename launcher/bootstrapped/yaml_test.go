package bootstrapped

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// parseYAML reads what the manifests have of YAML: maps, lists, plain and quoted
// scalars, lists in brackets, literal blocks, comments, and several documents. All
// scalars are strings.
func parseYAML(text string) (documents []any, err error) {
	for part := range strings.SplitSeq("\n"+text, "\n---\n") {
		p := &yaml{lines: strings.Split(part, "\n")}
		v, err := p.value(0)
		if err == nil && p.skip() {
			err = fmt.Errorf("%q does not belong there", p.lines[p.at])
		}
		if err != nil {
			return nil, err
		}
		documents = append(documents, v)
	}
	return documents, nil
}

type yaml struct {
	lines []string
	at    int
}

// skip skips what is empty, and reports whether there is more.
func (p *yaml) skip() bool {
	for ; p.at < len(p.lines); p.at++ {
		if line := strings.TrimSpace(p.lines[p.at]); line != "" && line[0] != '#' {
			return true
		}
	}
	return false
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// value reads what stands at least so far to the right: a list or a map.
func (p *yaml) value(least int) (any, error) {
	if !p.skip() || indent(p.lines[p.at]) < least {
		return nil, nil
	}
	depth := indent(p.lines[p.at])
	if strings.HasPrefix(p.lines[p.at][depth:], "- ") {
		return p.list(depth)
	}
	return p.dict(depth)
}

func (p *yaml) list(depth int) (list []any, err error) {
	for p.skip() && indent(p.lines[p.at]) == depth && strings.HasPrefix(p.lines[p.at][depth:], "- ") {
		rest := p.lines[p.at][depth+2:]
		var v any
		if _, _, isMap := strings.Cut(rest, ": "); isMap || strings.HasSuffix(rest, ":") {
			p.lines[p.at] = strings.Repeat(" ", depth+2) + rest
			v, err = p.dict(depth + 2)
		} else {
			p.at++
			v, err = p.scalar(rest, depth)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

func (p *yaml) dict(depth int) (any, error) {
	dict := map[string]any{}
	for p.skip() && indent(p.lines[p.at]) == depth {
		key, rest, found := strings.Cut(p.lines[p.at][depth:], ":")
		if !found || dict[key] != nil {
			return nil, fmt.Errorf("%q is no key of its own", p.lines[p.at])
		}
		p.at++
		v, err := p.scalar(rest, depth)
		if v == "" {
			v, err = p.value(depth + 1)
		}
		if err != nil {
			return nil, err
		}
		dict[key] = v
	}
	return dict, nil
}

// scalar is what stands behind a key or a dash.
func (p *yaml) scalar(text string, depth int) (any, error) {
	if before, _, found := strings.Cut(text, " #"); found && !strings.HasPrefix(strings.TrimSpace(text), `"`) {
		text = before
	}
	switch text = strings.TrimSpace(text); {
	case text == "|":
		return p.block(depth), nil
	case strings.HasPrefix(text, "["), strings.HasPrefix(text, `"`):
		var v any
		err := json.Unmarshal([]byte(text), &v)
		return v, err
	}
	return text, nil
}

// block is the lines that stand further to the right.
func (p *yaml) block(depth int) string {
	var b strings.Builder
	for within := 0; p.at < len(p.lines); p.at++ {
		line := p.lines[p.at]
		if strings.TrimSpace(line) != "" && indent(line) <= depth {
			break
		}
		if within == 0 {
			within = indent(line)
		}
		b.WriteString(line[min(within, len(line)):] + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func TestParseYAML(t *testing.T) {
	got, err := parseYAML("# comment\na: 1  # one\nb:\n  - name: x\n    value: \"3 # 4\"\n  - |\n    if x\n      y\n\n    z\n  - plain\nc: [\"d\", \"e\"]\n---\nf:\n  g: h:1\n")
	want := []any{
		map[string]any{"a": "1", "b": []any{map[string]any{"name": "x", "value": "3 # 4"}, "if x\n  y\n\nz\n", "plain"}, "c": []any{"d", "e"}},
		map[string]any{"f": map[string]any{"g": "h:1"}},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for _, bad := range []string{"a: 1\na: 2", "a: 1\n   b: 2", "just words"} {
		if v, err := parseYAML(bad); err == nil {
			t.Errorf("%q: %v", bad, v)
		}
	}
}
