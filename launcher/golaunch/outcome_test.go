package main

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// with prepends flags to a program's arguments.
func with(flags string, program ...string) []string {
	return append(strings.Fields(flags), program...)
}

func sh(script string) []string { return []string{"sh", "-c", script} }

func TestOutcomes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		args []string
		want result
	}{
		{"ordinary program", with("-n 4", "echo", "hi"), result{0, "hi\nhi\nhi\nhi\n", ""}},
		{"members", with("-n 4", program("member")...), result{0, "", ""}},
		{"members and others", with("-n 2", append(program("member"), strings.Fields(": -n 1 true")...)...), result{0, "", ""}},
		{"exit code", with("-n 3", sh("echo oh no >&2; [ $GOLAUNCH_RANK = 1 ] && exit 3; sleep 1000")...),
			result{3, "", "exited with code 3\ngolaunch: the last lines of its stderr:\n  | oh no\ngolaunch: 2 other ranks were stopped\n"}},
		{"signal", with("-n 2", sh("[ $GOLAUNCH_RANK = 1 ] && kill -SEGV $$; sleep 1000")...),
			result{139, "", "was killed by signal 11 (SIGSEGV)"}},
		{"ranks that ignore SIGTERM", with("-n 3", sh(`trap "" TERM; [ $GOLAUNCH_RANK = 2 ] && exit 4; sleep 1000; sleep 1000`)...),
			result{4, "", "exited with code 4"}},
		{"no goodbye", with("-n 2", program("noGoodbye")...), result{1, "", "exited with code 0 without leaving the job"}},
		{"no goodbye in a shell that lives on", with("-n 1", append(strings.Fields("-x "+envRole+"=noGoodbye"), sh(self()+"; sleep 1000")...)...),
			result{1, "", ", which had joined, has closed its connection without leaving"}},
		{"abort", with("-n 3", program("abort")...), result{42, "", "aborted the job with code 42: the data is bad\ngolaunch: 2 other ranks were stopped"}},
		{"panic with deferred Leave", with("-n 2", program("panic")...), result{2, "", "rank 1 (HOST, process"}},
		{"panic's words", with("-n 2", program("panic")...), result{2, "", "  | panic: boom"}},
		{"other version", with("-n 1", program("old")...), result{1, "", "rank 0 was built with version 0.0.1 of golaunch (protocol 2) and this golaunch is version 0.1.0"}},
		{"joins twice", with("-n 1", program("twice")...), result{1, "", "has joined as rank 0 already"}},
		{"timeout", with("-n 2 --timeout 0.1", "sleep", "1000"), result{124, "", "stopped, because the job took longer than --timeout 100ms\ngolaunch: 2 ranks were stopped\n"}},
		{"continue", with("-n 3 --on-failure continue", sh("[ $GOLAUNCH_RANK = 1 ] && exit 3; sleep 0.1; echo done")...),
			result{3, "done\ndone\n", "exited with code 3"}},
		{"MPMD", with("-n 2", "echo", "a", ":", "-n", "1", "-x", "V=b", "sh", "-c", "echo $V $GOLAUNCH_RANK of $GOLAUNCH_SIZE"), result{0, "b 2 of 3", ""}},
		{"environment of each program", []string{"-x", "V=1", "sh", "-c", "echo $V", ":", "sh", "-c", `echo "[$V]"`}, result{0, "[]", ""}},
		{"working directory", with("--wdir /usr", sh("pwd; echo $PWD")...), result{0, "/usr\n/usr\n", ""}},
		{"verbose", with("-v -n 1", program("member")...), result{0, "", "golaunch: rank 0 has joined\ngolaunch: rank 0 has left\ngolaunch: rank 0 exited with code 0 after 0."}},
		{"golaunch in golaunch", []string{"-n", "2", "-x", envRole + "=golaunch", self(), "-n", "3", "sh", "-c", "echo $GOLAUNCH_SIZE"},
			result{0, "3\n3\n3\n3\n3\n3\n", ""}},
		{"somebody never joins", with("-n 1", append(program("hang"), append([]string{":", "-n", "1", "true", ":", "-n", "1"}, program("failLast")...)...)...),
			result{3, "", "rank 1 ended without ever joining, while others had joined"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.want.stderr = strings.ReplaceAll(tt.want.stderr, "HOST", host(t))
			r := launch(t, tt.args...)
			r.expect(t, tt.want)
			if tt.want.code == 0 && tt.want.stderr == "" && r.stderr != "" {
				t.Errorf("stderr: %s", r.stderr)
			}
		})
	}
}

// Each rank that failed is told of; the first is golaunch's code.
func TestSeveralFail(t *testing.T) {
	t.Parallel()
	r := launch(t, with("-n 4 --on-failure continue", sh("exit $GOLAUNCH_RANK")...)...)
	for _, code := range []string{"1", "2", "3"} {
		if count(r.stderr, "rank "+code+" (") != 1 || count(r.stderr, "exited with code "+code+"\n") != 1 {
			t.Errorf("%s", r.stderr)
		}
	}
	if r.code == 0 || !strings.HasPrefix(r.stderr, fmt.Sprintf("golaunch: rank %d (", r.code)) {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
}

// A rank inherits its socket, what golaunch itself inherited, and nothing else.
func TestDescriptorsOfARank(t *testing.T) {
	t.Parallel()
	const list = "exec ls -l /proc/self/fd"
	without, err := exec.CommandContext(t.Context(), "sh", "-c", list+" 3</dev/null").Output()
	if err != nil {
		t.Fatal(err)
	}
	got := launch(t, with("-n 1", sh(list)...)...)
	if count(got.stdout, "\n") != count(string(without), "\n") || !strings.Contains(got.stdout, " 3 -> socket:") {
		t.Errorf("a rank's descriptors:\n%swithout golaunch:\n%s", got.stdout, without)
	}
}

func TestBinding(t *testing.T) {
	t.Parallel()
	bound := launch(t, with("-n 2 --bind-to core", "grep", "Cpus_allowed_list", "/proc/self/status")...)
	free := launch(t, with("-n 2 --bind-to none", "grep", "Cpus_allowed_list", "/proc/self/status")...)
	if cpus := len(strings.Split(free.stdout, "\n")); bound.code != 0 || free.code != 0 || cpus != 3 {
		t.Fatalf("%+v %+v", bound, free)
	}
	lines := strings.Split(free.stdout, "\n")
	if lines[0] != lines[1] {
		t.Errorf("without binding the ranks may use different cores: %s", free.stdout)
	}
	if b := strings.Split(bound.stdout, "\n"); b[0] == b[1] && strings.ContainsAny(free.stdout, "-,") {
		t.Errorf("two ranks are bound to the same core: %s, of %s", bound.stdout, free.stdout)
	}
}
