package cores

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// siblings lists the logical CPUs that share a core with cpu; only cpu itself
// when the kernel does not tell.
func siblings(root fs.FS, cpu int) []int {
	text, err := fs.ReadFile(root, fmt.Sprintf("sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu))
	if err != nil {
		return []int{cpu}
	}
	list, err := parseList(strings.TrimSpace(string(text)))
	if err != nil {
		return []int{cpu}
	}
	return list
}

// parseList reads "0,4" and "0-3,8".
func parseList(text string) ([]int, error) {
	var list []int
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		from, err := strconv.ParseUint(first, 10, 16)
		if err != nil {
			return nil, err
		}
		to := from
		if isRange {
			if to, err = strconv.ParseUint(last, 10, 16); err != nil {
				return nil, err
			}
		}
		for ; from <= to; from++ {
			list = append(list, int(from))
		}
	}
	return list, nil
}
