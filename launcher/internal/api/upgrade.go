package api

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// A stream of bytes in both directions is what a request to /v1/blob asks for: the
// connection is HTTP's no longer once it is granted.
const (
	blobPattern  = "POST /v1/blob"
	blobProtocol = "golaunch-blob/1"
	// viaHeader names the agent that the stream is to lead to, if it is not the one that
	// is asked: its address.
	viaHeader = "Golaunch-Via"
)

// Blob opens a stream to the agent, or through it to the one at an address, if via is
// not empty; agents do that for callers of their own host only.
func (c *Client) Blob(ctx context.Context, via string) (io.ReadWriteCloser, error) {
	// The context of the request is that of the stream: it outlives ctx, which ends the
	// request only as long as there is no answer.
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, end)
	body, err := c.upgrade(life, via)
	if err != nil || !stop() {
		end()
		if err == nil {
			body.Close()
			err = c.unreached("blob", context.Cause(ctx))
		}
		return nil, err
	}
	return upgraded{body, end}, nil
}

func (c *Client) upgrade(ctx context.Context, via string) (io.ReadWriteCloser, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.address+"/v1/blob", nil)
	if err != nil {
		return nil, &Error{Kind: BadRequest, Agent: c.name, Op: "blob", Text: err.Error()}
	}
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", blobProtocol)
	if via != "" {
		r.Header.Set(viaHeader, via)
	}
	answer, err := c.pool.http.Do(r)
	if err != nil {
		return nil, c.unreached("blob", err)
	}
	body, both := answer.Body.(io.ReadWriteCloser)
	if answer.StatusCode != http.StatusSwitchingProtocols || !both {
		defer answer.Body.Close()
		return nil, c.refused("blob", answer)
	}
	return body, nil
}

// upgraded is a stream, and the end of its request.
type upgraded struct {
	io.ReadWriteCloser
	end context.CancelFunc
}

func (u upgraded) Close() error {
	defer u.end()
	return u.ReadWriteCloser.Close()
}

// blob serves such requests.
func blob(a Agent) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != blobProtocol {
			fail(w, Errorf(BadRequest, "want Upgrade: %s", blobProtocol))
			return
		}
		via := r.Header.Get(viaHeader)
		if err := checkAddress(via); err != nil && via != "" {
			fail(w, Errorf(BadRequest, "%v", err))
			return
		}
		serve, err := a.Blob(r.Context(), CallerOf(r), via)
		if err != nil {
			fail(w, err)
			return
		}
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			fail(w, err)
			return
		}
		conn.SetDeadline(time.Time{}) // the server's
		fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", blobProtocol)
		serve(hijacked{conn, buffered.Reader})
	}
}

// hijacked is a connection of which something was read already.
type hijacked struct {
	net.Conn
	buffered *bufio.Reader
}

func (h hijacked) Read(b []byte) (int, error) { return h.buffered.Read(b) }
