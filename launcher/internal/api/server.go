package api

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"time"
)

// An Agent does what is asked. Every request it sees is sound. Its methods may be
// called by any number of goroutines; what takes time ends with ctx.
type Agent interface {
	Host(ctx context.Context, who Caller, r HostRequest) (Host, error)
	Nodes(ctx context.Context, who Caller, r NodesRequest) (NodesAnswer, error)
	Place(ctx context.Context, who Caller, r PlaceRequest) (PlaceAnswer, error)
	Reserve(ctx context.Context, who Caller, r ReserveRequest) (Empty, error)
	Renew(ctx context.Context, who Caller, r RenewRequest) (RenewAnswer, error)
	Release(ctx context.Context, who Caller, r ReleaseRequest) (Empty, error)
	Spawn(ctx context.Context, who Caller, r SpawnRequest) (SpawnAnswer, error)
	Jobs(ctx context.Context, who Caller, r JobsRequest) (JobsAnswer, error)
	Kill(ctx context.Context, who Caller, r KillRequest) (KillAnswer, error)
	// Attach sends notices until ctx ends, which it does when the caller is gone.
	Attach(ctx context.Context, who Caller, r AttachRequest, send func(Notice) error) error
	// Logs writes output.
	Logs(ctx context.Context, who Caller, r LogsRequest, w io.Writer) error
	// Blob returns who serves a stream of launcher/internal/stage: this agent, or, if via
	// is an address, the one there. serve closes the stream.
	Blob(ctx context.Context, who Caller, via string) (serve func(io.ReadWriteCloser), err error)
}

// A Caller is who asks.
type Caller struct {
	// Local callers came over the agent's Unix socket; UID is theirs.
	Local bool
	UID   int
	// Address is where others came from.
	Address string
}

// Time limits of the server.
const (
	headTime = 5 * time.Second  // for a request's head
	bodyTime = 30 * time.Second // for its body
	idleTime = 60 * time.Second // between requests
	sendTime = 10 * time.Second // for a piece of an answer
	maxHead  = 8 << 10          // bytes
)

// A Server serves an agent. It must be made by NewServer.
type Server struct{ http *http.Server }

// NewServer returns a server of an agent.
func NewServer(a Agent, log *slog.Logger) *Server {
	mux := http.NewServeMux()
	handle(mux, "host", a.Host)
	handle(mux, "nodes", a.Nodes)
	handle(mux, "place", a.Place)
	handle(mux, "reserve", a.Reserve)
	handle(mux, "renew", a.Renew)
	handle(mux, "release", a.Release)
	handle(mux, "spawn", a.Spawn)
	handle(mux, "jobs", a.Jobs)
	handle(mux, "kill", a.Kill)
	mux.HandleFunc("POST /v1/attach", stream(func(ctx context.Context, who Caller, r AttachRequest, w io.Writer) error {
		return a.Attach(ctx, who, r, func(n Notice) error { return json.NewEncoder(w).Encode(n) })
	}))
	mux.HandleFunc("POST /v1/logs", stream(a.Logs))
	mux.HandleFunc(blobPattern, blob(a))
	return &Server{&http.Server{
		Handler: mux, ReadHeaderTimeout: headTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHead,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug), ConnContext: withCaller,
	}}
}

// Serve serves what a listener accepts until Close. It may be called for several.
func (s *Server) Serve(l net.Listener) error {
	if err := s.http.Serve(opaque{l}); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// opaque keeps net/http from looking at what carries a connection: it would close TLS
// connections that have agreed on another protocol than its own.
type opaque struct{ net.Listener }

type opaqueConn struct{ net.Conn }

func (l opaque) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return opaqueConn{c}, nil
}

// Close closes the listeners and every connection.
func (s *Server) Close() error { return s.http.Close() }

type callerKey struct{}

func withCaller(ctx context.Context, c net.Conn) context.Context {
	who := Caller{Address: c.RemoteAddr().String()}
	if u, ok := c.(opaqueConn).Conn.(*unixConn); ok {
		who = Caller{Local: true, UID: u.uid}
	}
	return context.WithValue(ctx, callerKey{}, who)
}

// CallerOf is who has sent a request that a Server got.
func CallerOf(r *http.Request) Caller {
	who, _ := r.Context().Value(callerKey{}).(Caller)
	return who
}

// A request is what can be decoded.
type request[Q any] interface {
	*Q
	check() error
}

func handle[Q, A any, P request[Q]](mux *http.ServeMux, name string, do func(context.Context, Caller, Q) (A, error)) {
	mux.HandleFunc("POST /v1/"+name, func(w http.ResponseWriter, r *http.Request) {
		q, err := receive[Q, P](w, r)
		if err != nil {
			fail(w, err)
			return
		}
		a, err := do(r.Context(), CallerOf(r), q)
		if err != nil {
			fail(w, err)
			return
		}
		answer(w, http.StatusOK, a)
	})
}

// receive reads a request.
func receive[Q any, P request[Q]](w http.ResponseWriter, r *http.Request) (q Q, err error) {
	control := http.NewResponseController(w)
	control.SetReadDeadline(time.Now().Add(bodyTime))
	err = decode(http.MaxBytesReader(w, r.Body, MaxBody), P(&q))
	control.SetReadDeadline(time.Time{})
	return q, err
}

// decode reads one JSON object, all of it, and checks what it says.
func decode(r io.Reader, to interface{ check() error }) error {
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return Errorf(BadRequest, "it is not understood: %v", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return Errorf(BadRequest, "it is not understood: something follows it")
	}
	if err := to.check(); err != nil {
		return Errorf(BadRequest, "%v", err)
	}
	return nil
}

func fail(w http.ResponseWriter, err error) {
	kind := KindOf(err)
	answer(w, kind.status(), failure{kind, err.Error()})
}

func answer(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"kind":"failed","error":"the answer cannot be written"}`)
	}
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(bodyTime))
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(text, '\n'))
}

// stream serves a request whose answer is written piece by piece.
func stream[Q any, P request[Q]](do func(context.Context, Caller, Q, io.Writer) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q, err := receive[Q, P](w, r)
		if err != nil {
			fail(w, err)
			return
		}
		p := &pieces{w: w, control: http.NewResponseController(w)}
		switch err := do(r.Context(), CallerOf(r), q, p); {
		case err == nil:
		case !p.begun:
			fail(w, err)
		default:
			w.Header().Set(http.TrailerPrefix+lateError, url.QueryEscape(err.Error()))
		}
	}
}

// lateError is the trailer that tells of what went wrong after an answer had begun.
const lateError = "Golaunch-Error"

// pieces is an answer each piece of which is sent at once.
type pieces struct {
	w       http.ResponseWriter
	control *http.ResponseController
	begun   bool
}

func (p *pieces) Write(b []byte) (int, error) {
	p.begun = true
	p.control.SetWriteDeadline(time.Now().Add(sendTime))
	n, err := p.w.Write(b)
	if err == nil {
		err = p.control.Flush()
	}
	return n, err
}
