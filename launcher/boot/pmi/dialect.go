package pmi

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/golaunch/golaunch/launcher/boot/pmi/wire"
)

// A dialect is a version of PMI: how messages are written, and what the commands
// are called that both versions have.
type dialect struct {
	version, subversion string
	append              func(wire.Message, []byte) ([]byte, error)
	read                func(*bufio.Reader) (wire.Message, error)

	put, get, fence, finalize command
	of                        func(*Conn) []wire.Pair // what put and get have beside key and value
	abort                     func(code int, text string) wire.Message
	begin                     func(context.Context, *Conn) error // what follows init
}

// A command is its name, and that of its answer.
type command struct{ name, answer string }

// lines is PMI-1.
func lines() *dialect {
	return &dialect{
		version: "1", subversion: "1",
		append: wire.Message.AppendLine, read: readLine,
		put: command{"put", "put_result"}, get: command{"get", "get_result"},
		fence: command{"barrier_in", "barrier_out"}, finalize: command{"finalize", "finalize_ack"},
		of: func(c *Conn) []wire.Pair { return []wire.Pair{{Key: "kvsname", Value: c.space}} },
		abort: func(code int, _ string) wire.Message {
			return wire.Message{Command: "abort", Pairs: []wire.Pair{{Key: "exitcode", Value: strconv.Itoa(code)}}}
		},
		begin: beginLines,
	}
}

// frames is PMI-2.
func frames() *dialect {
	return &dialect{
		version: "2", subversion: "0",
		append: wire.Message.AppendFrame, read: readFrame,
		put: command{"kvs-put", "kvs-put-response"}, get: command{"kvs-get", "kvs-get-response"},
		fence: command{"kvs-fence", "kvs-fence-response"}, finalize: command{"finalize", "finalize-response"},
		of: func(*Conn) []wire.Pair { return nil },
		abort: func(_ int, text string) wire.Message {
			return wire.Message{Command: "abort", Pairs: []wire.Pair{{Key: "isworld", Value: "TRUE"}, {Key: "msg", Value: text}}}
		},
		begin: beginFrames,
	}
}

func readLine(r *bufio.Reader) (wire.Message, error) {
	line, err := r.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return wire.Message{}, fmt.Errorf("a line of more than %d bytes", r.Size())
	case err == io.EOF && len(line) > 0:
		return wire.Message{}, io.ErrUnexpectedEOF
	case err != nil:
		return wire.Message{}, err
	}
	return wire.ParseLine(string(line))
}

func readFrame(r *bufio.Reader) (wire.Message, error) {
	var prefix [wire.PrefixSize]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		return wire.Message{}, err
	}
	n, err := wire.ParsePrefix(string(prefix[:]))
	if err != nil {
		return wire.Message{}, err
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return wire.Message{}, err
	}
	return wire.ParsePairs(string(text))
}

// beginLines learns the limits and the name under which values are kept.
func beginLines(ctx context.Context, c *Conn) error {
	limits, err := c.ask(ctx, command{"get_maxes", "maxes"})
	if err != nil {
		return err
	}
	if c.longest, err = numberOf(limits, "vallen_max"); err != nil {
		return err
	}
	name, err := c.ask(ctx, command{"get_my_kvsname", "my_kvsname"})
	if err != nil {
		return err
	}
	space, ok := name.Value("kvsname")
	if !ok || space == "" {
		return errors.New("my_kvsname: there is no kvsname in the answer")
	}
	c.space = space
	return nil
}

// beginFrames learns rank and size.
func beginFrames(ctx context.Context, c *Conn) error {
	c.longest = 1024 // the standard's
	full, err := c.ask(ctx, command{"fullinit", "fullinit-response"}, wire.Pair{Key: "pmijobid", Value: os.Getenv(EnvJob)},
		wire.Pair{Key: "pmirank", Value: strconv.Itoa(c.rank)}, wire.Pair{Key: "threaded", Value: "FALSE"})
	if err != nil {
		return err
	}
	if c.rank, err = numberOf(full, "rank"); err != nil {
		return err
	}
	c.size, err = numberOf(full, "size")
	return err
}

// numberOf is a value of an answer that must be a number.
func numberOf(m wire.Message, key string) (int, error) {
	text, _ := m.Value(key)
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("%s: %s is %q, which is no number", m.Command, key, text)
	}
	return int(n), nil
}
