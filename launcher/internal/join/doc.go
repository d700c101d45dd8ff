// Package join is a connection over a network between a job's front and the
// supervisors of its hosts, between an agent and its callers, or between members that
// gossip: TCP with TLS 1.3, on which both ends prove that they hold the same key.
//
// The key is no password for one host: who holds it may be the front, or any host, of
// any job that uses it, or any agent or caller. From it both sides derive an ed25519
// key for each role (HKDF with SHA-256, the role in its info), and a certificate for it that says
// nothing. Each end demands the other role's certificate and looks at the key in it
// alone; TLS makes the other end sign the handshake with it. The roles differ so
// that nobody can be answered with what he said himself.
//
// A ring of several keys lets a cluster change its key while it runs. The end that
// connects names its keys, by names that are derived from them, among the protocols it
// offers (ALPN); the other takes the first of its own that is named. So both may put a
// key in front, or take one out, at different times, as long as they share one.
//
// # Strangers
//
// Whoever has not proved the key costs little and disturbs nobody. It must be done
// within proveWait, is heard for readBudget bytes, and at most maxPending
// connections are in that state: where there is no room for another, the oldest is
// dropped. Nothing of the control protocol is read before.
//
// Goroutine safety: Accept and Close of a [Listener] may be called from any
// goroutine, and so may SetKeys. [Dial], [Call] and listeners share nothing.
package join
