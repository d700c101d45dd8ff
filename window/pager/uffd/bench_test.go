package uffd

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkProtect has stores to 4,096 pages, all there and writable, wait: by one
// call, by one for each page, and by mprotect for each, and to every other of them. Times are
// the least of all turns; the ratios are the cost with mprotect over the cost here.
func BenchmarkProtect(b *testing.B) {
	const pages = 4096
	c, err := NewCache(pages)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	m, err := Create(c.File(), pages)
	if err != nil {
		b.Skip(err)
	}
	fd, err := unix.Dup(m.FD)
	if err != nil {
		b.Fatal(err)
	}
	v := NewView(fd, m.Base)
	if err := v.Fill(0, make([]byte, len(m.Memory))); err != nil {
		b.Fatal(err)
	}
	plain, err := mapPages(c.File(), pages)
	if err != nil {
		b.Fatal(err)
	}
	// Written, so that the hardware may have the pages writable in its tables.
	renew := func(mem []byte) {
		for i := 0; i < len(mem); i += c.page {
			mem[i]++
		}
	}
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	var once, single, scattered, mprotect, mprotectScattered time.Duration
	timed := func(least *time.Duration, f func()) {
		begin := time.Now()
		f()
		if took := time.Since(begin); *least == 0 || took < *least {
			*least = took
		}
	}
	ready := func() { must(v.Unprotect(0, pages)); renew(m.Memory) }
	readyPlain := func() { must(unix.Mprotect(plain, unix.PROT_READ|unix.PROT_WRITE)); renew(plain) }
	each := func(step int, f func(page int) error) func() {
		return func() {
			for page := 0; page < pages; page += step {
				must(f(page))
			}
		}
	}
	one := func(page int) error { return v.Protect(page, 1) }
	oneByMprotect := func(page int) error {
		return unix.Mprotect(plain[page*c.page:(page+1)*c.page], unix.PROT_READ)
	}
	for b.Loop() {
		ready()
		timed(&once, func() { must(v.Protect(0, pages)) })
		ready()
		timed(&single, each(1, one))
		ready()
		timed(&scattered, each(2, one))
		readyPlain()
		timed(&mprotect, each(1, oneByMprotect))
		readyPlain()
		timed(&mprotectScattered, each(2, oneByMprotect))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(once.Microseconds()), "us/once")
	b.ReportMetric(float64(single)/float64(once), "single/once")
	b.ReportMetric(float64(mprotect)/float64(once), "mprotect/once")
	b.ReportMetric(float64(mprotectScattered)/float64(scattered), "mprotect/scattered")
	must(unix.Munmap(plain))
	must(v.Close())
	must(m.Close())
}
