// Package wire is the two forms in which a process manager and a process write to
// each other, as text without I/O. In PMI-1 a message is a line,
//
//	cmd=put kvsname=kvs_1 key=a value=b
//
// and its values have no spaces. In PMI-2 it is a length in six characters and
// then pairs that end in semicolons; a semicolon in a value is doubled:
//
//	"    30cmd=kvs-put;key=a;value=b;c=1;"
//
// What a process manager sends is checked here and nowhere else: a Message that
// was parsed has a command, and no empty keys.
package wire
