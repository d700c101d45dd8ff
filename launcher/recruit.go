package launcher

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/api"
	"github.com/golaunch/golaunch/launcher/internal/control"
	"github.com/golaunch/golaunch/launcher/internal/tree"
)

// errDryRun ends a launch that was only to be tried.
var errDryRun = errors.New("nothing was started")

// recruit gets the job's hosts from the cluster: it has its ranks placed, and
// supervisors started where they go, and waits until those have joined.
func (f *front) recruit() error {
	client, err := f.Cluster.client()
	if err != nil {
		return err
	}
	f.agent = client
	if err := f.during(f.buildHere); err != nil {
		return err
	}
	if err := f.during(f.placeRanks); err != nil {
		return err
	}
	if f.Cluster.DryRun {
		f.printMap()
		return errDryRun
	}
	f.attach()
	err = f.during(f.whileHeld(f.sendFiles))
	f.unload()
	if err == nil {
		err = f.summon()
	}
	if err != nil {
		f.giveUp(err)
	}
	return err
}

// giveUp ends a launch that has failed.
func (f *front) giveUp(err error) {
	var giving sync.WaitGroup
	wait := giveBackWait
	if f.tree == nil || errors.As(err, new(silentError)) {
		wait = sendWait
	}
	giving.Go(func() { f.giveBack(false, wait) })
	f.dismiss(err.Error())
	giving.Wait()
}

// during runs what takes time, and minds signals and output meanwhile. At a signal
// that asks to end, do is given up.
func (f *front) during(do func(context.Context) error) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- do(ctx) }()
	for {
		select {
		case err := <-done:
			return err
		case w := <-f.output.written:
			f.output.took(w)
		case sig := <-f.signals:
			if err := f.interrupted(sig.(syscall.Signal)); err != nil {
				cancel()
				<-done
				return err
			}
		}
	}
}

// interrupted follows a signal before the job runs.
func (f *front) interrupted(sig syscall.Signal) error {
	switch sig {
	case syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT:
		return errInterrupted(sig)
	case syscall.SIGTSTP, syscall.SIGCONT:
		f.signal(sig)
	}
	return nil
}

// buildHere has a supervisor of this machine build the programs that are Go packages.
// It lives as long as golaunch does: what it has built goes with it.
func (f *front) buildHere(ctx context.Context) error {
	if len(f.builds) == 0 {
		return nil
	}
	f.builder = &host{}
	if err := f.spawnFor(f.builder); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { f.builder.conn.Close() })
	defer stop()
	for dir := range f.builds {
		f.builder.conn.Send(&control.Build{Scratch: f.scratch, Dir: dir, Env: os.Environ()})
	}
	for f.unbuilt() != "" {
		m, err := f.builder.conn.Receive()
		if err != nil {
			return fmt.Errorf("building %s: the supervisor is gone: %w", f.unbuilt(), err)
		}
		if m, is := m.(*control.Built); is {
			if m.Path == "" {
				return fmt.Errorf("%s does not build:\n%s", m.Dir, m.Output)
			}
			f.builds[m.Dir] = m.Path
		}
	}
	f.useBuilds()
	return nil
}

// placeWait is how long placing may take: some rounds of questions.
const placeWait = 30 * time.Second

// placeRanks has the cluster say where the ranks go.
func (f *front) placeRanks(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, placeWait)
	defer cancel()
	c := &f.Cluster
	q := api.PlaceRequest{
		Job: f.id, Ranks: f.size(), Policy: c.MapBy, PerHost: c.PerHost, Hosts: c.Hosts, Labels: c.Labels,
		Oversubscribe: c.Oversubscribe, DryRun: c.DryRun, Hold: f.hold(),
	}
	if q.Policy == "" {
		q.Policy = Policies()[0]
	}
	if err := f.load(); err != nil {
		return err
	}
	q.Needs, q.Blobs = f.programNeeds(), f.blobs()
	answer, err := f.agent.Place(ctx, q)
	var refused *api.Error
	switch {
	case errors.As(err, &refused) && (refused.Kind == api.NoRoom || refused.Kind == api.BadRequest):
		return usage("%s", refused.Text)
	case err != nil:
		return explained(err)
	case f.Transport == "shm" && len(answer.Blocks) > 1:
		f.blocks = answer.Blocks
		f.giveBack(false, giveBackWait)
		return usage("--transport shm: %d hosts share no memory", len(answer.Blocks))
	}
	f.answer, f.blocks, f.advertise = answer, answer.Blocks, answer.Advertise
	f.Hosts, f.lost = len(f.blocks), make(chan loss, len(f.blocks))
	f.usualTimeout = usualTimeout(answer.Profile)
	return nil
}

// hold is how long reservations are to last that are not renewed; 0: as long as is usual
// there.
func (f *front) hold() time.Duration {
	if f.FailureTimeout == 0 {
		return 0
	}
	return min(max(f.FailureTimeout, LocalProfileTimeout), api.MaxHold)
}

// programNeeds are what the programs need of a host.
func (f *front) programNeeds() (list []api.Need) {
	for _, c := range f.cargoes {
		list = append(list, api.Need{Program: filepath.Base(c.path), Needs: c.needs})
	}
	return list
}

// summon has the hosts' supervisors started, and takes them in.
func (f *front) summon() error {
	key := []byte(rand.Text() + rand.Text())
	if err := f.listenForHosts(key); err != nil {
		return err
	}
	f.verbose("job %s: %s on %s, who join at %s", f.id, ranksOf(f.size()), hostsText(f.Hosts), f.tree.Addr())
	ctx, cancel := context.WithTimeout(context.Background(), f.joinTimeout())
	defer cancel()
	f.hopeless = make(chan error, 1)
	go func() { f.hopeless <- f.spawn(ctx, key, f.tree.Addr()) }()
	if err := f.await(); err != nil {
		return err
	}
	f.placeByBlocks()
	return nil
}

// joinTimeout is how long hosts may take to join. A launch with a host that is lost in that
// time is over within the failure timeout.
func (f *front) joinTimeout() time.Duration { return f.failureTimeout() * 7 / 8 }

// listenForHosts listens where other hosts reach this one.
func (f *front) listenForHosts(key []byte) error {
	if address := f.Cluster.address(); address != "" {
		towards, err := net.Dial("udp", address) // sends nothing
		if err != nil {
			return err
		}
		f.advertise = towards.LocalAddr().(*net.UDPAddr).IP.String()
		towards.Close()
	}
	err := f.openTree(net.JoinHostPort(f.advertise, "0"), key)
	if errors.Is(err, syscall.EADDRNOTAVAIL) {
		return f.openTree(":0", key) // it is translated on the way
	}
	return err
}

// spawn has supervisors started, and returns why not all of them will join, once that
// is known; at the latest when ctx ends.
func (f *front) spawn(ctx context.Context, key []byte, at net.Addr) error {
	_, port, err := net.SplitHostPort(at.String())
	if err != nil {
		return err
	}
	q := api.SpawnRequest{Job: f.id, Key: key, Join: []string{net.JoinHostPort(f.advertise, port)}, Wait: f.failureTimeout() * 3 / 4, Programs: f.manifests(), Nodes: launchTree(f.blocks)}
	answer, err := f.agent.Spawn(ctx, q)
	if err != nil && ctx.Err() == nil {
		return err
	}
	if len(answer.Failures) > 0 {
		first := answer.Failures[0]
		text := fmt.Sprintf("host %s: %s", first.Host, first.Text)
		if first.Silent {
			return silentError{text}
		}
		return errors.New(text)
	}
	<-ctx.Done()
	return silentError{}
}

// launchTree is the launch tree of hosts.
func launchTree(blocks []api.Block) (nodes []api.SpawnNode) {
	for _, part := range tree.Split(tree.Range{End: len(blocks)}, tree.Arity) {
		b := blocks[part.First]
		nodes = append(nodes, api.SpawnNode{Host: b.Host, Address: b.Address, Token: b.Token, Children: launchTree(blocks[part.First+1 : part.End])})
	}
	return nodes
}

// A silentError says that hosts do not answer. Nobody waits for them once more.
type silentError struct{ text string }

func (e silentError) Error() string { return e.text }

// missing names the hosts that have not joined.
func (f *front) missing() string {
	var names []string
	for _, b := range f.blocks {
		if !slices.ContainsFunc(f.hosts, func(h *host) bool { return h.name == b.Host }) {
			names = append(names, b.Host)
		}
	}
	return strings.Join(names, ", ")
}

// expected says why a host is not wanted, "" if it is.
func (f *front) expected(name string) string {
	if f.OverCluster() && f.blockOf(name) < 0 {
		return "the job has no ranks for it"
	}
	return ""
}

func (f *front) blockOf(name string) int {
	return slices.IndexFunc(f.blocks, func(b api.Block) bool { return b.Host == name })
}

// placeByBlocks gives each host the ranks that it was chosen for.
func (f *front) placeByBlocks() {
	slices.SortFunc(f.hosts, func(a, b *host) int { return f.blockOf(a.name) - f.blockOf(b.name) })
	var sizes []int
	for _, b := range f.blocks {
		sizes = append(sizes, b.Ranks)
	}
	f.place(sizes)
}

// How long golaunch waits for the cluster at its end; and if nothing was started, or
// hosts are known not to answer: what is sent to the others is under way at once.
const (
	giveBackWait = 3 * time.Second
	sendWait     = 200 * time.Millisecond
)

// giveBack gives the slots back that the job holds. ended: its supervisors end by
// themselves. Those of hosts that are lost are left to their agents.
func (f *front) giveBack(ended bool, wait time.Duration) {
	var blocks []api.Block
	for _, b := range f.blocks {
		if !slices.ContainsFunc(f.hosts, func(h *host) bool { return h.name == b.Host && h.lost }) {
			blocks = append(blocks, b)
		}
	}
	if len(blocks) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	if err := f.agent.Release(ctx, api.ReleaseRequest{Job: f.id, Blocks: blocks, Ended: ended}); err != nil && f.Verbose {
		fmt.Fprintf(os.Stderr, "golaunch: %v\n", err)
	}
}
