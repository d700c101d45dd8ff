package helper

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/golaunch/golaunch/internal/spawntest"
	"github.com/golaunch/golaunch/launcher/boot"
)

func TestRefusals(t *testing.T) {
	j := twoHosts(t)
	start(t, j)
	join(t, j, 0)
	stranger := func(rank int, key uint64) error {
		socket, err := dial(address(j.Details.Secret, 0))
		if err != nil {
			return err
		}
		s, err := boot.ConnectOver(t.Context(), socket, rank, key)
		if err == nil {
			err = errors.Join(errors.New("welcome"), s.Close())
		}
		return err
	}
	secret := j.Details.Secret
	for _, tt := range []struct {
		rank int
		key  uint64
		want string
	}{
		{1, proof(secret, 0), "claims to be rank 1, and does not know the job's secret"},
		{1, 0, "does not know the job's secret"},
		{2, proof(secret, 2), "claims to be rank 2, which is not on this host"},
		{-1, proof(secret, -1), "claims to be rank -1, which is not on this host"},
		{0, proof(secret, 0), "has joined as rank 0 already"},
	} {
		if err := stranger(tt.rank, tt.key); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("rank %d: %v, want an error with %q", tt.rank, err, tt.want)
		}
	}
}

func TestOtherVersion(t *testing.T) {
	j := twoHosts(t)
	start(t, j)
	was := boot.Version
	boot.Version = "0.0.1"
	_, err := Dial(t.Context(), j.Details.Secret, 0, 1)
	boot.Version = was
	if err == nil || !strings.Contains(err.Error(), "was built with version 0.0.1 of golaunch") || !strings.Contains(err.Error(), "version "+was) {
		t.Error(err)
	}
}

// Another user of the host is not answered.
func TestOtherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("takes root, to be somebody else")
	}
	j := twoHosts(t)
	start(t, j)
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_SEQPACKET|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	connected := make(chan error, 1)
	go func() {
		connected <- spawntest.AsNobody(func() error { return syscall.Connect(fd, &syscall.SockaddrUnix{Name: address(j.Details.Secret, 0)}) })
	}()
	if err := <-connected; err != nil {
		t.Fatal(err)
	}
	syscall.SetNonblock(fd, true)
	s, err := boot.ConnectOver(t.Context(), os.NewFile(uintptr(fd), "nobody"), 1, proof(j.Details.Secret, 1))
	if s != nil || err == nil || !strings.Contains(err.Error(), "closed the connection") && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%v, %v", s, err)
	}
}
