package crosshost

// roles are what ranks of these tests do.
var roles = map[string]func() error{}
