// Package program is what the mains of rank programs share: the command line's
// faults and --help, joining and leaving, and how an error is told.
//
// A rank that fails does not leave: it exits with a code that is not 0, and so
// the others learn why it is gone. A panic in Run goes through: the process
// crashes, which is a failure too.
//
// A Program is not changed by being run. Everything runs on the goroutine of the
// caller.
package program
