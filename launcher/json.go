package launcher

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/golaunch/golaunch/launcher/boot"
	"github.com/golaunch/golaunch/launcher/internal/lifecycle"
)

// jsonJob is the report of --json. docs/launching.md explains the fields.
type jsonJob struct {
	Job      string     `json:"job"`
	Version  string     `json:"version"`
	Outcome  string     `json:"outcome"`
	ExitCode int        `json:"exit_code"`
	Rank     *int       `json:"rank,omitempty"`
	Reason   string     `json:"reason,omitempty"`
	Wall     float64    `json:"wall_s"`
	Paths    jsonPaths  `json:"paths,omitempty"`
	Ranks    []jsonRank `json:"ranks"`
}

type jsonRank struct {
	Rank       int      `json:"rank"`
	Host       string   `json:"host"`
	Program    string   `json:"program"`
	PID        int      `json:"pid,omitempty"`
	State      string   `json:"state"`
	Joined     bool     `json:"joined"`
	Left       bool     `json:"left"`
	ExitCode   *int     `json:"exit_code,omitempty"`
	Signal     string   `json:"signal,omitempty"`
	CoreDumped bool     `json:"core_dumped,omitempty"`
	Failure    string   `json:"failure,omitempty"`
	Stderr     []string `json:"last_stderr,omitempty"`
	Wall       float64  `json:"wall_s"`
	User       float64  `json:"user_s"`
	System     float64  `json:"system_s"`
	MaxRSS     int64    `json:"max_rss_bytes"`

	Paths jsonPaths `json:"paths,omitempty"`
}

// writeJSON writes the report of --json, if it is wanted.
func (f *front) writeJSON(v lifecycle.Verdict) error {
	if f.Report == "" {
		return nil
	}
	text, err := json.Marshal(f.jsonReport(v))
	if err != nil {
		return err
	}
	text = append(text, '\n')
	if f.Report == "-" {
		f.output.say(false, string(text))
		return nil
	}
	return os.WriteFile(f.Report, text, 0o666)
}

func (f *front) jsonReport(v lifecycle.Verdict) jsonJob {
	j := jsonJob{Job: f.id, Version: boot.Version, Outcome: v.Outcome.String(), ExitCode: v.Code, Reason: v.Text,
		Wall: f.now().Seconds()}
	if v.Rank >= 0 {
		j.Rank = &v.Rank
	}
	if v.Signal != 0 {
		j.Reason = fmt.Sprint("received ", signalName(v.Signal))
	}
	for rank := range f.ranks {
		j.Ranks = append(j.Ranks, f.jsonRank(rank))
	}
	if f.Stats {
		j.Paths = f.allPaths()
	}
	return j
}

func (f *front) jsonRank(rank int) jsonRank {
	info, r := &f.ranks[rank], f.job.Ranks()[rank]
	j := jsonRank{Rank: rank, Host: f.hostOf(rank).name, Program: info.program, PID: info.pid,
		State: state(&r), Joined: r.HasJoined, Left: r.HasLeft}
	if f.Stats {
		j.Paths = info.paths()
	}
	if r.Failure != lifecycle.None {
		j.Failure, j.Stderr = f.failure(rank), info.stderr.Lines()
	}
	e := info.exit
	if e == nil {
		return j
	}
	j.Wall, j.User, j.System, j.MaxRSS = seconds(e.Wall), seconds(e.User), seconds(e.System), e.MaxRSS
	if e.Signal == 0 {
		j.ExitCode = &e.Code
	} else {
		j.Signal, j.CoreDumped = signalName(e.Signal), e.CoreDumped
	}
	return j
}

// state says in one word what became of a rank.
func state(r *lifecycle.Rank) string {
	switch {
	case r.Failure != lifecycle.None:
		return "failed"
	case r.Stopped:
		return "stopped"
	case r.Ended:
		return "ended"
	case r.HasJoined:
		return "running"
	}
	return "not started"
}
