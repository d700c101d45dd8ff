package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// barWidth is the length of the longest bar in the table of the commonest.
const barWidth = 32

// writeText prints the result for a person.
func writeText(w io.Writer, r *result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s different, in %s of %.1f MB\n\n",
		counted(r.Identifiers, "identifier"), grouped(r.Distinct), counted(r.Files, "file"), float64(r.Bytes)/1e6)
	writeTop(&b, r)
	writeRanks(&b, r)
	fmt.Fprintf(&b, "%.2f s: %s files/s, %.2f million identifiers/s\n",
		r.Seconds, grouped(uint64(perSecond(r.Files, r.Seconds))), perSecond(r.Identifiers, r.Seconds)/1e6)
	if r.Verified != nil && *r.Verified {
		fmt.Fprintf(&b, "verified: a serial count, in %.2f s, agrees on all %s different identifiers\n",
			r.SerialSeconds, grouped(r.Distinct))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeTop(b *strings.Builder, r *result) {
	if len(r.Top) == 0 {
		return
	}
	name, most := 0, r.Top[0].Count
	for _, w := range r.Top {
		name = max(name, len([]rune(w.Name)))
	}
	for i, w := range r.Top {
		fmt.Fprintf(b, "%4d  %-*s %11s  %s\n", i+1, name, w.Name, grouped(w.Count), bar(w.Count, most))
	}
	b.WriteByte('\n')
}

// bar is n of most, drawn with a resolution of an eighth of a character.
func bar(n, most uint64) string {
	eighths := int(float64(n) / float64(most) * barWidth * 8)
	part := []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}[eighths%8]
	return strings.Repeat("█", eighths/8) + part
}

func writeRanks(b *strings.Builder, r *result) {
	fmt.Fprintf(b, "%4s %9s %9s %13s %7s %9s\n", "rank", "files", "MB", "identifiers", "share", "counting")
	for rank, t := range r.Ranks {
		fmt.Fprintf(b, "%4d %9s %9.1f %13s %5.1f %% %7.2f s\n", rank, grouped(t.Files), float64(t.Bytes)/1e6,
			grouped(t.Identifiers), 100*share(t, r), float64(t.Nanoseconds)/1e9)
	}
	b.WriteByte('\n')
}

// share is the part of all bytes that a rank has read.
func share(t tally, r *result) float64 {
	if r.Bytes == 0 {
		return 0
	}
	return float64(t.Bytes) / float64(r.Bytes)
}

// perSecond is 0 when no time has passed.
func perSecond(n uint64, seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	return float64(n) / seconds
}

// counted writes a number of things.
func counted(n uint64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return grouped(n) + " " + thing
}

// grouped writes n with a comma between groups of three digits.
func grouped(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

type rankJSON struct {
	Rank        int     `json:"rank"`
	Files       uint64  `json:"files"`
	Bytes       uint64  `json:"bytes"`
	Identifiers uint64  `json:"identifiers"`
	Share       float64 `json:"share"`
	Seconds     float64 `json:"seconds"`
}

type resultJSON struct {
	Files                uint64     `json:"files"`
	Bytes                uint64     `json:"bytes"`
	Identifiers          uint64     `json:"identifiers"`
	Distinct             uint64     `json:"distinct"`
	Seconds              float64    `json:"seconds"`
	FilesPerSecond       float64    `json:"files_per_s"`
	IdentifiersPerSecond float64    `json:"identifiers_per_s"`
	Verified             *bool      `json:"verified,omitempty"`
	Ranks                []rankJSON `json:"ranks"`
	Top                  []word     `json:"top"`
}

// writeJSON prints the result as one object on one line.
func writeJSON(w io.Writer, r *result) error {
	ranks := make([]rankJSON, len(r.Ranks))
	for i, t := range r.Ranks {
		ranks[i] = rankJSON{i, t.Files, t.Bytes, t.Identifiers, share(t, r), float64(t.Nanoseconds) / 1e9}
	}
	top := r.Top
	if top == nil {
		top = []word{} // an array also when it is empty
	}
	return json.NewEncoder(w).Encode(resultJSON{r.Files, r.Bytes, r.Identifiers, r.Distinct, r.Seconds,
		perSecond(r.Files, r.Seconds), perSecond(r.Identifiers, r.Seconds), r.Verified, ranks, top})
}
