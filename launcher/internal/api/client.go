package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// A Dialer connects to the agent at an address.
type Dialer func(ctx context.Context, address string) (net.Conn, error)

// A Pool asks agents, over connections that it keeps for a while.
type Pool struct{ http *http.Client }

// idleKept is how long a connection is kept that nobody uses; shorter than the
// server's patience, so that a request never meets its end.
const idleKept = idleTime / 2

// NewPool returns a pool whose connections come from dial.
func NewPool(dial Dialer) *Pool {
	return &Pool{&http.Client{
		Transport: &http.Transport{
			DialContext:     func(ctx context.Context, _, address string) (net.Conn, error) { return dial(ctx, address) },
			IdleConnTimeout: idleKept, MaxIdleConnsPerHost: 2, MaxResponseHeaderBytes: maxHead, DisableCompression: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("an agent does not redirect") },
	}}
}

// Close closes the connections that nobody uses.
func (p *Pool) Close() { p.http.CloseIdleConnections() }

// Agent returns the client of the agent at an address, host:port; name is what errors
// call it.
func (p *Pool) Agent(name, address string) *Client { return &Client{p, name, address} }

// A Client asks one agent. Errors of its methods are *Error.
type Client struct {
	pool          *Pool
	name, address string
}

// Beside returns the client of another agent, whose connections come from the same
// dialer.
func (c *Client) Beside(name, address string) *Client { return c.pool.Agent(name, address) }

// Name is what errors call the agent.
func (c *Client) Name() string { return c.name }

// Host asks what the agent says of its host.
func (c *Client) Host(ctx context.Context, q HostRequest) (Host, error) {
	return ask[Host](ctx, c, "host", q)
}

// Nodes asks for the members of the cluster.
func (c *Client) Nodes(ctx context.Context, q NodesRequest) (NodesAnswer, error) {
	return ask[NodesAnswer](ctx, c, "nodes", q)
}

// Place has ranks placed, and slots reserved.
func (c *Client) Place(ctx context.Context, q PlaceRequest) (PlaceAnswer, error) {
	return ask[PlaceAnswer](ctx, c, "place", q)
}

// Reserve asks for slots of the agent's host.
func (c *Client) Reserve(ctx context.Context, q ReserveRequest) error {
	_, err := ask[Empty](ctx, c, "reserve", q)
	return err
}

// Renew has reservations last longer.
func (c *Client) Renew(ctx context.Context, q RenewRequest) (RenewAnswer, error) {
	return ask[RenewAnswer](ctx, c, "renew", q)
}

// Release gives a reservation back.
func (c *Client) Release(ctx context.Context, q ReleaseRequest) error {
	_, err := ask[Empty](ctx, c, "release", q)
	return err
}

// Spawn has supervisors started.
func (c *Client) Spawn(ctx context.Context, q SpawnRequest) (SpawnAnswer, error) {
	return ask[SpawnAnswer](ctx, c, "spawn", q)
}

// Jobs asks for jobs.
func (c *Client) Jobs(ctx context.Context, q JobsRequest) (JobsAnswer, error) {
	return ask[JobsAnswer](ctx, c, "jobs", q)
}

// Kill ends a job.
func (c *Client) Kill(ctx context.Context, q KillRequest) (KillAnswer, error) {
	return ask[KillAnswer](ctx, c, "kill", q)
}

// Attach makes a golaunch known to the agent until ctx ends, or the connection, and
// calls notice for each notice. It does not return nil.
func (c *Client) Attach(ctx context.Context, q AttachRequest, notice func(Notice)) error {
	answer, err := c.open(ctx, "attach", q)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	d := json.NewDecoder(answer.Body)
	for {
		var n Notice
		if err := d.Decode(&n); err != nil {
			return c.unreached("attach", err)
		}
		notice(n)
	}
}

// Logs copies the output of a detached job to w.
func (c *Client) Logs(ctx context.Context, q LogsRequest, w io.Writer) error {
	answer, err := c.open(ctx, "logs", q)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(w, answer.Body); err != nil {
		return c.unreached("logs", err)
	}
	if late, err := url.QueryUnescape(answer.Trailer.Get(lateError)); err == nil && late != "" {
		return &Error{Kind: Failed, Agent: c.name, Op: "logs", Text: late}
	}
	return nil
}

// ask sends a request and reads the answer.
func ask[A, Q any](ctx context.Context, c *Client, op string, q Q) (a A, err error) {
	answer, err := c.open(ctx, op, q)
	if err != nil {
		return a, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, MaxBody+1))
	if err == nil && len(text) > MaxBody {
		err = fmt.Errorf("its answer is longer than %d bytes", MaxBody)
	}
	if err != nil {
		return a, c.unreached(op, err)
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return a, &Error{Kind: Failed, Agent: c.name, Op: op, Text: fmt.Sprintf("its answer is not understood: %v", err)}
	}
	return a, nil
}

// open sends a request; the answer, whose body is to be closed, is a good one.
func (c *Client) open(ctx context.Context, op string, q any) (*http.Response, error) {
	text, err := json.Marshal(q)
	if err != nil {
		return nil, &Error{Kind: BadRequest, Agent: c.name, Op: op, Text: err.Error()}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.address+"/v1/"+op, bytes.NewReader(text))
	if err != nil {
		return nil, &Error{Kind: BadRequest, Agent: c.name, Op: op, Text: err.Error()}
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := c.pool.http.Do(r)
	if err != nil {
		return nil, c.unreached(op, err)
	}
	if answer.StatusCode == http.StatusOK {
		return answer, nil
	}
	defer answer.Body.Close()
	return nil, c.refused(op, answer)
}

// refused is the error that an agent has answered with.
func (c *Client) refused(op string, answer *http.Response) error {
	e := &Error{Kind: Failed, Agent: c.name, Op: op, Text: answer.Status}
	var f failure
	if decode(io.LimitReader(answer.Body, MaxBody), &f) == nil && f.Text != "" {
		e.Kind, e.Text = f.Kind, f.Text
	}
	return e
}

// unreached says why there is no answer, without what is said already.
func (c *Client) unreached(op string, err error) error {
	e := &Error{Kind: Unreached, Agent: c.name, Op: op, cause: err}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		e.Text = "it has not answered in time"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		e.Text = "it closed the connection"
	default:
		e.Text = err.Error()
	}
	return e
}

// AskWait is how long an agent may take to answer what it knows by itself.
const AskWait = 2 * time.Second
