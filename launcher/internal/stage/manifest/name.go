package manifest

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What names may be, in bytes and in components.
const (
	MaxName      = 1024
	MaxComponent = 255 // what file systems take
	MaxDepth     = 16
)

// CheckName says what is wrong with the name of a file below a job's directory:
// components between slashes, of which none leads anywhere but down.
func CheckName(name string) error {
	if why := wrongName(name); why != "" {
		return fmt.Errorf("file name %.100q %s", name, why)
	}
	return nil
}

func wrongName(name string) string {
	switch {
	case name == "":
		return "is empty"
	case len(name) > MaxName:
		return fmt.Sprintf("is longer than %d bytes", MaxName)
	case !utf8.ValidString(name):
		return "is not UTF-8"
	case strings.HasPrefix(name, "/"):
		return "is absolute"
	case strings.Contains(name, `\`):
		return "has a backslash"
	case strings.ContainsFunc(name, hidden):
		return "has a character that cannot be seen"
	}
	parts := strings.Split(name, "/")
	if len(parts) > MaxDepth {
		return fmt.Sprintf("is deeper than %d directories", MaxDepth)
	}
	for _, part := range parts {
		if why := wrongComponent(part); why != "" {
			return why
		}
	}
	return ""
}

// hidden characters are control characters, NUL among them, and those that turn
// the direction of text around or show nothing.
func hidden(r rune) bool { return r != ' ' && !unicode.IsGraphic(r) || unicode.Is(unicode.Cf, r) }

func wrongComponent(part string) string {
	switch {
	case part == "":
		return "has an empty component"
	case part == "." || part == "..":
		return fmt.Sprintf("has the component %q", part)
	case len(part) > MaxComponent:
		return fmt.Sprintf("has a component longer than %d bytes", MaxComponent)
	}
	return ""
}

// fold is the same for names that some file system takes for one.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		return least
	}, name)
}

// checkApart says whether two names are one, or one is a directory of another.
func checkApart(names []string) error {
	taken := make(map[string]string, len(names))
	for _, name := range names {
		if other, ok := taken[fold(name)]; ok {
			return fmt.Errorf("the files %q and %q have one name", other, name)
		}
		taken[fold(name)] = name
	}
	for _, name := range names {
		for i, c := range fold(name) {
			if other, ok := taken[fold(name)[:i]]; ok && c == '/' {
				return fmt.Errorf("the file %q would lie in %q, which is a file", name, other)
			}
		}
	}
	return nil
}

// SplitFlag reads SRC[:NAME]. Without a name the file is called as it is where it
// comes from. The last colon counts: to send a file with a colon, give it a name.
func SplitFlag(value string) (source, name string, err error) {
	source, name = value, value[strings.LastIndexByte(value, '/')+1:]
	if i := strings.LastIndexByte(value, ':'); i >= 0 {
		source, name = value[:i], value[i+1:]
	}
	if source == "" {
		return "", "", errors.New("names no file: want SRC or SRC:NAME")
	}
	return source, name, CheckName(name)
}
