package member

import (
	"errors"
	"fmt"
)

// maxName is the longest name of a member, in bytes: DNS's limit for a label.
const maxName = 63

// checkName says what is wrong with a member's name. Names stand in tables, files and
// addresses, so letters, digits and -._ are what they are made of.
func checkName(name string) error {
	if name == "" {
		return errors.New("a member needs a name")
	}
	if len(name) > maxName {
		return fmt.Errorf("the name %.80q is longer than %d bytes", name, maxName)
	}
	for _, c := range []byte(name) {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_') {
			return fmt.Errorf("the name %q has a character that is none of a-z A-Z 0-9 - . _", name)
		}
	}
	return nil
}
