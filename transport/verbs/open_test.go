package verbs

import (
	"os"
	"strings"
	"testing"
)

// TestOpenSaysWhatIsMissing holds where there is no device, with and without cgo.
func TestOpenSaysWhatIsMissing(t *testing.T) {
	if os.Getenv(requireVariable) != "" {
		t.Skip("there is a device")
	}
	e, err := Provider{Secret: make([]byte, 32), Loopback: true}.Open(alone())
	if err == nil {
		t.Skip("there is a device; closing: ", e.Close())
	}
	for _, reason := range []string{"without cgo", "infiniband/verbs.h", "libibverbs.so.1", "no RDMA", "not active"} {
		if strings.Contains(err.Error(), reason) {
			return
		}
	}
	t.Errorf("the error does not say what is missing: %v", err)
}
