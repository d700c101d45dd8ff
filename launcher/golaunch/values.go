package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/golaunch/golaunch/launcher"
)

// A choice is a flag whose value is one of a few words.
type choice struct {
	set   func(string)
	among []string
	value string
}

func (c *choice) String() string { return c.value }
func (c *choice) Type() string   { return strings.Join(c.among, "|") }

func (c *choice) Set(v string) error {
	for _, word := range c.among {
		if v == word {
			c.value = v
			c.set(v)
			return nil
		}
	}
	return fmt.Errorf("it is one of %s", strings.Join(c.among, ", "))
}

// stdinValue is a rank, "all" or "none".
type stdinValue struct{ to *int }

func (v *stdinValue) Type() string { return "WHO" }

func (v *stdinValue) String() string {
	switch *v.to {
	case launcher.StdinAll:
		return "all"
	case launcher.StdinNone:
		return "none"
	}
	return strconv.Itoa(*v.to)
}

func (v *stdinValue) Set(text string) error {
	switch text {
	case "all":
		*v.to = launcher.StdinAll
		return nil
	case "none":
		*v.to = launcher.StdinNone
		return nil
	}
	rank, err := strconv.Atoi(text)
	if err != nil || rank < 0 {
		return errors.New("it is none, all or a rank's number")
	}
	*v.to = rank
	return nil
}

// labelsValue is NAME=VALUE, any number of times.
type labelsValue struct{ to *map[string]string }

func (v *labelsValue) Type() string   { return "NAME=VALUE" }
func (v *labelsValue) String() string { return "" }

func (v *labelsValue) Set(text string) error {
	name, value, given := strings.Cut(text, "=")
	if !given {
		return errors.New("it is NAME=VALUE")
	}
	if err := launcher.CheckLabel(name, value); err != nil {
		return err
	}
	if *v.to == nil {
		*v.to = map[string]string{}
	}
	(*v.to)[name] = value
	return nil
}

// timeoutValue is a duration; a bare number is seconds.
type timeoutValue struct{ to *time.Duration }

func (v *timeoutValue) Type() string { return "TIME" }

func (v *timeoutValue) String() string {
	if *v.to == 0 {
		return ""
	}
	return v.to.String()
}

func (v *timeoutValue) Set(text string) error {
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		text = fmt.Sprint(seconds) + "s"
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return errors.New("it is a positive time such as 90, 90s or 1h30m")
	}
	*v.to = d
	return nil
}
