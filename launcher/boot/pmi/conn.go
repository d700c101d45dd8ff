package pmi

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/golaunch/golaunch/launcher/boot/pmi/wire"
)

// A Conn is this process's connection to its process manager.
type Conn struct {
	rank, size int
	dialect    *dialect
	space      string // PMI-1: the name under which values are kept
	longest    int    // the process manager's limit for a value, in bytes

	mu     sync.Mutex
	stream stream
	in     *bufio.Reader
	broken error // what has ended the connection
}

// Open speaks with the process manager that has started this process; (nil, nil)
// when none has. An environment that claims one where there is none, a process
// manager of an unknown version, and a second Open in a process are errors.
//
// PMI-1 is tried first, which all know; PMI-2 where the environment has what only
// PMI-2 needs. The other one follows.
func Open(ctx context.Context) (*Conn, error) {
	if !Claimed() {
		return nil, nil
	}
	offers, err := offers()
	if err != nil {
		return nil, err
	}
	s, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	c := &Conn{rank: -1, dialect: offers[0], stream: s, in: bufio.NewReaderSize(s, wire.MaxMessage)}
	if err := c.begin(ctx, offers); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// offers are the versions to try, in order.
func offers() ([]*dialect, error) {
	switch version := os.Getenv(EnvVersion); version {
	case "1":
		return []*dialect{lines()}, nil
	case "2":
		return []*dialect{frames()}, nil
	case "":
	default:
		return nil, fmt.Errorf("%s=%q: want 1 or 2", EnvVersion, version)
	}
	if os.Getenv(EnvJob) != "" {
		return []*dialect{frames(), lines()}, nil
	}
	return []*dialect{lines(), frames()}, nil
}

// begin agrees on a version.
func (c *Conn) begin(ctx context.Context, offers []*dialect) error {
	if err := c.whoAmI(ctx); err != nil {
		return err
	}
	answered := ""
	for _, d := range offers {
		c.dialect = d
		m, err := c.agree(ctx, d)
		if err != nil {
			return c.name(err, "init")
		}
		if rc, _ := m.Value("rc"); rc == "0" {
			if answered, _ = m.Value("pmi_version"); answered == d.version {
				return c.name(c.start(ctx), "starting")
			}
		}
	}
	return c.name(fmt.Errorf("it speaks version %q", answered), "init")
}

// agree offers a version. Init is a line in both.
func (c *Conn) agree(ctx context.Context, d *dialect) (wire.Message, error) {
	return c.exchange(ctx, lines(), wire.Message{Command: "init", Pairs: []wire.Pair{
		{Key: "pmi_version", Value: d.version}, {Key: "pmi_subversion", Value: d.subversion}}}, "response_to_init")
}

// start ends the start, whose answers are checked.
func (c *Conn) start(ctx context.Context) error {
	if err := c.dialect.begin(ctx, c); err != nil {
		return err
	}
	switch {
	case c.size < 1 || c.rank < 0 || c.rank >= c.size:
		return fmt.Errorf("it speaks of rank %d of %d", c.rank, c.size)
	case c.longest < leastValue:
		return fmt.Errorf("it takes values of at most %d bytes: want %d", c.longest, leastValue)
	}
	return nil
}

// whoAmI learns the rank from the environment, or from who listens at the address
// there, who does not know yet who this is.
func (c *Conn) whoAmI(ctx context.Context) (err error) {
	if os.Getenv(EnvFD) != "" {
		if c.rank, err = number(EnvRank, 0); err != nil {
			return err
		}
		c.size, err = number(EnvSize, 1)
		return err
	}
	if c.rank, err = number(EnvID, 0); err != nil {
		return err
	}
	ask := wire.Message{Command: "initack", Pairs: []wire.Pair{{Key: "pmiid", Value: os.Getenv(EnvID)}}}
	if _, err := c.exchange(ctx, lines(), ask, "initack"); err != nil {
		return c.name(err, "initack")
	}
	for range 3 { // size, rank and debug
		m, err := c.next(ctx, lines(), "set")
		if err != nil {
			return c.name(err, "initack")
		}
		if _, ok := m.Value("size"); ok {
			c.size, err = numberOf(m, "size")
		} else if _, ok := m.Value("rank"); ok {
			c.rank, err = numberOf(m, "rank")
		}
		if err != nil {
			return c.name(err, "initack")
		}
	}
	return nil
}

// Rank is this process's number, 0 to Size()-1.
func (c *Conn) Rank() int { return c.rank }

// Size is how many ranks there are.
func (c *Conn) Size() int { return c.size }

// Version is the version of PMI that is spoken, "1" or "2".
func (c *Conn) Version() string { return c.dialect.version }

// Fence returns when every rank is in its own: what was put before can then be got.
// When ctx ends it returns an error, and nothing can be done with c any more.
func (c *Conn) Fence(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.ask(ctx, c.dialect.fence)
	return c.name(err, "waiting for all ranks")
}

// Finalize says that this process needs the process manager no more, and gives the
// connection up: the exit that follows is no failure, whatever its code.
func (c *Conn) Finalize() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	ctx, cancel := context.WithTimeoutCause(context.Background(), finalWait, fmt.Errorf("no answer for %v", finalWait))
	defer cancel()
	_, err := c.ask(ctx, c.dialect.finalize)
	return c.name(errors.Join(err, c.end(errors.New("it was told that this process is done"))), "finalize")
}

// finalWait bounds how long Finalize waits for its answer.
const finalWait = 10 * time.Second

// Abort asks for the end of all ranks. A process manager that speaks PMI-1 exits
// with code; PMI-2 knows no code, and text takes its place. There is no answer: this
// process is killed a moment later.
func (c *Conn) Abort(code int, text string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.name(c.send(c.dialect, c.dialect.abort(code, text)), "abort")
}

// Close gives the connection up. Without Finalize before it this process has failed;
// the process manager sees that when it ends.
func (c *Conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.end(errors.New("the connection is closed"))
}

// end closes the connection, once. mu is held.
func (c *Conn) end(why error) error {
	if c.stream == nil {
		return nil
	}
	err := c.stream.Close()
	c.stream, c.broken = nil, why
	return err
}

// ask sends a command and waits for its answer, which must say that all is well.
func (c *Conn) ask(ctx context.Context, cmd command, pairs ...wire.Pair) (wire.Message, error) {
	m, err := c.exchange(ctx, c.dialect, wire.Message{Command: cmd.name, Pairs: pairs}, cmd.answer)
	if err != nil {
		return m, err
	}
	if rc, ok := m.Value("rc"); ok && rc != "0" {
		text, _ := m.Value("msg")
		if text == "" {
			text, _ = m.Value("errmsg")
		}
		return m, fmt.Errorf("%s: it says no: rc=%s %s", cmd.name, rc, text)
	}
	return m, nil
}

func (c *Conn) exchange(ctx context.Context, d *dialect, m wire.Message, answer string) (wire.Message, error) {
	if err := c.send(d, m); err != nil {
		return wire.Message{}, err
	}
	return c.next(ctx, d, answer)
}

func (c *Conn) send(d *dialect, m wire.Message) error {
	if c.stream == nil {
		return c.broken
	}
	b, err := d.append(m, nil)
	if err == nil {
		_, err = c.stream.Write(b)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", m.Command, err)
	}
	return nil
}

// next waits for a message of the given name. Whatever goes wrong ends the
// connection: nobody knows what would come next.
func (c *Conn) next(ctx context.Context, d *dialect, name string) (wire.Message, error) {
	s := c.stream
	stop := context.AfterFunc(ctx, func() { s.SetReadDeadline(time.Unix(1, 0)) })
	m, err := d.read(c.in)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	switch {
	case ctx.Err() != nil && err != nil:
		err = context.Cause(ctx)
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		err = errors.New("it closed the connection")
	case err == nil && m.Command != name:
		err = fmt.Errorf("it said %q", m.Command)
	}
	if err == nil {
		return m, nil
	}
	err = fmt.Errorf("waiting for %s: %w", name, err)
	c.end(err)
	return m, err
}

// name says whose error it is, and of what.
func (c *Conn) name(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("rank %d: the process manager (PMI-%s): %s: %w", c.rank, c.dialect.version, fmt.Sprintf(format, args...), err)
}
