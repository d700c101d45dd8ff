// Package crossmem copies between the memory of two processes of one host with
// process_vm_readv(2) and process_vm_writev(2): one copy, made by the process that
// calls, while the other one does whatever it does.
//
// # What may be published
//
// An address that another process uses must stay what it is until that process has
// done. Go's heap does not move and mapped memory does not either, but stacks do:
// a goroutine's stack that grows is copied elsewhere, and what lay there belongs to
// somebody else afterwards. [Publication.Publish] therefore takes a slice in a way
// that makes the compiler place it on the heap, and holds it, pinned, until
// Withdraw. An address of a stack cannot be made with this package.
//
// # Permission
//
// The kernel lets a process touch another one's memory under the rules of
// ptrace(2). Containers, other users, seccomp filters and security modules refuse
// it, each in its own way, so [Peer.Probe] asks by reading a word that the peer has
// told: what it returns nil for works. Where Yama allows tracing only to
// ancestors, [Allow] widens that to the processes of one job.
//
// # Goroutine safety
//
// A Peer may be used by any goroutine. A Publication belongs to one at a time.
package crossmem
