package helper

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/golaunch/golaunch/launcher/boot"
	"github.com/golaunch/golaunch/launcher/internal/desk"
	"github.com/golaunch/golaunch/runtime/job"
)

const (
	// helloWait bounds how long who has connected may take to say hello.
	helloWait = 10 * time.Second
	// lateWait is how long ranks that have not joined are waited for when the one
	// that has started the helper left in good order, and nobody else is there.
	lateWait = 30 * time.Second
)

type helper struct {
	job      Job
	listener *os.File
	memory   *job.Memory
	desk     *desk.Desk
	pager    boot.PagerProcess
	done     chan struct{} // closed when nobody will need the helper any more

	mu        sync.Mutex
	ranks     map[int]*rank // that have joined
	connected int           // of these
	alone     bool          // the process that has started the helper has ended
	over      bool          // done is closed
}

// A rank has joined. It is guarded by helper.mu.
type rank struct {
	number    int
	pid       int
	addressed bool
	left      bool
}

func newHelper(j Job) (*helper, error) {
	h := &helper{job: j, desk: desk.New(j.local), ranks: map[int]*rank{}, done: make(chan struct{})}
	var err error
	if h.memory, err = j.memory(); err != nil {
		return nil, err
	}
	if h.listener, err = listen(address(j.Details.Secret, j.Host)); err != nil {
		return nil, errors.Join(err, h.memory.Close())
	}
	return h, nil
}

// serve answers ranks until nobody will need that any more. life ends with the
// process that has started the helper.
func (h *helper) serve(life io.Reader) error {
	go func() {
		io.Copy(io.Discard, life)
		h.change(func() { h.alone = true })
	}()
	accepting := make(chan error, 1)
	go func() { accepting <- h.accept() }()
	var err error
	select {
	case err = <-accepting:
		err = errors.Join(fmt.Errorf("accepting ranks: %w", err), h.listener.Close())
		<-h.done // those that are connected go on
	case <-h.done:
		err = h.listener.Close()
		<-accepting // ended by that
	}
	return errors.Join(err, h.pager.Close(), h.memory.Close())
}

// change changes who is there, and looks whether that is the end.
func (h *helper) change(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
	switch first := h.ranks[h.job.first()]; {
	case h.over || h.connected > 0:
	case len(h.ranks) == h.job.locals():
		h.end()
	case h.alone && first != nil && first.left:
		time.AfterFunc(lateWait, func() {
			h.change(func() {
				if h.connected == 0 && !h.over {
					h.end()
				}
			})
		})
	case h.alone: // it has failed, and so has the job
		h.end()
	}
}

func (h *helper) end() {
	h.over = true
	close(h.done)
}

func (h *helper) accept() error {
	for {
		socket, err := accept(h.listener)
		if err != nil {
			return err
		}
		go h.attend(socket)
	}
}

// attend is a connection's life. Who is of another user, or says nothing, is not
// answered.
func (h *helper) attend(socket *os.File) {
	defer socket.Close()
	if ours(socket) != nil {
		return
	}
	socket.SetReadDeadline(time.Now().Add(helloWait))
	hello, file, err := boot.Receive(socket)
	if file != nil {
		file.Close()
	}
	if err != nil || hello.Kind != boot.Hello {
		return
	}
	socket.SetReadDeadline(time.Time{})
	pid, _ := desk.Creator(socket)
	r, reason := h.admit(hello, pid)
	if r == nil {
		boot.Send(socket, boot.Packet{Kind: boot.Refused, Text: reason}, nil)
		return
	}
	defer h.hungUp(r)
	welcome := boot.Packet{Rank: int32(r.number), Size: int32(len(h.job.Hosts)), Text: h.job.Names[h.job.Host]}
	if boot.SendWelcome(socket, welcome, h.job.Details, h.memory.File()) == nil {
		h.desk.Serve(socket, r.number, caller{h, r})
	}
}

// admit decides whether a process may join as the rank that it claims to be; reason
// says why not.
func (h *helper) admit(hello boot.Packet, pid int) (r *rank, reason string) {
	n := int(hello.Rank)
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case hello.Protocol != boot.Protocol || hello.Text != boot.Version:
		return nil, fmt.Sprintf("process %d was built with version %s of golaunch (protocol %d) and the first rank of its host with version %s (protocol %d): build all from the same version",
			pid, hello.Text, hello.Protocol, boot.Version, boot.Protocol)
	case !h.job.local(n):
		return nil, fmt.Sprintf("process %d claims to be rank %d, which is not on this host", pid, n)
	case hello.Key != proof(h.job.Details.Secret, n):
		return nil, fmt.Sprintf("process %d claims to be rank %d, and does not know the job's secret", pid, n)
	case h.over:
		return nil, fmt.Sprintf("the first rank of the host has ended, and process %d came too late", pid)
	case h.ranks[n] != nil:
		return nil, fmt.Sprintf("process %d has joined as rank %d already, and process %d cannot too", h.ranks[n].pid, n, pid)
	}
	r = &rank{number: n, pid: pid}
	h.ranks[n] = r
	h.connected++
	h.memory.Report(n, job.Joined, 0)
	return r, ""
}

// hungUp follows the end of a rank's connection: its process has ended, or will.
func (h *helper) hungUp(r *rank) {
	h.change(func() {
		h.connected--
		if !r.left {
			h.memory.Report(r.number, job.Exited, 0)
			h.desk.End(r.number, "has ended without leaving the job", false)
		}
	})
}

// A caller is a rank at the desk.
type caller struct {
	h *helper
	r *rank
}

// Announce takes the rank's own address, or that of a rank elsewhere, which the
// process manager has kept.
func (c caller) Announce(of int, address []byte) error {
	h := c.h
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case of < 0 || of >= len(h.job.Hosts):
		return fmt.Errorf("there is no rank %d", of)
	case of != c.r.number && h.job.local(of):
		return fmt.Errorf("rank %d announces itself", of)
	case of == c.r.number && c.r.addressed, of != c.r.number && h.memory.HasAddress(of):
		return fmt.Errorf("rank %d has an address", of)
	}
	c.r.addressed = c.r.addressed || of == c.r.number
	h.memory.Report(of, job.Joined, 0)
	return h.memory.SetAddress(of, address)
}

func (c caller) Leave() {
	c.h.mu.Lock()
	defer c.h.mu.Unlock()
	c.r.left = true
	c.h.memory.Report(c.r.number, job.Left, 0)
	c.h.desk.End(c.r.number, "has left the job", true)
}

func (c caller) Pager(uint64) (*os.File, error) { return c.h.pager.Admit(c.r.number) }

// Report has nobody to report to: there is no golaunch --stats.
func (c caller) Report([]byte) {}

// Abort is the process manager's, whom the rank asks itself.
func (c caller) Abort(int, string) {}
