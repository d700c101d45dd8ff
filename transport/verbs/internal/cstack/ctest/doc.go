// Package ctest has C functions for cstack's tests.
package ctest
