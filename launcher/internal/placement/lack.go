package placement

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A LackError says that hosts have too few free slots, and what each of them has.
type LackError struct {
	Ranks, Room int
	// Hosts says why a host takes no more, one line a host, by name.
	Hosts []string
}

func (e *LackError) Error() string {
	text := fmt.Sprintf("%s cannot be placed, there is room for %d", ranksOf(e.Ranks), e.Room)
	if len(e.Hosts) == 0 {
		return text + ": there is no host"
	}
	return text + ":\n  " + strings.Join(e.Hosts, "\n  ")
}

func ranksOf(n int) string {
	if n == 1 {
		return "1 rank"
	}
	return fmt.Sprint(n, " ranks")
}

// check finds what no hosts could change.
func (w *Wish) check(hosts []Host) error {
	switch {
	case w.Ranks < 1:
		return fmt.Errorf("there are %d ranks to be placed", w.Ranks)
	case w.PerHost < 0:
		return fmt.Errorf("a host may have %d ranks", w.PerHost)
	case !slices.Contains(Policies, w.Policy):
		return fmt.Errorf("%q is no way to place ranks: it is one of %v", w.Policy, Policies)
	}
	for i, name := range w.Hosts {
		if slices.Contains(w.Hosts[:i], name) {
			return fmt.Errorf("host %s is named twice", name)
		}
		if !slices.ContainsFunc(hosts, func(h Host) bool { return h.Name == name }) {
			return fmt.Errorf("there is no host %s: the hosts are %s", name, names(hosts))
		}
	}
	return nil
}

func names(hosts []Host) string {
	var list []string
	for _, h := range hosts {
		list = append(list, h.Name)
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// unfit says why a host may take no rank, "" if it may.
func (w *Wish) unfit(h *Host) string {
	if len(w.Hosts) > 0 && !slices.Contains(w.Hosts, h.Name) {
		return "not asked for"
	}
	for _, name := range slices.Sorted(maps.Keys(w.Labels)) {
		switch value, has := h.Labels[name]; {
		case !has:
			return fmt.Sprintf("has no label %s", name)
		case value != w.Labels[name]:
			return fmt.Sprintf("has label %s=%s and not %s", name, value, w.Labels[name])
		}
	}
	return h.Lacks
}

// lack says what is lacking. room is that of the candidates.
func (w *Wish) lack(hosts, candidates []Host, room []int) error {
	e := &LackError{Ranks: w.Ranks, Room: sum(room)}
	for _, h := range hosts {
		why := w.unfit(&h)
		if why == "" {
			why = fmt.Sprintf("%d of %d slots free", max(h.Free, 0), h.Slots)
		}
		i := slices.IndexFunc(candidates, func(c Host) bool { return c.Name == h.Name })
		if i >= 0 && w.PerHost > 0 && (room[i] < h.Free || w.Oversubscribe) {
			why += fmt.Sprintf(", and no more than %s to a host", ranksOf(w.PerHost))
		}
		e.Hosts = append(e.Hosts, h.Name+": "+why)
	}
	return e
}
