package stage_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/stage"
	"github.com/golaunch/golaunch/launcher/internal/stage/cache"
	"github.com/golaunch/golaunch/launcher/internal/stage/digest"
	"github.com/golaunch/golaunch/launcher/internal/stage/manifest"
)

const protocol = "golaunch-blob/1"

// mount is the endpoint of a node: it takes the connection over.
func mount(n *stage.Node) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != protocol {
			http.Error(w, "want Upgrade: "+protocol, http.StatusUpgradeRequired)
			return
		}
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		conn.SetDeadline(time.Time{}) // the server's; a node has its own
		fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", protocol)
		n.Serve(context.WithoutCancel(r.Context()), hijacked{conn, buffered.Reader})
	}
}

// hijacked is a connection of which something was read already.
type hijacked struct {
	net.Conn
	buffered *bufio.Reader
}

func (h hijacked) Read(b []byte) (int, error) { return h.buffered.Read(b) }

// A client dials nodes that are mounted in HTTP servers.
type client struct{ *http.Client }

func (c client) Dial(ctx context.Context, to stage.Host) (io.ReadWriteCloser, error) {
	// The context of the request is that of the stream: it outlives ctx, which ends
	// the request only as long as there is no answer.
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, end)
	answer, err := c.upgrade(life, to)
	if err != nil || !stop() {
		end()
		if err == nil {
			answer.Body.Close()
			err = context.Cause(ctx)
		}
		return nil, err
	}
	return stream{answer.Body.(io.ReadWriteCloser), end}, nil
}

func (c client) upgrade(ctx context.Context, to stage.Host) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, "POST", to.Addr+"/v1/blob", nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", protocol)
	answer, err := c.Do(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusSwitchingProtocols {
		answer.Body.Close()
		return nil, fmt.Errorf("%s answers %s", to.Name, answer.Status)
	}
	return answer, nil
}

// A stream is an upgraded connection, and the end of its request.
type stream struct {
	io.ReadWriteCloser
	end context.CancelFunc
}

func (s stream) Close() error {
	defer s.end()
	return s.ReadWriteCloser.Close()
}

func Example_overHTTP() {
	dir, err := os.MkdirTemp("", "stage")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	c := client{http.DefaultClient}
	defer c.CloseIdleConnections()
	var hosts []stage.Host
	for _, name := range []string{"a", "b", "c"} {
		store, err := cache.Open(filepath.Join(dir, name), cache.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		defer store.Close()
		n := stage.NewNode(name, store, c, stage.Options{})
		defer n.Close()
		server := httptest.NewServer(mount(n))
		defer server.Close()
		hosts = append(hosts, stage.Host{Name: name, Addr: server.URL})
	}
	program := "#!/bin/sh\necho hello\n"
	content := stage.Content{
		Blob:     manifest.Blob{Sum: digest.Of([]byte(program)), Size: int64(len(program))},
		ReaderAt: strings.NewReader(program),
	}
	for i, err := range stage.Push(context.Background(), c, []stage.Content{content}, hosts, stage.Options{}) {
		fmt.Println(hosts[i].Name, err)
	}
	// Output:
	// a <nil>
	// b <nil>
	// c <nil>
}
