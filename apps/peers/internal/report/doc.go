// Package report turns the lines that the benchmarks print into the comparison
// of docs/performance.md: parsing, medians, the rows with what each must reach,
// and the table. It runs nothing and reads no clock.
//
// Nothing here is shared between goroutines.
package report
