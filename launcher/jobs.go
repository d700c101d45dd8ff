package launcher

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/golaunch/golaunch/launcher/internal/api"
)

// JobsOptions say how the jobs of a cluster are shown.
type JobsOptions struct {
	Access
	JSON bool
}

// RunJobs prints the jobs of the cluster and returns golaunch's exit code.
func RunJobs(o JobsOptions) int {
	return o.ask("ps", func(ctx context.Context, c *api.Client) error {
		ctx, cancel := context.WithTimeout(ctx, 2*api.AskWait)
		defer cancel()
		answer, err := c.Jobs(ctx, api.JobsRequest{All: true})
		if err != nil {
			return err
		}
		if o.JSON {
			return json.NewEncoder(os.Stdout).Encode(answer)
		}
		for _, s := range answer.Silent {
			fmt.Fprintln(os.Stderr, "golaunch: ps:", s)
		}
		return jobsTable(os.Stdout, answer.Jobs, time.Now())
	})
}

func jobsTable(w io.Writer, jobs []api.Job, now time.Time) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "JOB\tRANKS\tFROM\tUSER\tSINCE\tHOSTS\tCOMMAND")
	for _, j := range jobs {
		f := api.Front{Host: "?", User: "?", Command: "?"}
		if j.Front != nil {
			f = *j.Front
		}
		if f.Detached {
			f.Host += " (detached)"
		}
		ranks, since, hosts := 0, f.Started, []string{}
		for _, p := range j.Places {
			ranks += p.Slots
			hosts = append(hosts, fmt.Sprintf("%s:%d", p.Host, p.Slots))
			if since.IsZero() {
				since = p.Started
			}
		}
		if f.Ranks > 0 {
			ranks = f.Ranks
		}
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\t%s\n", j.Name, ranks, f.Host, f.User, ago(now.Sub(since)), strings.Join(hosts, ","), printable(f.Command))
	}
	return t.Flush()
}

// printable is what a terminal shows as it is.
func printable(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, s)
}

// ago is a time in two units at most.
func ago(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd%02dh", int(d.Hours())/24, int(d.Hours())%24)
}

// KillOptions name a job to be ended.
type KillOptions struct {
	Access
	Job string
}

// RunKill ends a job and returns golaunch's exit code.
func RunKill(o KillOptions) int {
	return o.ask("kill", func(ctx context.Context, c *api.Client) error {
		ctx, cancel := context.WithTimeout(ctx, 4*api.AskWait)
		defer cancel()
		answer, err := c.Kill(ctx, api.KillRequest{Job: o.Job, All: true})
		for _, s := range answer.Silent {
			fmt.Fprintln(os.Stderr, "golaunch: kill:", s)
		}
		if err == nil && answer.Front == "" {
			fmt.Fprintf(os.Stderr, "golaunch: kill: no golaunch of job %s was found; what runs of it on %s was told to end\n", o.Job, strings.Join(answer.Places, ", "))
		}
		return err
	})
}

// LogsOptions name a job whose output is to be shown.
type LogsOptions struct {
	Access
	Job    string
	Follow bool // until the job ends
}

// RunLogs prints the output of a detached job and returns golaunch's exit code.
func RunLogs(o LogsOptions) int {
	return o.ask("logs", func(ctx context.Context, c *api.Client) error {
		return c.Logs(ctx, api.LogsRequest{Job: o.Job, Follow: o.Follow, All: true}, os.Stdout)
	})
}
