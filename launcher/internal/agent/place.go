package agent

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/api"
	"github.com/golaunch/golaunch/launcher/internal/placement"
	"github.com/golaunch/golaunch/launcher/internal/slots"
)

// placeTries is how often a placement is tried whose slots others took first.
const placeTries = 6

// Nodes lists the members, and what each says of itself.
func (a *Agent) Nodes(ctx context.Context, _ api.Caller, _ api.NodesRequest) (api.NodesAnswer, error) {
	ctx, cancel := context.WithTimeout(ctx, api.AskWait)
	defer cancel()
	members := a.members.Members()
	nodes := make([]api.Node, len(members))
	each(indices(members), func(i int) {
		m := members[i]
		nodes[i] = api.Node{Name: m.Name, Address: m.Address, State: m.State}
		if h, err := a.ask(ctx, m, api.HostRequest{}); err == nil {
			nodes[i].Host = &h
		} else {
			nodes[i].Problem = err.Error()
		}
	})
	slices.SortFunc(nodes, func(a, b api.Node) int { return strings.Compare(a.Name, b.Name) })
	return api.NodesAnswer{Nodes: nodes}, nil
}

func indices[M any](list []M) []int {
	all := make([]int, len(list))
	for i := range all {
		all[i] = i
	}
	return all
}

// ask asks a member of its host.
func (a *Agent) ask(ctx context.Context, m Member, q api.HostRequest) (api.Host, error) {
	if m.Name == a.Name {
		return a.host(q), nil
	}
	if why := m.unable(); why != "" {
		return api.Host{}, errors.New(why)
	}
	return a.peer(m).Host(ctx, q)
}

// A survey is what the members have said of their hosts.
type survey struct {
	hosts  []api.Host
	silent []string
}

// survey asks every member that may answer.
func (a *Agent) survey(ctx context.Context, q api.HostRequest) (s survey) {
	ctx, cancel := context.WithTimeout(ctx, api.AskWait)
	defer cancel()
	members := a.others()
	hosts, errs := make([]api.Host, len(members)), make([]error, len(members))
	each(indices(members), func(i int) { hosts[i], errs[i] = a.ask(ctx, members[i], q) })
	s.hosts = append(s.hosts, a.host(q))
	for i, h := range hosts {
		if errs[i] == nil && h.Name != members[i].Name {
			errs[i] = errors.New("another host, " + h.Name + ", answers for " + members[i].Name)
		}
		if errs[i] != nil {
			s.silent = append(s.silent, errs[i].Error())
			continue
		}
		h.Address = members[i].Address
		if h.Version != a.Version {
			h.Lacks = fmt.Sprintf("has version %s of golaunch, and %s has %s", h.Version, a.Name, a.Version)
		}
		s.hosts = append(s.hosts, h)
	}
	return s
}

// block is where ranks go, with a new token.
func (s *survey) block(b placement.Block) api.Block {
	i := slices.IndexFunc(s.hosts, func(h api.Host) bool { return h.Name == b.Host })
	return api.Block{Host: b.Host, Address: s.hosts[i].Address, Ranks: b.Ranks, Token: newToken(), Staged: s.hosts[i].Staged, Jobs: s.hosts[i].Jobs}
}

// Place places a job's ranks over the cluster and reserves their slots. Where others
// take slots first that it has seen free, it looks again.
func (a *Agent) Place(ctx context.Context, _ api.Caller, q api.PlaceRequest) (api.PlaceAnswer, error) {
	for try := 1; ; try++ {
		s := a.survey(ctx, api.HostRequest{Needs: q.Needs, Blobs: q.Blobs})
		answer := api.PlaceAnswer{Agent: a.Name, Address: a.address, Advertise: a.ip, Profile: a.Profile, Silent: s.silent}
		answer.Hold = cmp.Or(q.Hold, a.Hold)
		blocks, err := place(q, s.hosts)
		if err != nil {
			return answer, unplaced(err, s.silent)
		}
		for _, b := range blocks {
			answer.Blocks = append(answer.Blocks, s.block(b))
		}
		if q.DryRun {
			return answer, nil
		}
		q.Hold = answer.Hold
		if err = a.claim(ctx, q, answer.Blocks); err == nil || try == placeTries || ctx.Err() != nil {
			return answer, err
		}
		a.Log.Debug("slots were taken meanwhile", "job", q.Job, "try", try, "error", err)
		pause(ctx, time.Duration(mathrand.IntN(20<<try))*time.Millisecond)
	}
}

// pause waits so long, so that launches that race do not meet again.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

func place(q api.PlaceRequest, hosts []api.Host) ([]placement.Block, error) {
	w := placement.Wish{Ranks: q.Ranks, Policy: placement.Policy(q.Policy), PerHost: q.PerHost, Hosts: q.Hosts, Labels: q.Labels, Oversubscribe: q.Oversubscribe}
	var known []placement.Host
	for _, h := range hosts {
		known = append(known, placement.Host{Name: h.Name, Slots: h.Slots, Free: h.Free, Cores: h.Cores, Load: h.Load, Labels: h.Labels, Lacks: h.Lacks})
	}
	return placement.Place(w, known)
}

// unplaced says why ranks were not placed, and who was not there to take them.
func unplaced(err error, silent []string) error {
	var lack *placement.LackError
	if !errors.As(err, &lack) {
		return api.Errorf(api.BadRequest, "%v", err)
	}
	text := err.Error()
	for _, s := range silent {
		text += "\n  " + s
	}
	return api.Errorf(api.NoRoom, "%s", text)
}

func newToken() string {
	b := make([]byte, 16)
	rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// claim reserves all of the blocks, or none.
func (a *Agent) claim(ctx context.Context, q api.PlaceRequest, blocks []api.Block) error {
	byHost := map[string]api.Block{}
	var hosts []string
	for _, b := range blocks {
		byHost[b.Host] = b
		hosts = append(hosts, b.Host)
	}
	type answered struct {
		host string
		err  error
	}
	claim, messages := slots.NewClaim(hosts)
	answers := make(chan answered)
	for _, m := range messages {
		b := byHost[m.Host]
		go func() { answers <- answered{b.Host, a.reserve(ctx, q, b)} }()
	}
	var errs []error
	var release []slots.Message
	for range messages {
		got := <-answers
		if got.err != nil {
			errs = append(errs, got.err)
		}
		release = append(release, claim.Answered(got.host, answerOf(got.err))...)
	}
	var give []api.Block
	for _, m := range release {
		give = append(give, byHost[m.Host])
	}
	if len(give) > 0 {
		a.releaseAll(api.ReleaseRequest{Job: q.Job, Blocks: give})
	}
	if _, holds := claim.Decided(); holds {
		return nil
	}
	return api.Errorf(api.NoRoom, "%v", errors.Join(errs...))
}

// answerOf is what an answer to a reservation means.
func answerOf(err error) slots.Answer {
	switch {
	case err == nil:
		return slots.Granted
	case api.KindOf(err) == api.Unreached:
		return slots.Unknown
	}
	return slots.Refused
}

// reserve reserves a block on its host.
func (a *Agent) reserve(ctx context.Context, q api.PlaceRequest, b api.Block) error {
	r := api.ReserveRequest{Job: q.Job, Token: b.Token, Slots: b.Ranks, Oversubscribe: q.Oversubscribe, Hold: q.Hold}
	if b.Host == a.Name {
		_, err := a.Reserve(ctx, api.Caller{}, r)
		return err
	}
	// The others' time runs while one does not answer.
	ctx, cancel := context.WithTimeout(ctx, min(api.AskWait, q.Hold/2))
	defer cancel()
	return a.peer(Member{Name: b.Host, Address: b.Address}).Reserve(ctx, r)
}

// Reserve reserves slots of this host.
func (a *Agent) Reserve(_ context.Context, _ api.Caller, q api.ReserveRequest) (api.Empty, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	err := a.slots.Reserve(slots.Request{Job: q.Job, Token: q.Token, Slots: q.Slots, Over: q.Oversubscribe, Until: now + slots.Instant(q.Hold)}, now)
	if err != nil {
		return api.Empty{}, api.Errorf(api.NoRoom, "host %s: %v", a.Name, err)
	}
	return api.Empty{}, nil
}
