package collectives

import "github.com/golaunch/golaunch/collectives/schedule"

// A program is a schedule made ready to be carried out.
type program struct {
	plan   schedule.Plan
	steps  []schedule.Step
	temp   int       // elements
	waits  []int32   // by step: for how many others it waits
	follow [][]int32 // by step: those that wait for it
	local  []int32   // steps without a peer that wait for nothing
	sends  []stream  // what goes to each peer
	recvs  []stream
}

// A stream is the steps that use one pipe, in order.
type stream struct {
	peer  int
	steps []int32
}

// keptPrograms is how many programs a communicator keeps.
const keptPrograms = 16

// program gives the program of a plan: a recent one, or a new one.
func (e *engine) program(plan schedule.Plan) (*program, error) {
	for i, p := range e.programs {
		if p.plan == plan {
			copy(e.programs[1:i+1], e.programs[:i])
			e.programs[0] = p
			return p, nil
		}
	}
	s, err := plan.Schedule(e.me)
	if err != nil {
		return nil, err
	}
	p := compile(plan, s)
	e.programs = append([]*program{p}, e.programs[:min(len(e.programs), keptPrograms-1)]...)
	return p, nil
}

func compile(plan schedule.Plan, s schedule.Schedule) *program {
	n := len(s.Steps)
	p := &program{plan: plan, steps: s.Steps, temp: s.Temp, waits: make([]int32, n), follow: make([][]int32, n)}
	for i, step := range s.Steps {
		p.waits[i] = int32(len(step.After))
		for _, d := range step.After {
			p.follow[d] = append(p.follow[d], int32(i))
		}
		p.enlist(int32(i), step)
	}
	return p
}

// enlist adds a step to its stream.
func (p *program) enlist(i int32, step schedule.Step) {
	switch step.Kind {
	case schedule.Send:
		p.sends = appendStep(p.sends, step.Peer, i)
	case schedule.Recv, schedule.RecvReduce:
		p.recvs = appendStep(p.recvs, step.Peer, i)
	default:
		if len(step.After) == 0 {
			p.local = append(p.local, i)
		}
	}
}

func appendStep(streams []stream, peer int, step int32) []stream {
	for i := range streams {
		if streams[i].peer == peer {
			streams[i].steps = append(streams[i].steps, step)
			return streams
		}
	}
	return append(streams, stream{peer, []int32{step}})
}
