package launcher

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/golaunch/golaunch/launcher/internal/api"
	"github.com/golaunch/golaunch/launcher/internal/join"
	"github.com/golaunch/golaunch/launcher/internal/keys"
)

// An Access says how the agent of a cluster is reached.
type Access struct {
	// Agent is its address, with or without a port; "": the environment's
	// GOLAUNCH_AGENT, or this host's agent, at its socket.
	Agent string
	// KeyFile has the cluster's key, for agents of other hosts; "": the usual one.
	KeyFile string
}

// address is that of the agent, "" for this host's.
func (a Access) address() string {
	named := cmp.Or(a.Agent, os.Getenv("GOLAUNCH_AGENT"))
	if named == "" {
		return ""
	}
	if _, _, err := net.SplitHostPort(named); err == nil {
		return named
	}
	return net.JoinHostPort(named, strconv.Itoa(ControlPort))
}

// client returns a client of the agent. It does not connect.
func (a Access) client() (*api.Client, error) {
	address := a.address()
	if address == "" {
		dirs, err := Directories{}.WithDefaults()
		return api.DialUnix(dirs.Runtime), err
	}
	path, err := keyFile(a.KeyFile)
	if err != nil {
		return nil, err
	}
	if path == "" {
		return nil, usage("--agent %s: --key-file is needed, the cluster's key", address)
	}
	ring, err := keys.Read(path)
	if err != nil {
		return nil, usage("--key-file: %v", err)
	}
	pool := api.NewPool(func(ctx context.Context, to string) (net.Conn, error) {
		return join.Call(ctx, to, ring, acknowledgeWait)
	})
	return pool.Agent("at "+address, address), nil
}

// keyFile is the file of the cluster's key: the named one, or that of the environment,
// or the usual one if it is there; "": there is none.
func keyFile(named string) (string, error) {
	if named != "" {
		return named, nil
	}
	usual, err := keys.UsualPath()
	if err != nil || os.Getenv("GOLAUNCH_KEY_FILE") != "" {
		return usual, err
	}
	if _, err := os.Lstat(usual); errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	return usual, nil
}

// isThere reports whether an agent is named, or this host has one: its socket is
// there, whether or not anybody answers.
func (a Access) isThere() bool {
	if a.address() != "" {
		return true
	}
	dirs, err := Directories{}.WithDefaults()
	if err != nil {
		return false
	}
	info, err := os.Lstat(filepath.Join(dirs.Runtime, api.SocketName))
	return err == nil && info.Mode()&os.ModeSocket != 0
}

// explained says what to do about an agent that was not reached.
func explained(err error) error {
	var call *net.OpError
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("no agent runs on this host (%w): golaunch agent starts one, --agent names another", err)
	case errors.As(err, &call) && call.Net == "unix" && errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("this host's agent has died (%w): golaunch agent starts it again, --agent names another", err)
	}
	return err
}

// exitCode is the one for an error.
func exitCode(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errUsage), api.KindOf(err) == api.BadRequest:
		return CodeUsage
	}
	return 1
}

// ask connects to the agent, has do ask it, and returns the exit code. Errors are
// printed.
func (a Access) ask(op string, do func(context.Context, *api.Client) error) int {
	client, err := a.client()
	if err == nil {
		defer client.Close()
		ctx, stop := untilInterrupted()
		defer stop()
		err = explained(do(ctx, client))
		if ctx.Err() != nil {
			return 130
		}
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "golaunch: %s: %v\n", op, err)
	}
	return exitCode(err)
}
