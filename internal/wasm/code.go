package wasm

import (
	"encoding/binary"
	"math"
)

// Code is a sequence of instructions. Operands stand before the instruction that takes
// them, as on a stack.
type Code struct {
	b      []byte
	depth  Label
	blocks int32
	// uses are, by local variable, how many blocks had begun at its first and its last use.
	uses [][2]int32
}

// Label names a block that is open, for branches.
type Label uint32

// Block is the type of a block: Empty, a ValType as BlockOf gives it, or Module.Type.
type Block int64

// Empty is the type of a block without parameters and results.
const Empty Block = -64

// BlockOf is the type of a block with one result.
func BlockOf(t ValType) Block { return Block(int8(byte(t) | 0x80)) }

// Depth is the number of blocks that are open, as a label of the innermost one.
func (c *Code) Depth() Label { return c.depth }

// Bytes returns the instructions.
func (c *Code) Bytes() []byte { return c.b }

// Blocks returns how many blocks, loops and ifs have begun.
func (c *Code) Blocks() int { return int(c.blocks) }

// Spans returns the sum, over all local variables, of how many blocks begin between the first
// and the last use. Compilers that look for the values of variables at the beginnings of
// blocks take time in proportion to it.
func (c *Code) Spans() (n int64) {
	for _, u := range c.uses {
		n += int64(u[1] - u[0])
	}
	return n
}

func (c *Code) use(local uint32) {
	for len(c.uses) <= int(local) {
		c.uses = append(c.uses, [2]int32{-1, -1})
	}
	u := &c.uses[local]
	if u[0] < 0 {
		u[0] = c.blocks
	}
	u[1] = c.blocks
}

// Op appends an instruction without immediates.
func (c *Code) Op(op Op) {
	if op < 0x100 {
		c.b = append(c.b, byte(op))
		return
	}
	c.b = appendU32(append(c.b, byte(op>>16)), uint32(op&0xffff))
}

// Index appends an instruction with an index: of a local or global variable, of a
// function.
func (c *Code) Index(op Op, i uint32) {
	c.Op(op)
	c.b = appendU32(c.b, i)
}

// Get appends the value of a local variable.
func (c *Code) Get(local uint32) {
	c.use(local)
	c.Index(LocalGet, local)
}

// Set sets a local variable.
func (c *Code) Set(local uint32) {
	c.use(local)
	c.Index(LocalSet, local)
}

// Tee sets a local variable and leaves the value.
func (c *Code) Tee(local uint32) {
	c.use(local)
	c.Index(LocalTee, local)
}

// Call calls a function.
func (c *Code) Call(f uint32) { c.Index(Call, f) }

// I32Const appends a constant.
func (c *Code) I32Const(v int32) {
	c.Op(I32Const)
	c.b = appendS64(c.b, int64(v))
}

// I64Const appends a constant.
func (c *Code) I64Const(v int64) {
	c.Op(I64Const)
	c.b = appendS64(c.b, v)
}

// F32Const appends a constant. Its bits are kept, those of a NaN too.
func (c *Code) F32Const(bits uint32) {
	c.Op(F32Const)
	c.b = binary.LittleEndian.AppendUint32(c.b, bits)
}

// F64Const appends a constant.
func (c *Code) F64Const(v float64) {
	c.Op(F64Const)
	c.b = binary.LittleEndian.AppendUint64(c.b, math.Float64bits(v))
}

// V128Const appends a constant of four words, the lowest one first.
func (c *Code) V128Const(words [4]uint32) {
	c.Op(V128Const)
	for _, w := range words {
		c.b = binary.LittleEndian.AppendUint32(c.b, w)
	}
}

// Memory appends a load or a store. The address is the operand plus offset. align is the
// exponent of two of the alignment that the address probably has.
func (c *Code) Memory(op Op, align, offset uint32) {
	c.Op(op)
	c.b = appendU32(appendU32(c.b, align), offset)
}

// MemoryLane appends a load or a store of one lane of a vector.
func (c *Code) MemoryLane(op Op, align, offset uint32, lane byte) {
	c.Memory(op, align, offset)
	c.b = append(c.b, lane)
}

// Lane appends an instruction on one lane of a vector.
func (c *Code) Lane(op Op, lane byte) {
	c.Op(op)
	c.b = append(c.b, lane)
}

// Shuffle appends i8x16.shuffle: byte i of the result is byte lanes[i] of both operands,
// where the second one's bytes count from 16 on.
func (c *Code) Shuffle(lanes [16]byte) {
	c.Op(I8x16Shuffle)
	c.b = append(c.b, lanes[:]...)
}

// Open begins a block, a loop or an if, and returns its label. A branch to a loop goes to
// its beginning, one to another block behind its end.
func (c *Code) Open(op Op, t Block) Label {
	c.Op(op)
	c.b = appendS64(c.b, int64(t))
	c.depth++
	c.blocks++
	return c.depth
}

// Else begins the other part of the if that was opened last.
func (c *Code) Else() { c.Op(Else) }

// End ends what was opened last.
func (c *Code) End() {
	c.Op(End)
	c.depth--
}

// Br branches to an open block. op is Br or BrIf. It panics if the block is not open.
func (c *Code) Br(op Op, to Label) {
	if to > c.depth {
		panic("wasm: a branch to a block that has ended")
	}
	c.Index(op, uint32(c.depth-to))
}

// BrTable branches to the block that the operand chooses, or to the last one if there is
// none of that number.
func (c *Code) BrTable(to []Label, otherwise Label) {
	c.Op(BrTable)
	c.b = appendU32(c.b, uint32(len(to)))
	for _, l := range to {
		c.b = appendU32(c.b, uint32(c.depth-l))
	}
	c.b = appendU32(c.b, uint32(c.depth-otherwise))
}

// MemoryCopy and MemoryFill copy and fill bytes of the memory: destination, source or
// value, and length are the operands.
func (c *Code) MemoryCopy() {
	c.Op(memoryCopy)
	c.b = append(c.b, 0, 0)
}

// MemoryFill is described at MemoryCopy.
func (c *Code) MemoryFill() {
	c.Op(memoryFill)
	c.b = append(c.b, 0)
}
