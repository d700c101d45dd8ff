package main

import (
	"fmt"
	"reflect"

	"github.com/golaunch/golaunch/launcher/internal/scale"
)

// costTable lists every cost, in the order of scale.Costs.
func (p *prediction) costTable() string {
	t := newTable("step", "cost", "measured by")
	all := reflect.ValueOf(p.costs)
	for i := range all.NumField() {
		c := all.Field(i).Interface().(scale.Cost)
		t.row(all.Type().Field(i).Name, fmt.Sprintf("%v %s", c.Value, map[string]string{"us": "µs", "ms": "ms", "B": "B"}[c.Unit]), c.How)
	}
	return t.String()
}
