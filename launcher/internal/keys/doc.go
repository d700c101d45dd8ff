// Package keys reads, makes and rotates the cluster's key file, and derives from it
// every other key there is.
//
// # The file
//
// It holds one key or several, the current one first. Whoever has any of them is a
// member of the cluster: nothing in it belongs to one host. Three forms are read:
//
//   - what [Generate] writes: a first line that begins with "# golaunch keys", then
//     a key a line in base64;
//   - lines that are each 32 bytes in hex or base64;
//   - anything else of 16 to 4096 bytes: one key, as it stands, without the white space
//     at its ends.
//
// A file of which some lines are keys and others are not is refused rather than taken
// for the third form. Only its owner may be able to read it, and that is whoever runs
// golaunch, or root.
//
// # What is derived
//
// By HKDF with SHA-256, each purpose under its own name, so that who learns one derived
// key learns nothing of the others: the gossip key (AES-256), an ed25519 key for each
// role in the control protocol, a key for each job, and a name for the key itself that
// may be shown to anybody.
//
// Keys print as their names. Goroutine safety: a [Key] and a [Ring] do not change.
package keys
