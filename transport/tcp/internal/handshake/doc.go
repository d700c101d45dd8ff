// Package handshake turns TCP connections into authenticated ones between two
// ranks of one job.
package handshake
