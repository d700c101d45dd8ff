package wire

import "fmt"

// MaxMessage is the longest message of either form in bytes. Process managers send
// and take shorter ones.
const MaxMessage = 64 << 10

// A Message is a command or the answer to one.
type Message struct {
	Command string
	Pairs   []Pair
}

// A Pair is a key and its value.
type Pair struct{ Key, Value string }

// Value returns the value of a key, and whether there is one. The first counts.
func (m Message) Value(key string) (string, bool) {
	for _, p := range m.Pairs {
		if p.Key == key {
			return p.Value, true
		}
	}
	return "", false
}

// message makes a Message of pairs the first of which is the command.
func message(pairs []Pair) (Message, error) {
	if len(pairs) == 0 || pairs[0].Key != "cmd" || pairs[0].Value == "" {
		return Message{}, fmt.Errorf("a message that does not begin with its command")
	}
	return Message{pairs[0].Value, pairs[1:]}, nil
}

// excerpt is the beginning of what a process manager has sent, for errors.
func excerpt(text string) string {
	const most = 60
	if len(text) > most {
		return fmt.Sprintf("%q and %d bytes more", text[:most], len(text)-most)
	}
	return fmt.Sprintf("%q", text)
}
