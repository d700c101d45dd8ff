package keys

import (
	"os"
	"path/filepath"
)

// UsualPath is where the cluster's key is if nothing else is said: GOLAUNCH_KEY_FILE of
// the environment, or /etc/golaunch/key for root and golaunch/key in the directory of
// their configuration for others.
func UsualPath() (string, error) {
	if path := os.Getenv("GOLAUNCH_KEY_FILE"); path != "" {
		return path, nil
	}
	if os.Geteuid() == 0 {
		return "/etc/golaunch/key", nil
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "golaunch", "key"), nil
}
