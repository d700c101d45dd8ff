package agent

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/api"
)

// Jobs lists the jobs that this agent knows, or all.
func (a *Agent) Jobs(ctx context.Context, _ api.Caller, q api.JobsRequest) (api.JobsAnswer, error) {
	merged := merger{}
	merged.add(a.known())
	var answer api.JobsAnswer
	if q.All {
		var mu sync.Mutex
		ctx, cancel := context.WithTimeout(ctx, api.AskWait)
		defer cancel()
		each(a.others(), func(m Member) {
			got, err := a.peer(m).Jobs(ctx, api.JobsRequest{})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				answer.Silent = append(answer.Silent, err.Error())
			}
			merged.add(got.Jobs)
		})
	}
	slices.Sort(answer.Silent)
	answer.Jobs = merged.list()
	return answer, nil
}

// known are the jobs that this agent knows.
func (a *Agent) known() (list []api.Job) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for name, f := range a.fronts {
		list = append(list, api.Job{Name: name, Front: &f.Front})
	}
	for name, j := range a.jobs {
		list = append(list, api.Job{Name: name, Places: []api.Place{{Host: a.Name, PID: j.PID, Slots: j.Slots, Started: j.Started}}})
	}
	return list
}

// A merger puts together what several agents know of the same job.
type merger map[string]*api.Job

func (all merger) add(jobs []api.Job) {
	for _, j := range jobs {
		known := all[j.Name]
		if known == nil {
			known = &api.Job{Name: j.Name}
			all[j.Name] = known
		}
		known.Front = cmp.Or(known.Front, j.Front)
		known.Places = append(known.Places, j.Places...)
	}
}

// list is them all, the oldest first.
func (all merger) list() []api.Job {
	list := []api.Job{}
	for _, j := range all {
		slices.SortFunc(j.Places, func(x, y api.Place) int { return strings.Compare(x.Host, y.Host) })
		list = append(list, *j)
	}
	slices.SortFunc(list, func(x, y api.Job) int {
		return cmp.Or(began(x).Compare(began(y)), strings.Compare(x.Name, y.Name))
	})
	return list
}

// Kill ends a job: its golaunch is told, which sees to the rest. Where none is
// attached anywhere, the job's supervisors are told to end.
func (a *Agent) Kill(ctx context.Context, _ api.Caller, q api.KillRequest) (api.KillAnswer, error) {
	if !q.All {
		return a.killHere(q.Job)
	}
	ctx, cancel := context.WithTimeout(ctx, api.AskWait)
	defer cancel()
	jobs, err := a.Jobs(ctx, api.Caller{}, api.JobsRequest{All: true})
	if err != nil {
		return api.KillAnswer{}, err
	}
	answer := api.KillAnswer{Silent: jobs.Silent}
	i := slices.IndexFunc(jobs.Jobs, func(j api.Job) bool { return j.Name == q.Job })
	if i < 0 {
		return answer, api.Errorf(api.Unknown, "there is no job %s%s", q.Job, unless(jobs.Silent))
	}
	var mu sync.Mutex
	var errs []error
	each(a.holders(&jobs.Jobs[i]), func(m Member) {
		got, err := a.killAt(ctx, m, q.Job)
		mu.Lock()
		defer mu.Unlock()
		answer.Front = cmp.Or(answer.Front, got.Front)
		answer.Places = append(answer.Places, got.Places...)
		errs = append(errs, err)
	})
	slices.Sort(answer.Places)
	return answer, errors.Join(errs...)
}

func unless(silent []string) string {
	if len(silent) == 0 {
		return ""
	}
	return ", unless on a host that does not answer: " + strings.Join(silent, "; ")
}

// holders are the members to be told of a job's end: those that know its golaunch, or
// else those where it has ranks.
func (a *Agent) holders(j *api.Job) (list []Member) {
	for _, m := range append(a.others(), Member{Name: a.Name}) {
		at := func(p api.Place) bool { return p.Host == m.Name }
		if j.Front != nil && j.Front.Agent == m.Name || j.Front == nil && slices.ContainsFunc(j.Places, at) {
			list = append(list, m)
		}
	}
	return list
}

func (a *Agent) killAt(ctx context.Context, m Member, job string) (api.KillAnswer, error) {
	if m.Name == a.Name {
		return a.killHere(job)
	}
	return a.peer(m).Kill(ctx, api.KillRequest{Job: job})
}

func (a *Agent) killHere(name string) (answer api.KillAnswer, err error) {
	a.mu.Lock()
	f, j := a.fronts[name], a.jobs[name]
	if f != nil {
		f.tell(api.Notice{Kill: true})
	}
	a.mu.Unlock()
	switch {
	case f != nil:
		answer.Front = f.Host
	case j != nil:
		answer.Places, err = []string{a.Name}, j.process.signal(syscall.SIGTERM)
	default:
		err = api.Errorf(api.Unknown, "job %s is not here", name)
	}
	a.Log.Info("job killed", "job", name, "error", err)
	return answer, err
}

// began is when a job began, as far as that is known.
func began(j api.Job) time.Time {
	var first time.Time
	if j.Front != nil {
		first = j.Front.Started
	}
	for _, p := range j.Places {
		if first.IsZero() || p.Started.Before(first) {
			first = p.Started
		}
	}
	return first
}
