package desk

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"

	"github.com/golaunch/golaunch/launcher/boot"
)

// A Desk is where the ranks of a host leave their segments and ask for those of
// others. Its methods may be called from any goroutine.
type Desk struct {
	local func(rank int) bool

	mu       sync.Mutex
	segments segments
}

// New makes a desk for the ranks that local speaks of. local is called from any
// goroutine, with no lock held.
func New(local func(rank int) bool) *Desk {
	return &Desk{local: local, segments: newSegments()}
}

// A Rank is what the keeper does for one rank that has joined.
type Rank interface {
	// Announce takes the address of a rank: this one's, or (under a process manager,
	// where nobody else brings it) one of another host. of is what the packet says.
	Announce(of int, address []byte) error
	// Pager makes a line to the pager of a host. The caller closes its end.
	Pager(host uint64) (*os.File, error)
	// Report takes the rank's figures.
	Report(figures []byte)
	// Leave notes that the rank leaves; it calls End.
	Leave()
	// Abort asks for the end of the job.
	Abort(code int, text string)
}

// Serve answers what a rank asks for over its private socket, until that is closed
// there. The caller keeps owning the socket.
func (d *Desk) Serve(private *os.File, number int, r Rank) {
	for {
		p, file, err := boot.Receive(private)
		if err != nil {
			return
		}
		d.answer(private, number, r, p, file)
	}
}

func (d *Desk) answer(private *os.File, number int, r Rank, p boot.Packet, file *os.File) {
	reply := func(f *os.File, err error) {
		answer := boot.Packet{Kind: boot.Done, ID: p.ID}
		if err != nil {
			answer.Kind, answer.Text = boot.Failed, err.Error()
		}
		if err := boot.Send(private, answer, f); err != nil && f != nil { // withdrawn meanwhile
			boot.Send(private, boot.Packet{Kind: boot.Failed, ID: p.ID, Text: err.Error()}, nil)
		}
	}
	if p.Kind == boot.Publish && file != nil {
		reply(nil, d.publish(number, p, file))
		return
	}
	if file != nil {
		file.Close()
	}
	switch p.Kind {
	case boot.Withdraw:
		reply(nil, d.withdraw(number, p.Key))
	case boot.Open:
		d.open(p, reply)
	case boot.Address:
		reply(nil, r.Announce(int(p.Rank), []byte(p.Text)))
	case boot.Pager:
		end, err := r.Pager(p.Key)
		reply(end, err)
		if end != nil {
			end.Close()
		}
	case boot.Report:
		r.Report([]byte(p.Text))
		reply(nil, nil)
	case boot.Leave:
		r.Leave()
		reply(nil, nil)
	case boot.Abort:
		r.Abort(int(p.Code), p.Text)
		reply(nil, nil)
	default:
		reply(nil, fmt.Errorf("the supervisor does not understand a packet of kind %d", p.Kind))
	}
}

// publish takes file over.
func (d *Desk) publish(rank int, p boot.Packet, file *os.File) error {
	info, err := file.Stat()
	if err == nil && info.Size() != p.Bytes {
		err = fmt.Errorf("the descriptor is of a file of %d bytes", info.Size())
	}
	if err == nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		err = d.segments.publish(segment{rank, p.Key}, file)
	}
	if err != nil {
		return errors.Join(err, file.Close())
	}
	return nil
}

func (d *Desk) withdraw(rank int, key uint64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.segments.withdraw(segment{rank, key})
}

// open replies now or, when the segment is published or cannot be any more, later.
func (d *Desk) open(p boot.Packet, reply func(*os.File, error)) {
	if !d.local(int(p.Rank)) {
		reply(nil, fmt.Errorf("rank %d is not on this host", p.Rank))
		return
	}
	d.mu.Lock()
	file, later, err := d.segments.open(segment{int(p.Rank), p.Key}, reply)
	d.mu.Unlock()
	if !later {
		reply(file, err)
	}
}

// End says that a rank publishes nothing more, and why, as in "has left the job".
// What it has published stays open to others only if it left in good order. The
// first word counts.
func (d *Desk) End(rank int, why string, keep bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.segments.end(rank, why, keep)
}

// Creator is the process that made a socket pair or has connected to a socket, and
// its user, as the kernel knows them; 0 and -1 when it does not.
func Creator(socket *os.File) (pid, uid int) {
	raw, err := socket.SyscallConn()
	if err != nil {
		return 0, -1
	}
	uid = -1
	raw.Control(func(fd uintptr) {
		if cred, err := syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED); err == nil {
			pid, uid = int(cred.Pid), int(cred.Uid)
		}
	})
	return pid, uid
}
