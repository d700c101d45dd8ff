package launcher

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/api"
)

// NodesOptions say how the members of a cluster are shown.
type NodesOptions struct {
	Access
	JSON bool
	// Watch shows them again and again, so often; 0: once.
	Watch time.Duration
}

// RunNodes prints the members of the cluster and returns golaunch's exit code.
func RunNodes(o NodesOptions) int {
	return o.ask("nodes", func(ctx context.Context, c *api.Client) error {
		for {
			short, cancel := context.WithTimeout(ctx, 2*api.AskWait)
			answer, err := c.Nodes(short, api.NodesRequest{})
			cancel()
			if err != nil {
				return err
			}
			if err := o.show(answer.Nodes); err != nil || o.Watch == 0 {
				return err
			}
			select {
			case <-time.After(o.Watch):
			case <-ctx.Done():
				return nil
			}
		}
	})
}

// untilInterrupted is done when a signal asks this process to end.
func untilInterrupted() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
}

// clearScreen moves to the top left of a terminal and clears what is there.
const clearScreen = "\x1b[H\x1b[2J"

func (o *NodesOptions) show(nodes []api.Node) error {
	if o.JSON {
		return json.NewEncoder(os.Stdout).Encode(nodes)
	}
	if o.Watch > 0 && isTerminal(os.Stdout) {
		fmt.Print(clearScreen)
	}
	return nodesTable(os.Stdout, nodes)
}

func nodesTable(w io.Writer, nodes []api.Node) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "HOST\tSTATE\tADDRESS\tFREE\tSLOTS\tCORES\tMEMORY\tLOAD\tPLATFORM\tVERSION\tLABELS\tDEVICES")
	for _, n := range nodes {
		if h := n.Host; h != nil {
			fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d\t%d\t%.1f GB\t%.2f\t%s/%s\t%s\t%s\t%s\n", n.Name, n.State, n.Address, h.Free, h.Slots, h.Cores,
				float64(h.Memory)/1e9, h.Load, h.OS, h.Arch, h.Version, labelsText(h.Labels), strings.Join(h.Devices, ","))
		} else {
			fmt.Fprintf(t, "%s\t%s\t%s%s\t\n", n.Name, n.State, n.Address, strings.Repeat("\t-", 8))
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return nodeProblems(w, nodes)
}

// nodeProblems says why there is nothing to tell of a member, unless its state does.
func nodeProblems(w io.Writer, nodes []api.Node) error {
	for _, n := range nodes {
		if n.Problem != "" && n.Problem != n.State {
			if _, err := fmt.Fprintf(w, "%s: %s\n", n.Name, n.Problem); err != nil {
				return err
			}
		}
	}
	return nil
}

func labelsText(labels map[string]string) string {
	var list []string
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		list = append(list, k+"="+labels[k])
	}
	return strings.Join(list, ",")
}
