package transport

import (
	"errors"
	"math"
	"testing"
)

func TestSlice(t *testing.T) {
	r := Remote{Key: 7, Offset: 100, Len: 50}
	cases := []struct {
		offset, length int64
		want           Remote
		good           bool
	}{
		{0, 50, r, true},
		{10, 40, Remote{7, 110, 40}, true},
		{50, 0, Remote{7, 150, 0}, true},
		{0, 51, Remote{}, false},
		{51, 0, Remote{}, false},
		{-1, 1, Remote{}, false},
		{1, -1, Remote{}, false},
		{math.MaxInt64, 1, Remote{}, false},
		{1, math.MaxInt64, Remote{}, false},
		{math.MinInt64, math.MinInt64, Remote{}, false},
	}
	for _, c := range cases {
		got, err := r.Slice(c.offset, c.length)
		if got != c.want || (err == nil) != c.good || err != nil && !errors.Is(err, ErrRange) {
			t.Errorf("Slice(%d, %d) = %+v, %v", c.offset, c.length, got, err)
		}
	}
}

// FuzzSlice: a slice never leaves its Remote, whatever is asked for.
func FuzzSlice(f *testing.F) {
	f.Add(int64(100), int64(50), int64(10), int64(40))
	f.Fuzz(func(t *testing.T, start, size, offset, length int64) {
		if start < 0 || size < 0 || start > math.MaxInt64-size {
			return
		}
		r := Remote{Key: 1, Offset: start, Len: size}
		s, err := r.Slice(offset, length)
		if err == nil && (s.Offset < start || s.Len < 0 || s.Offset+s.Len > start+size || s.Len != length) {
			t.Errorf("%+v.Slice(%d, %d) = %+v", r, offset, length, s)
		}
	})
}
