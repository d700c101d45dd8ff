// Package forking calls fork from C, for tests of transport/verbs: what a C library of
// the program may do at any time, and Go programs never do.
package forking
