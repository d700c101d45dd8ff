// Package chart draws the comparison as an SVG: a row for each operation, a mark
// for each contender on one logarithmic axis of time. It is pure: the same rows
// give the same bytes.
//
// Nothing here is shared between goroutines.
package chart
