package main

import (
	"strings"
	"testing"
)

func TestMixChecksCanFail(t *testing.T) {
	alone(t, 100, 1, func(j *job) error {
		a, err := newArray[int64](j, "mix", mixWords)
		if err != nil {
			return err
		}
		m := &mixer{array: a, owner: func(int) int { return 0 }, known: [][]int64{make([]int64, mixWords)}}
		if err := m.access(); err != nil {
			return err
		}
		if err := m.check(); err != nil {
			return err
		}
		m.known[0][7] = 1 << 40
		if err := m.look(0, 7); err == nil || !strings.Contains(err.Error(), "and is") {
			t.Errorf("a word that became less: %v", err)
		}
		m.added++
		return noticed(m.check())
	})
}
