package api

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"unicode"

	"github.com/golaunch/golaunch/launcher/internal/stage/manifest"
)

// Limits of what is asked, beyond which nobody means it.
const (
	// MaxBody is the length of the longest request or answer in bytes.
	MaxBody = 16 << 20
	// MaxHosts is how many hosts a launch may have.
	MaxHosts = 1 << 17
	// MaxRanks is how many ranks a launch may have.
	MaxRanks  = 1 << 16
	maxName   = 255
	maxText   = 64 << 10
	maxLabels = 64
	maxNeeds  = 64
	maxDepth  = 32 // of the tree of a spawn
	maxBlobs  = maxNeeds + manifest.MaxFiles
)

// CheckHost finds what is wrong with a host's name: it has 1 to 255 letters, digits,
// dots, hyphens and underscores.
func CheckHost(name string) error { return checkWord("host", name, maxName) }

// CheckJob finds what is wrong with a job's name.
func CheckJob(name string) error { return checkWord("job", name, 32) }

// CheckLabel finds what is wrong with a label.
func CheckLabel(name, value string) error {
	if err := checkWord("label", name, maxName); err != nil {
		return err
	}
	return checkText("the value of label "+name, value, maxName)
}

func checkLabels(labels map[string]string) error {
	if len(labels) > maxLabels {
		return fmt.Errorf("there are %d labels, and can be %d", len(labels), maxLabels)
	}
	for name, value := range labels {
		if err := CheckLabel(name, value); err != nil {
			return err
		}
	}
	return nil
}

// checkWord checks what is to be in file names, tables and log lines.
func checkWord(what, s string, longest int) error {
	if s == "" || len(s) > longest {
		return fmt.Errorf("a %s's name has 1 to %d bytes, and not %d", what, longest, len(s))
	}
	for _, c := range s {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("._-", c)) {
			return fmt.Errorf("%q is no %s's name: %q is in it", s, what, c)
		}
	}
	if s[0] == '.' || s[0] == '-' {
		return fmt.Errorf("%q is no %s's name: it begins with %q", s, what, s[0])
	}
	return nil
}

// checkText checks what is shown to somebody.
func checkText(what, s string, longest int) error {
	if len(s) > longest {
		return fmt.Errorf("%s has %d bytes, and may have %d", what, len(s), longest)
	}
	if strings.ContainsFunc(s, func(c rune) bool { return unicode.IsControl(c) || c == unicode.ReplacementChar }) {
		return fmt.Errorf("%s is %q", what, s)
	}
	return nil
}

func checkToken(token string) error { return checkWord("reservation", token, 64) }

// checkAddress checks a host:port that can be dialled.
func checkAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil || host == "" || len(address) > maxName {
		return fmt.Errorf("%q is no address: want host:port", address)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return fmt.Errorf("%q is no address: its port is not 1 to 65535", address)
	}
	return nil
}

func checkRanks(n int) error {
	if n < 1 || n > MaxRanks {
		return fmt.Errorf("the number of ranks is 1 to %d, and not %d", MaxRanks, n)
	}
	return nil
}

var errTooMany = errors.New("there are more hosts than a launch can have")
