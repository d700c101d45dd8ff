package member

import (
	"context"
	"log"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// memberlist writes lines, some of them because of packets that anybody can send. A
// liner makes records of them, no more than burst at once and one a second.
type liner struct {
	to *slog.Logger

	mu      sync.Mutex
	allowed float64
	last    time.Time
	dropped int
}

const (
	burst   = 20
	maxLine = 300 // bytes
)

func newLogger(to *slog.Logger) *log.Logger {
	return log.New(&liner{to: to, allowed: burst, last: time.Now()}, "", 0)
}

// Write takes one line.
func (l *liner) Write(b []byte) (int, error) {
	level, text := parseLine(string(b))
	if !l.to.Enabled(context.Background(), level) {
		return len(b), nil
	}
	dropped, ok := l.admit(time.Now())
	if !ok {
		return len(b), nil
	}
	args := []any{slog.String("from", "memberlist")}
	if dropped > 0 {
		args = append(args, slog.Int("dropped", dropped))
	}
	l.to.Log(context.Background(), level, text, args...)
	return len(b), nil
}

// admit reports whether a line may pass now, and how many did not before it.
func (l *liner) admit(now time.Time) (dropped int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.allowed = min(burst, l.allowed+now.Sub(l.last).Seconds())
	l.last = now
	if l.allowed < 1 {
		l.dropped++
		return 0, false
	}
	l.allowed--
	dropped, l.dropped = l.dropped, 0
	return dropped, true
}

// parseLine takes the level off a line. What memberlist calls an error is mostly a
// peer's doing, and never ours to repair.
func parseLine(line string) (slog.Level, string) {
	level := slog.LevelWarn
	line = strings.TrimSpace(line)
	if word, rest, ok := strings.Cut(line, "] "); ok && strings.HasPrefix(word, "[") {
		line = rest
		switch word {
		case "[DEBUG":
			level = slog.LevelDebug
		case "[INFO":
			level = slog.LevelInfo
		}
	}
	line = strings.TrimPrefix(line, "memberlist: ")
	if len(line) > maxLine {
		line = line[:maxLine] + "..."
	}
	return level, line
}
