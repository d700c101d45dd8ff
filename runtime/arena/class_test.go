package arena

import "testing"

func TestClass(t *testing.T) {
	for _, c := range []struct {
		page, bytes int64
		want        class
	}{
		{4096, 1, class{small, 0, 64}},
		{4096, 64, class{small, 0, 64}},
		{4096, 65, class{small, 1, 128}},
		{4096, 256, class{small, 3, 256}},
		{4096, 257, class{small, 4, 320}},
		{4096, 513, class{small, 8, 640}},
		{4096, 3584, class{small, 18, 3584}},
		{4096, 3585, class{pages, 0, 4096}}, // its class is a page: it gets one
		{4096, 4096, class{pages, 0, 4096}},
		{4096, 4097, class{pages, 1, 8192}},
		{4096, 1 << 20, class{pages, 27, 1 << 20}},
		{4096, 1<<20 + 1, class{pages, 28, 1280 << 10}},
		{4096, 16 << 20, class{pages, 43, 16 << 20}},
		{4096, 16<<20 + 1, class{big, 0, 18 << 20}},
		{4096, maxBytes, class{big, 0, maxBytes}},
		{65536, 4096, class{small, 19, 4096}},
		{65536, 57344, class{small, 34, 57344}},
		{65536, 57345, class{pages, 0, 65536}},
	} {
		if got := (classes{c.page}).of(c.bytes); got != c.want {
			t.Errorf("page %d: class of %d = %+v, want %+v", c.page, c.bytes, got, c.want)
		}
	}
}

// Every size has a class that holds it, sizes and indices grow together, and an
// index means one size.
func TestClassesAreMonotone(t *testing.T) {
	for _, page := range []int64{4 << 10, 16 << 10, 64 << 10} {
		c := classes{page}
		last := c.of(1)
		for n := int64(1); n <= 20<<20; n += 1 + n/97 {
			k := c.of(n)
			grew := k.size > last.size
			moved := k.band > last.band || k.band == last.band && (k.index > last.index || k.band == big)
			if k.size < n || k.size < last.size || grew && !moved || !grew && k != last {
				t.Fatalf("page %d, %d bytes: %+v after %+v", page, n, k, last)
			}
			if unit := unitOf(k, page); k.size%unit != 0 || n > 4*unit && (k.size-n)*5 > k.size {
				t.Fatalf("page %d, %d bytes: %+v wastes more than a fifth", page, n, k)
			}
			if k.index >= lists {
				t.Fatalf("page %d, %d bytes: %+v has no list", page, n, k)
			}
			last = k
		}
	}
}

func unitOf(k class, page int64) int64 {
	return map[band]int64{small: lineAlign, pages: page, big: hugePage}[k.band]
}
