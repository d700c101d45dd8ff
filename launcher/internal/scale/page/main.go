// Command page writes docs/scale.md and docs/scale.svg: what package scale predicts,
// beside what was measured.
//
// Usage: page [DIRECTORY]
//
// DIRECTORY is where docs are; default docs.
package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	dir := "docs"
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	files, err := write()
	for name, text := range files {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "page:", err)
		os.Exit(1)
	}
}

//go:embed measured.json
var measured []byte

// Measured is what was measured where the model says something, too.
type Measured struct {
	Replay    []Tree
	Processes []Job
	Gossip    []Gossip
}

// A Tree is the launch tree in one process, with what a launch says on it.
type Tree struct {
	Hosts int
	CPU   float64 // ms
}

// A Job is real processes on one machine with two cores.
type Job struct {
	Hosts, Ranks int
	Meets        bool
	CPU, Wall    float64 // ms
	Note         string
}

// Gossip is members in one process.
type Gossip struct {
	Profile                          string
	Members                          int
	JoinHalf, JoinAll, DieHalf, Dies float64 // s
	Boot                             float64 // s
	Bytes                            float64 // sent by each in a second
	CPU                              float64 // us of each in a second
	CPUGave                          string  // the cost that was taken from that
}

// write returns the files.
func write() (map[string]string, error) {
	var m Measured
	if err := json.Unmarshal(measured, &m); err != nil {
		return nil, fmt.Errorf("measured.json: %w", err)
	}
	p, err := predict()
	if err != nil {
		return nil, err
	}
	return map[string]string{"scale.md": p.page(m), "scale.svg": p.chart()}, nil
}
