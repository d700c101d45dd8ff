package machine

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of /proc/stat: USER_HZ is 100 on every architecture.
const tick = time.Second / 100

// Busy is how long the machine's cores have worked since it started, all of them
// together. Time that a hypervisor gave to others counts as work.
func Busy() (time.Duration, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	return parseBusy(string(text))
}

// parseBusy reads the first line of /proc/stat: user, nice, system, idle, iowait,
// irq, softirq, steal, and others that are parts of these.
func parseBusy(stat string) (time.Duration, error) {
	const idle, iowait, steal = 3, 4, 7
	first, _, _ := strings.Cut(stat, "\n")
	fields := strings.Fields(first)
	if len(fields) < 2+steal || fields[0] != "cpu" {
		return 0, fmt.Errorf("/proc/stat begins with %.80q", first)
	}
	var ticks int64
	for i, field := range fields[1 : 2+steal] {
		n, err := strconv.ParseInt(field, 10, 53)
		if err != nil {
			return 0, fmt.Errorf("/proc/stat: %w", err)
		}
		if i != idle && i != iowait {
			ticks += n
		}
	}
	return time.Duration(ticks) * tick, nil
}
