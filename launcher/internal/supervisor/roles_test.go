package supervisor

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/launcher/boot"
	"github.com/golaunch/golaunch/runtime/job"
)

// roles are what ranks of the tests do.
var roles = map[string]func() error{
	"member":  member,
	"silent":  func() error { _, err := boot.Connect(context.Background()); return err },
	"hang":    hang,
	"second":  second,
	"rejoin":  rejoin,
	"old":     func() error { boot.Version = "0.0.1"; _, err := boot.Connect(context.Background()); return err },
	"aborter": aborter,
	"segment": segments2,
	"leaver":  leaver,
	"details": detailsOf,
}

func connect() *boot.Session {
	s, err := boot.Connect(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return s
}

// member joins, tells what it sees, and leaves.
func member() error {
	s := connect()
	mem, err := job.Map(s.JobMemory())
	if err != nil {
		return err
	}
	state, _ := mem.State(s.Rank())
	fmt.Printf("rank %d of %d on %s, memory for %d, I am %v\n", s.Rank(), s.Size(), s.Host(), mem.Size(), state)
	if err := s.Leave(); err != nil {
		return err
	}
	state, _ = mem.State(s.Rank())
	fmt.Printf("now I have %v\n", state)
	return s.Close()
}

// detailsOf tells what it was told, announces an address, and waits until it knows
// the address of the rank elsewhere and that it has failed.
func detailsOf() error {
	s := connect()
	mem, err := job.Map(s.JobMemory())
	if err != nil {
		return err
	}
	mem.SetRank(s.Rank())
	mem.SetHostNames(s.HostNames())
	fmt.Printf("%s %s %q on %s of %q, %+v, hosts %d, sharers %d, ", s.Job(), s.Secret(), s.Host(), s.HostNames()[mem.Host()],
		s.HostNames(), s.Settings(), mem.Hosts(), mem.Sharers())
	if err := s.SetAddress([]byte("I am here")); err != nil {
		return err
	}
	fmt.Printf("%q, again: %v\n", mem.Address(s.Rank()), s.SetAddress([]byte("or here")))
	if err := s.Report([]byte("{}")); err != nil {
		return err
	}
	sleepUntil(mem, s.Rank(), func() bool { return mem.Address(2) != nil })
	fmt.Printf("rank 2 is at %q\n", mem.Address(2))
	sleepUntil(mem, s.Rank(), func() bool { return mem.Failure(2) != nil })
	fmt.Println(mem.Failure(2))
	return s.Leave()
}

// sleepUntil needs the bell to be rung.
func sleepUntil(mem *job.Memory, rank int, ready func() bool) {
	for {
		ticket := mem.Drowse(rank)
		if ready() {
			mem.Wake(rank)
			return
		}
		mem.Sleep(rank, ticket)
		mem.Wake(rank)
	}
}

func hang() error {
	connect()
	fmt.Println("joined")
	select {}
}

// second joins, and runs another process that tries to join as the same rank.
func second() error {
	s := connect()
	unix.FcntlInt(3, unix.F_SETFD, 0)
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), envRole+"=silent")
	cmd.ExtraFiles = []*os.File{os.NewFile(3, "inherited")}
	out, err := cmd.CombinedOutput()
	fmt.Printf("I am %d, the second: %v: %s", os.Getpid(), err, out)
	return s.Leave()
}

func rejoin() error {
	s := connect()
	if err := s.Leave(); err != nil {
		return err
	}
	s.Close()
	_, err := boot.Connect(context.Background())
	fmt.Println("again:", err)
	return nil
}

func aborter() error {
	return connect().Abort(42, "the data is bad")
}

// leaver leaves and stays.
func leaver() error {
	connect().Leave()
	fmt.Println("left")
	select {}
}

// segments2: rank 0 publishes what rank 1 opens; rank 1 asks first.
func segments2() error {
	s := connect()
	defer s.Leave()
	ctx := context.Background()
	switch s.Rank() {
	case 0:
		bufio.NewReader(os.Stdin).ReadString('\n') // rank 1 waits by now
		if err := s.Publish(7, memfd("hello from 0"), 12); err != nil {
			return err
		}
		fmt.Println("wrong size:", s.Publish(8, memfd("x"), 4096))
		fmt.Println("again:", s.Publish(7, memfd("x"), 1))
		if err := s.Publish(9, memfd("x"), 1); err != nil {
			return err
		}
		if err := s.Withdraw(9); err != nil {
			return err
		}
		fmt.Println("unpublished:", s.Withdraw(1234))
	case 1:
		fmt.Println("asking")
		f, err := s.Open(ctx, 0, 7)
		if err != nil {
			return err
		}
		b := make([]byte, 12)
		f.ReadAt(b, 0)
		fmt.Printf("opened %q\n", b)
		_, err = s.Open(ctx, 0, 99)
		fmt.Println("never published:", err)
		_, err = s.Open(ctx, 2, 1)
		fmt.Println("dead:", err)
		_, err = s.Open(ctx, 3, 1)
		fmt.Println("nobody:", err)
		_, err = s.Open(ctx, 0, 9)
		fmt.Println("withdrawn:", err)
		f, err = s.Open(ctx, 0, 7)
		fmt.Println("after it left:", f != nil, err)
	case 2:
		s.Publish(1, memfd("x"), 1)
		os.Exit(3)
	}
	return nil
}

func memfd(text string) *os.File {
	fd, err := unix.MemfdCreate("segment", unix.MFD_CLOEXEC)
	if err != nil {
		panic(err)
	}
	f := os.NewFile(uintptr(fd), "segment")
	f.WriteString(text)
	return f
}
