package collectives

import (
	"fmt"
	"reflect"

	"github.com/golaunch/golaunch/collectives/reduce"
	"github.com/golaunch/golaunch/runtime/group"
	"github.com/golaunch/golaunch/runtime/world"
)

// collective is which operation a call is.
type collective uint8

const (
	callBarrier collective = iota + 1
	callBcast
	callReduce
	callAllreduce
	callGather
	callAllgather
	calls
)

// operation is the same for package world, which numbers them in the same order.
func (c collective) operation() world.Operation {
	return world.OpBarrier + world.Operation(c-callBarrier)
}

func (c collective) String() string { return c.operation().String() }

// call is what all ranks must agree on.
type call struct {
	what  collective
	kind  reduce.Kind // 0: no number
	op    reduce.Op   // 0: no reduction
	root  int         // 0: none
	bytes int         // one rank's contribution; of Bcast the buffer
	width int         // bytes of an element
	bad   error       // why this rank cannot take part: its element type
}

// small tells whether contributions fit into the slots of a group.
func (c *call) small() bool { return c.bytes <= group.MaxPayload }

// The parts of a round's signature. Bit 31 keeps these apart from the rounds of
// package world.
//
//	bit  31     set
//	bits 28-30  which operation
//	bits 24-27  kind of the elements
//	bits 21-23  reduction
//	bit  20     large: the payload is an offer
//	bits 13-19  root mod 128
//	bits  0-12  bytes; if large: 0 in the opening round, 1 in the closing one,
//	            others between them
const (
	sigOurs   = 1 << 31
	whatAt    = 28
	kindAt    = 24
	opAt      = 21
	sigLarge  = 1 << 20
	rootAt    = 13
	rootMask  = 1<<7 - 1
	bytesMask = 1<<13 - 1
	sigEnd    = 1
	sigStage  = 2 // the ranks tell where their stages are
	sigBlock  = 3 // they are through with a block
)

// agreement is the part of the signature that does not depend on the size.
func (c *call) agreement() uint32 {
	return sigOurs | uint32(c.what)<<whatAt | uint32(c.kind)<<kindAt | uint32(c.op)<<opAt | uint32(c.root&rootMask)<<rootAt
}

// signature is that of the only round of a small operation.
func (c *call) signature() uint32 { return c.agreement() | uint32(c.bytes) }

// opening and closing are those of a large operation.
func (c *call) opening() uint32 { return c.agreement() | sigLarge }
func (c *call) closing() uint32 { return c.opening() | sigEnd }

// String is the call as errors have it: "Reduce (Sum of float64) of 8 bytes to root 2".
func (c call) String() string {
	text := c.what.String()
	switch {
	case c.op != 0:
		text += fmt.Sprintf(" (%v of %v)", c.op, c.kind)
	case c.kind != 0:
		text += fmt.Sprintf(" (%v)", c.kind)
	}
	if c.what != callBarrier {
		text += fmt.Sprintf(" of %d bytes", c.bytes)
	}
	switch c.what {
	case callBcast:
		text += fmt.Sprintf(" from root %d", c.root)
	case callReduce, callGather:
		text += fmt.Sprintf(" to root %d", c.root)
	}
	return text
}

// decode is the call that a signature stands for, as far as it says.
func decode(signature uint32) (c call, ok bool) {
	c = call{
		what: collective(signature >> whatAt & 7), kind: reduce.Kind(signature >> kindAt & 15),
		op: reduce.Op(signature >> opAt & 7), root: int(signature >> rootAt & rootMask), bytes: int(signature & bytesMask),
	}
	return c, signature&sigOurs != 0 && c.what > 0 && c.what < calls
}

// callOf describes an operation that moves n elements of type T without looking
// at them.
func callOf[T any](what collective, root, n int) call {
	c := call{what: what, kind: reduce.KindOf[T](), root: root, bytes: n * sizeOf[T](), width: sizeOf[T]()}
	if c.kind == 0 {
		c.bad = pointerFree(reflect.TypeFor[T]())
	}
	return c
}
