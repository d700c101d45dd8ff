package bootstrapped

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// A manifest is what a Kubernetes job asks for.
type manifest struct {
	name, domain string
	pods         int
	command      []string // and its arguments
	env          []string
	user, group  int
	secretPath   string      // where the secret is mounted
	secretMode   os.FileMode // of its files, as the manifest has it
}

// readManifest reads docs/kubernetes/job.yaml, and checks what belongs together.
func readManifest(t *testing.T) manifest {
	t.Helper()
	text, err := os.ReadFile("../../docs/kubernetes/job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	documents, err := parseYAML(string(text))
	if err != nil || len(documents) != 2 {
		t.Fatalf("%d documents, %v", len(documents), err)
	}
	service, job := documents[0], documents[1]
	name, pod, container := at(t, job, "metadata.name"), "spec.template.spec.", "spec.template.spec.containers.0."
	for _, same := range [][2]string{
		{at(t, service, "kind"), "Service"}, {at(t, job, "kind"), "Job"}, {at(t, job, "spec.completionMode"), "Indexed"},
		{at(t, service, "spec.clusterIP"), "None"}, {at(t, service, "spec.publishNotReadyAddresses"), "true"},
		{at(t, service, "spec.selector.job-name"), name}, {at(t, service, "metadata.name"), at(t, job, pod+"subdomain")},
		{at(t, job, "spec.completions"), at(t, job, "spec.parallelism")},
		{at(t, job, container+"volumeMounts.0.name"), at(t, job, pod+"volumes.0.name")},
	} {
		if same[0] != same[1] {
			t.Errorf("%q and %q should be the same", same[0], same[1])
		}
	}
	mode := number(t, at(t, job, pod+"volumes.0.secret.defaultMode"), 8)
	m := manifest{
		name: name, domain: at(t, job, pod+"subdomain"), pods: number(t, at(t, job, "spec.completions"), 10),
		user: number(t, at(t, job, pod+"securityContext.runAsUser"), 10), group: number(t, at(t, job, pod+"securityContext.fsGroup"), 10),
		secretPath: at(t, job, container+"volumeMounts.0.mountPath"), secretMode: os.FileMode(mode),
	}
	for _, list := range []string{"command", "args"} {
		for _, word := range look(job, container+list).([]any) {
			m.command = append(m.command, word.(string))
		}
	}
	for _, v := range look(job, container+"env").([]any) {
		m.env = append(m.env, at(t, v, "name")+"="+at(t, v, "value"))
	}
	return m
}

// look follows a path of keys and numbers; nil: it leads nowhere.
func look(v any, path string) any {
	for step := range strings.SplitSeq(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			v = in[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}

func at(t *testing.T, v any, path string) string {
	t.Helper()
	text, ok := look(v, path).(string)
	if !ok {
		t.Fatalf("there is no %s", path)
	}
	return text
}

func number(t *testing.T, text string, base int) int {
	t.Helper()
	n, err := strconv.ParseInt(text, base, 32)
	if err != nil {
		t.Fatal(err)
	}
	return int(n)
}

// host is a pod's name.
func (m manifest) host(index int) string { return fmt.Sprintf("%s-%d", m.name, index) }
