package launcher

import (
	"bytes"
	"testing"

	"github.com/golaunch/golaunch/launcher/internal/api"
)

// A host that does not answer leaves the columns of the others where they are.
func TestNodesTable(t *testing.T) {
	host := &api.Host{Slots: 16, Free: 3, Cores: 8, Memory: 64e9, Load: 0.5, OS: "linux", Arch: "amd64", Version: "1", Labels: map[string]string{"b": "2", "a": "1"}}
	var b bytes.Buffer
	err := nodesTable(&b, []api.Node{
		{Name: "a", State: "alive", Address: "10.0.0.1:1", Host: host},
		{Name: "b", State: "alive", Address: "10.0.0.2:1", Problem: "no route"},
		{Name: "c", State: "dead", Address: "10.0.0.3:1", Problem: "dead"},
		{Name: "d", State: "alive", Address: "10.0.0.4:1", Host: host},
	})
	const want = `HOST  STATE  ADDRESS     FREE  SLOTS  CORES  MEMORY   LOAD  PLATFORM     VERSION  LABELS   DEVICES
a     alive  10.0.0.1:1  3     16     8      64.0 GB  0.50  linux/amd64  1        a=1,b=2  
b     alive  10.0.0.2:1  -     -      -      -        -     -            -        -        
c     dead   10.0.0.3:1  -     -      -      -        -     -            -        -        
d     alive  10.0.0.4:1  3     16     8      64.0 GB  0.50  linux/amd64  1        a=1,b=2  
b: no route
`
	if err != nil || b.String() != want {
		t.Errorf("%v\n%s", err, b.String())
	}
}
