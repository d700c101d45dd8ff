package far

import (
	"context"
	"errors"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/golaunch/golaunch/transport"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open opens a Far for a job of one rank, which is closed when the test ends.
func open(t *testing.T, o Options, prepare func(*Far) error) (*Far, error) {
	o.Secret, o.Job, o.Version, o.Loopback = make([]byte, 32), "test", "1", true
	f, err := Open(o, transport.Config{
		Size: 1, Ring: func(int) {}, Wait: func(context.Context, int, func() bool) error { return nil },
	}, prepare)
	if err == nil {
		t.Cleanup(func() {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return f, err
}

// device reports whether there is one. The test fails where one must be.
func device(t *testing.T) bool {
	_, err := open(t, Options{Transport: "verbs"}, nil)
	if err != nil && os.Getenv("GOLAUNCH_VERBS_REQUIRED") != "" {
		t.Fatal(err)
	}
	return err == nil
}

// What Transport asks for is what there is.
func TestOpen(t *testing.T) {
	some := device(t)
	for transport, want := range map[string][]Path{"tcp": {TCP}, "auto": {TCP}, "verbs": nil} {
		if some && transport != "tcp" {
			want = append([]Path{Verbs}, want...)
		}
		f, err := open(t, Options{Transport: transport}, nil)
		if (err == nil) != (len(want) > 0) {
			t.Errorf("%s: %v", transport, err)
		}
		if err != nil {
			continue
		}
		ends := 0
		for path, end := range f.Ends() {
			if ends == len(want) || path != want[ends] || f.End(path) != end {
				t.Errorf("%s: endpoint %d is for %q, want %q", transport, ends, path, want)
			}
			ends++
		}
		if ends != len(want) || f.Usual() != want[0] || f.HasDevice() != (want[0] == Verbs) {
			t.Errorf("%s: %d endpoints, want %q; usually %q", transport, ends, want, f.Usual())
		}
	}
}

// RDMA has no encryption: there is an error where it is insisted on, else no device.
func TestOpenEncrypted(t *testing.T) {
	if f, err := open(t, Options{Transport: "auto", Encrypt: true}, nil); err != nil || f.HasDevice() {
		t.Errorf("auto: a device, %v", err)
	}
	if _, err := open(t, Options{Transport: "verbs", Encrypt: true}, nil); err == nil {
		t.Error("verbs: no error")
	}
}

// A device that cannot be prepared is as good as none.
func TestOpenUnprepared(t *testing.T) {
	if !device(t) {
		t.Skip("no RDMA device here: make verbs-test runs this in a guest, and says what that needs (docs/verbs.md)")
	}
	refused := errors.New("refused")
	refuse := func(f *Far) error {
		if !f.HasDevice() {
			t.Error("prepare is called without a device")
		}
		return refused
	}
	if f, err := open(t, Options{Transport: "auto"}, refuse); err != nil || f.HasDevice() {
		t.Errorf("auto: %v", err)
	}
	if _, err := open(t, Options{Transport: "verbs"}, refuse); !errors.Is(err, refused) {
		t.Errorf("verbs: %v", err)
	}
}
