package desk

import (
	"errors"
	"fmt"
	"os"
)

// A segment names a memory segment of a rank.
type segment struct {
	rank int
	key  uint64
}

// segments are the descriptors of the ranks' memory segments, and who waits for
// one. They are guarded by Desk.mu; replies are sent without it, by goroutines,
// because a stopped rank may not take its reply.
type segments struct {
	files     map[segment]*os.File
	withdrawn map[segment]bool
	waiting   map[segment][]func(*os.File, error)
	over      map[int]string // ranks that publish nothing more, and why
}

func newSegments() segments {
	return segments{
		files: map[segment]*os.File{}, withdrawn: map[segment]bool{},
		waiting: map[segment][]func(*os.File, error){}, over: map[int]string{},
	}
}

// publish takes file over, unless there is an error.
func (t *segments) publish(id segment, file *os.File) error {
	switch {
	case t.over[id.rank] != "":
		return fmt.Errorf("rank %d %s", id.rank, t.over[id.rank])
	case t.files[id] != nil || t.withdrawn[id]:
		return errors.New("the key is in use, or was")
	}
	t.files[id] = file
	for _, reply := range t.waiting[id] {
		go reply(file, nil)
	}
	delete(t.waiting, id)
	return nil
}

func (t *segments) withdraw(id segment) error {
	if t.files[id] == nil {
		return errors.New("it is not published")
	}
	t.files[id].Close()
	delete(t.files, id)
	t.withdrawn[id] = true
	return nil
}

// open returns a segment that was published, or says that reply will be called
// later, exactly once.
func (t *segments) open(id segment, reply func(*os.File, error)) (file *os.File, later bool, err error) {
	switch {
	case t.files[id] != nil:
		return t.files[id], false, nil
	case t.withdrawn[id]:
		return nil, false, fmt.Errorf("rank %d has withdrawn it", id.rank)
	case t.over[id.rank] != "":
		return nil, false, t.lost(id)
	}
	t.waiting[id] = append(t.waiting[id], reply)
	return nil, true, nil
}

func (t *segments) lost(id segment) error {
	return fmt.Errorf("rank %d %s, and had not published it", id.rank, t.over[id.rank])
}

// end says that a rank publishes nothing more. What it has published stays open to
// others only if it left in good order.
func (t *segments) end(rank int, why string, keep bool) {
	if t.over[rank] == "" {
		t.over[rank] = why
	}
	for id, file := range t.files {
		if id.rank == rank && !keep {
			file.Close()
			delete(t.files, id)
		}
	}
	for id, replies := range t.waiting {
		if id.rank != rank {
			continue
		}
		for _, reply := range replies {
			go reply(nil, t.lost(id))
		}
		delete(t.waiting, id)
	}
}
