package tree

import "slices"

// consider follows news of who is attached where.
func (r *Root) consider(facts []Fact) {
	for _, f := range facts {
		switch {
		case f.Over && f.Dead:
			r.lose(f.Host, f.Text, true)
		case !f.Over:
			r.arrived(f)
		}
		r.subtree(f.Host, r.review)
	}
}

// arrived follows an attachment: is it a new host, or one that is sent away?
func (r *Root) arrived(f Fact) {
	if r.sessions[f.Host] != nil {
		return
	}
	if _, over := r.ended[f.Host]; !over && r.full {
		r.ended[f.Host] = "the job has its hosts"
	}
	why, over := r.ended[f.Host]
	if over { // it may carry others' frames nevertheless
		r.forward(Frame{Kind: Reject, Host: f.Host, Text: why})
		return
	}
	r.sessions[f.Host] = &session{all: r.backlog.end()}
	r.events = append(r.events, Event{Kind: Joined, Host: f.Host, Text: f.Text})
}

// review looks whether there is a way to a host that had another one, and has its
// records sent again.
func (r *Root) review(host ID) {
	s := r.sessions[host]
	if s == nil {
		return
	}
	if path := r.path(host); path != nil {
		delete(r.apart, host)
		r.resync(host, s, path)
	} else if _, known := r.apart[host]; !known {
		r.apart[host] = r.now + r.patience
	}
}

func (r *Root) resync(host ID, s *session, path []Hop) {
	r.forward(Frame{Kind: Resync, Host: host, Seq: s.acked, Ack: r.told(s), Path: path})
	s.each(&r.backlog, func(data []byte) {
		r.forward(Frame{Kind: Down, Host: host, Ack: s.accepted, Data: data})
	})
}

// lose gives a host up.
func (r *Root) lose(host ID, why string, dead bool) {
	if r.sessions[host] != nil {
		r.events = append(r.events, Event{Kind: Lost, Host: host, Text: why, Dead: dead})
		r.end(host, "it was given up: "+why)
	}
}

// Dead says that somebody else is sure that a host is dead. It is lost at once if
// there is no way to it, and spared otherwise.
func (r *Root) Dead(host ID) {
	if _, apart := r.apart[host]; apart {
		r.lose(host, r.why(host), false)
	}
}

// Apart reports whether Tick has anything to wait for.
func (r *Root) Apart() bool { return len(r.apart) > 0 }

// Tick tells the root the time. Hosts that have been without a way to it for too
// long are lost.
func (r *Root) Tick(now Instant) {
	r.now = now
	var late []ID
	for host, at := range r.apart {
		if at <= now {
			late = append(late, host)
		}
	}
	slices.Sort(late)
	for _, host := range late {
		r.lose(host, r.why(host), false)
	}
}
