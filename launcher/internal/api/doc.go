// Package api is what agents are asked, by commands and by each other: requests and
// answers, a client and the server's mux. It knows neither what an agent does with a
// request nor how a connection comes about.
//
// A request is a POST to /v1/NAME over HTTP/1.1 with a JSON object as its body, and so
// is the answer; [Agent] has a method for each NAME. Attach and Logs answer with a
// stream. An error is a JSON object, too: what is wrong, and of what [Kind].
//
// Connections have proved who they are before a byte of HTTP is read: over a network
// that they hold the cluster's key (launcher/internal/join), over the agent's Unix
// socket that they belong to its user or to root ([Unix]). Even so, nothing that is
// decoded is trusted: bodies are bounded, fields that are not known are refused, and
// each request says what is wrong with it (check) before the agent sees it.
//
// Goroutine safety: a [Client] and a [Server] may be used by any number of goroutines.
package api
