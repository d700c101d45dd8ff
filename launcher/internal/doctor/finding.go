package doctor

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// A Status is how good something is.
type Status string

// The statuses.
const (
	OK   Status = "ok"
	Warn Status = "warn" // it works, but maybe not always or not as wanted
	Fail Status = "fail" // it does not work
)

// A Finding is what was found about one thing.
type Finding struct {
	Check  string `json:"check"` // what was looked at: "key", "port 7946/udp"
	Status Status `json:"status"`
	Found  string `json:"found"`
	// Advice is what to change; "" if nothing need be.
	Advice string `json:"advice,omitempty"`
}

func ok(check, found string, args ...any) Finding {
	return Finding{check, OK, fmt.Sprintf(found, args...), ""}
}

func warn(check, advice, found string, args ...any) Finding {
	return Finding{check, Warn, fmt.Sprintf(found, args...), advice}
}

func fail(check, advice, found string, args ...any) Finding {
	return Finding{check, Fail, fmt.Sprintf(found, args...), advice}
}

// Healthy reports whether nothing has failed.
func Healthy(findings []Finding) bool {
	return !slices.ContainsFunc(findings, func(f Finding) bool { return f.Status == Fail })
}

// WriteTable writes findings for people.
func WriteTable(w io.Writer, findings []Finding) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range findings {
		fmt.Fprintf(t, "%s\t%s\t%s\n", f.Status, f.Check, oneLine(f.Found))
		if f.Advice != "" {
			fmt.Fprintf(t, "\t\t  -> %s\n", oneLine(f.Advice))
		}
	}
	return t.Flush()
}

// oneLine keeps what a peer or the system says from spoiling the table.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
}

// WriteJSON writes findings for programs: one object.
func WriteJSON(w io.Writer, findings []Finding) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		Healthy  bool      `json:"healthy"`
		Findings []Finding `json:"findings"`
	}{Healthy(findings), findings})
}
