// Package relax has the instruction that belongs into spin loops.
package relax
