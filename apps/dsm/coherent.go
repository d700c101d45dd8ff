package main

import (
	"errors"

	"github.com/golaunch/golaunch/window"
)

func allocate[T number](j *job, name string, each int) (*window.Window[T], error) {
	return window.Allocate[T](j.ctx, j.comm, each, window.Name(name))
}

func mapped[T number](win *window.Window[T], ranks int) (whole []T, stride int, err error) {
	if ranks > 1 {
		return nil, 0, errors.New("mode loads: takes a coherent window")
	}
	return win.Local(), len(win.Local()), nil
}

func (a *array[T]) figures() traffic { return a.moved }
