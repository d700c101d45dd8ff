package scale_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/api"
	"github.com/golaunch/golaunch/launcher/internal/join"
	"github.com/golaunch/golaunch/launcher/internal/relay"
	"github.com/golaunch/golaunch/launcher/internal/tree"
)

// These benchmarks measure what testdata/costs.json says. What they report is CPU time,
// of all threads, of user and kernel: other load on the machine matters little to it.

var key = []byte("0123456789abcdef0123456789abcdef")

const deadline = 5 * time.Minute

// cpu is what this process has used.
func cpu() time.Duration { return usage(syscall.RUSAGE_SELF) }

func usage(who int) time.Duration {
	var r syscall.Rusage
	syscall.Getrusage(who, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// perUnit reports CPU time in microseconds a unit.
func perUnit(b *testing.B, used time.Duration, units int, name string) {
	b.ReportMetric(float64(used.Nanoseconds())/1e3/float64(units*b.N), name)
	b.ReportMetric(0, "ns/op")
}

// A forest is a root and the hosts below it, in one process.
type forest struct {
	b     testing.TB
	root  *relay.Root
	nodes []*relay.Node
	hosts []*relay.Host
}

// plant attaches hosts as places say, those of one depth all at once.
func plant(b testing.TB, places []tree.Place) *forest {
	root, err := relay.Listen("127.0.0.1:0", key, deadline, nil)
	if err != nil {
		b.Fatal(err)
	}
	f := &forest{b: b, root: root, nodes: make([]*relay.Node, len(places)), hosts: make([]*relay.Host, len(places))}
	for depth, left := 1, len(places); left > 0; depth++ {
		left -= f.attach(places, depth)
	}
	return f
}

func (f *forest) attach(places []tree.Place, depth int) (count int) {
	var joining sync.WaitGroup
	for i, p := range places {
		if p.Depth != depth {
			continue
		}
		count++
		joining.Go(func() { f.nodes[i] = f.join(places, i) })
	}
	joining.Wait()
	for range count {
		h, err := f.root.Accept()
		if err != nil {
			f.b.Fatal(err)
		}
		var number [4]byte // says which host this is
		io.ReadFull(h, number[:])
		f.hosts[int(number[0])|int(number[1])<<4] = h
	}
	return count
}

func (f *forest) join(places []tree.Place, i int) *relay.Node {
	n, err := relay.NewNode("127.0.0.1:0", key)
	if err != nil {
		f.b.Error(err)
	}
	var parents []string
	for _, p := range tree.Ancestors(places, i) {
		parents = append(parents, f.nodes[p].Addr())
	}
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	if err := n.Join(ctx, append(parents, f.root.Addr().String())); err != nil {
		f.b.Error(err)
	}
	n.Write([]byte{byte(i & 15), byte(i >> 4), 0, 0})
	return n
}

func (f *forest) close() {
	for _, h := range f.hosts {
		h.Close()
	}
	f.root.Close()
	for _, n := range f.nodes {
		n.Close()
	}
}

// stream sends, and waits until every receiver has read so many bytes.
func (f *forest) stream(send func(), bytes int, receivers ...io.Reader) {
	var reading sync.WaitGroup
	for _, r := range receivers {
		reading.Go(func() { io.CopyN(io.Discard, r, int64(bytes)) })
	}
	send()
	reading.Wait()
}

// BenchmarkAttach: a star of hosts attaches; one of a chain attaches below others.
func BenchmarkAttach(b *testing.B) {
	for _, shape := range []struct {
		name         string
		hosts, arity int
	}{{"star", 48, 48}, {"chain", 24, 1}} {
		b.Run(shape.name, func(b *testing.B) {
			var used time.Duration
			for range b.N {
				before := cpu()
				f := plant(b, tree.Topology(shape.hosts, shape.arity))
				used += cpu() - before
				f.close()
			}
			perUnit(b, used, shape.hosts, "us/host")
		})
	}
}

const records, small = 20000, 64

// BenchmarkUp: many small records of one host go to the root over a chain. The chains'
// difference is what a host in between costs.
func BenchmarkUp(b *testing.B) {
	benchmarkChain(b, func(f *forest, last int) (io.Writer, io.Reader) { return f.nodes[last], f.hosts[last] })
}

// BenchmarkDown: many small records go to the last host of a chain.
func BenchmarkDown(b *testing.B) {
	benchmarkChain(b, func(f *forest, last int) (io.Writer, io.Reader) { return f.hosts[last], f.nodes[last] })
}

func benchmarkChain(b *testing.B, ends func(f *forest, last int) (io.Writer, io.Reader)) {
	data := make([]byte, small)
	for _, depth := range []int{1, 9} {
		b.Run(fmt.Sprint("depth=", depth), func(b *testing.B) {
			f := plant(b, tree.Topology(depth, 1))
			defer f.close()
			from, to := ends(f, depth-1)
			before := cpu()
			for range b.N {
				f.stream(func() {
					for range records {
						from.Write(data)
					}
				}, records*small, to)
			}
			perUnit(b, cpu()-before, records, "us/record")
		})
	}
}

// BenchmarkAll: many small records go to all of a star. The stars' difference is what a
// link costs.
func BenchmarkAll(b *testing.B) {
	data := make([]byte, small)
	for _, hosts := range []int{1, 9, 33} {
		b.Run(fmt.Sprint("hosts=", hosts), func(b *testing.B) {
			f := plant(b, tree.Topology(hosts, hosts))
			defer f.close()
			before := cpu()
			for range b.N {
				f.stream(func() {
					for range records / 4 {
						f.root.SendAll(data)
					}
				}, records/4*small, readers(f.nodes)...)
			}
			perUnit(b, cpu()-before, records/4, "us/record")
		})
	}
}

func readers(nodes []*relay.Node) (all []io.Reader) {
	for _, n := range nodes {
		all = append(all, n)
	}
	return all
}

// BenchmarkBytes: long records go over one link.
func BenchmarkBytes(b *testing.B) {
	data := make([]byte, tree.MaxData)
	const count = 1000
	f := plant(b, tree.Topology(1, 1))
	defer f.close()
	before := cpu()
	for range b.N {
		f.stream(func() {
			for range count {
				f.hosts[0].Write(data)
			}
		}, count*len(data), f.nodes[0])
	}
	perUnit(b, cpu()-before, count*len(data)/1024, "us/KiB")
}

// BenchmarkPing: one record alone goes down a chain and another comes back, so that every
// hop is woken for it.
func BenchmarkPing(b *testing.B) {
	for _, depth := range []int{1, 9} {
		b.Run(fmt.Sprint("depth=", depth), func(b *testing.B) {
			f := plant(b, tree.Topology(depth, 1))
			defer f.close()
			n, h, one := f.nodes[depth-1], f.hosts[depth-1], make([]byte, 1)
			before := cpu()
			for range b.N {
				for range 200 {
					h.Write(one)
					io.ReadFull(n, one)
					n.Write(one)
					io.ReadFull(h, one)
				}
			}
			perUnit(b, cpu()-before, 400, "us/way")
		})
	}
}

// BenchmarkRequest: an agent is asked something small over a new connection.
func BenchmarkRequest(b *testing.B) {
	l, err := join.Listen("127.0.0.1:0", key, deadline)
	if err != nil {
		b.Fatal(err)
	}
	answer := []byte(`{"name":"` + strings.Repeat("x", 400) + `"}`)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Write(answer)
	})}
	go server.Serve(plain{l})
	defer server.Close()
	for _, kept := range []bool{false, true} {
		b.Run(fmt.Sprint("kept=", kept), func(b *testing.B) {
			client := &http.Client{Transport: &http.Transport{DisableKeepAlives: !kept, DialContext: func(ctx context.Context, _, at string) (net.Conn, error) {
				return join.DialOnce(ctx, at, key, deadline)
			}}}
			defer client.CloseIdleConnections()
			before := cpu()
			for range b.N {
				for range 50 {
					r, err := client.Post("http://"+l.Addr().String()+"/", "application/json", strings.NewReader(`{"job":"j"}`))
					if err != nil {
						b.Fatal(err)
					}
					io.Copy(io.Discard, r.Body)
					r.Body.Close()
				}
			}
			perUnit(b, cpu()-before, 50, "us/request")
		})
	}
}

// plain hides from net/http that connections are TLS.
type plain struct{ net.Listener }

func (p plain) Accept() (net.Conn, error) {
	conn, err := p.Listener.Accept()
	return struct{ net.Conn }{conn}, err
}

// BenchmarkTree encodes and decodes what has supervisors spawned on many hosts.
func BenchmarkTree(b *testing.B) {
	q := api.SpawnRequest{Job: "5f0c11d2", Key: key, Join: []string{"10.20.30.40:51234"}, Wait: time.Second}
	const hosts = 1000
	for i := range hosts {
		q.Nodes = append(q.Nodes, api.SpawnNode{Host: fmt.Sprintf("node-%05d", i), Address: "10.20.30.40:7947", Token: strings.Repeat("0123456789abcdef", 2)})
	}
	before, length := cpu(), 0
	for range b.N {
		text, err := json.Marshal(q)
		if err == nil {
			err = json.Unmarshal(text, &q)
		}
		if err != nil {
			b.Fatal(err)
		}
		length = len(text)
	}
	perUnit(b, cpu()-before, hosts, "us/host")
	b.ReportMetric(float64(length)/hosts, "B/host")
}

// BenchmarkReplay says on the launch tree what a launch says: every host attaches and
// greets, is told what to start, and tells three things of each of its ranks, of which the
// others are told two.
func BenchmarkReplay(b *testing.B) {
	for _, hosts := range []int{5, 50, 200} {
		b.Run(fmt.Sprint("hosts=", hosts), func(b *testing.B) {
			var attach, talk time.Duration
			for range b.N {
				before := cpu()
				f := plant(b, tree.Topology(hosts, tree.Arity))
				attached := cpu()
				f.replay()
				attach, talk = attach+attached-before, talk+cpu()-attached
				f.close()
			}
			b.ReportMetric(float64(attach.Microseconds())/1e3/float64(b.N), "cpu-ms/attach")
			b.ReportMetric(float64(talk.Microseconds())/1e3/float64(b.N), "cpu-ms/talk")
		})
	}
}

// What a rank's address, and a start without its list of hosts, have in bytes.
const addressSize, startSize, ranksPerHost = 100, 4096, 4

func (f *forest) replay() {
	start := make([]byte, startSize+24*len(f.hosts))
	news := make([]byte, addressSize)
	var talking sync.WaitGroup
	for i, n := range f.nodes {
		talking.Go(func() { // the host
			io.CopyN(io.Discard, n, int64(len(start)))
			for range ranksPerHost * 3 {
				n.Write(news)
			}
			io.CopyN(io.Discard, n, int64(2*ranksPerHost*len(f.hosts)*len(news)))
		})
		talking.Go(func() { // the root
			f.hosts[i].Write(start)
			got := make([]byte, 3*len(news))
			for range ranksPerHost {
				io.ReadFull(f.hosts[i], got)
				f.root.SendAll(news)
				f.root.SendAll(news)
			}
		})
	}
	talking.Wait()
}

func TestMain(m *testing.M) {
	if os.Getenv(envRole) != "" {
		if err := rank(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}
