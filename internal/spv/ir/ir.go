// Package ir holds compute shaders as compilers read them: functions of basic blocks, whose
// instructions point at their operands and types. spv.Program makes a Program of a
// validated module. The module's rules hold: control flow is structured, each value
// is computed before it is used, and functions do not call themselves.
//
// Source: SPIR-V specification 1.6, https://registry.khronos.org/SPIR-V/.
package ir

import "iter"

// Kind is the kind of a type.
type Kind uint8

// The kinds of types.
const (
	Void Kind = iota
	Bool
	Int
	Float
	Vector
	Matrix
	Array
	RuntimeArray
	Struct
	Pointer
	TexelBuffer
)

// Type is a type. Two values have the same type if the pointers are equal.
type Type struct {
	Kind Kind
	// Bits is the width of an Int or Float.
	Bits uint32
	// Signed says that an Int is signed.
	Signed bool
	// N is the number of components of a Vector, of columns of a Matrix, of elements of an
	// Array.
	N uint32
	// Elem is the component, column or element, what a Pointer points at, or what a
	// TexelBuffer has four of in each texel.
	Elem *Type
	// Members are those of a Struct.
	Members []Member
	// Class is the storage class of a Pointer.
	Class Class
	// Stride is the distance of the elements of an Array or RuntimeArray in bytes. It is 0
	// for types without a layout.
	Stride uint32
}

// Member is a member of a struct.
type Member struct {
	Type *Type
	// Offset is the distance in bytes from the beginning of the struct. It is 0 without a
	// layout.
	Offset uint32
	// MatrixStride is the distance in bytes of the columns of matrices, or of their rows if
	// RowMajor is set.
	MatrixStride uint32
	RowMajor     bool
}

// Scalar is the type of the components of a scalar, vector or matrix, or nil.
func (t *Type) Scalar() *Type {
	for t.Kind == Vector || t.Kind == Matrix {
		t = t.Elem
	}
	if t.Kind == Bool || t.Kind == Int || t.Kind == Float {
		return t
	}
	return nil
}

// Components is the number of components of a vector, and 1 for all other types.
func (t *Type) Components() int {
	if t.Kind == Vector {
		return int(t.N)
	}
	return 1
}

// Class is a storage class.
type Class uint32

// The storage classes. Their numbers are those of SPIR-V.
const (
	UniformConstant Class = 0
	Input           Class = 1
	Uniform         Class = 2
	Workgroup       Class = 4
	Private         Class = 6
	Function        Class = 7
	PushConstant    Class = 9
	StorageBuffer   Class = 12
)

// Value is an instruction, a constant, a parameter or a variable.
type Value struct {
	Op   Op
	Type *Type // nil without a result
	// Args are the operands that are values. Phi has one for each of Block.Preds.
	Args []*Value
	// Literals are the operands that are numbers, in their order.
	Literals []uint32
	// Bits are the bits of a constant that is a scalar.
	Bits uint64
	// Func is the function of FunctionCall.
	Func *Func
	// Var says what a Variable is.
	Var *Var
	// Block is the block of an instruction. It is nil for constants, parameters and the
	// variables of a module.
	Block *Block
	// Precise says that the result of arithmetic on floats must not be contracted.
	Precise bool
	// ID is the number in the SPIR-V module, for messages. Every value has another one.
	ID uint32
}

// Var describes a variable.
type Var struct {
	Class Class
	// Type is the type of what the variable holds.
	Type *Type
	// Slot is the number of the resource of a variable in a buffer, as spv.Binding has it.
	Slot uint32
	// Builtin is the number of the built-in input, and IsBuiltin says that it is one.
	Builtin   uint32
	IsBuiltin bool
	// Init is the initial value, or nil.
	Init *Value
	// Uniform buffers and storage buffers of one slot may be seen by several variables.
	// Name is for messages.
	Name string
}

// Instructions lists the values of a block and then the one that ends it.
func (b *Block) Instructions() iter.Seq[*Value] {
	return func(yield func(*Value) bool) {
		for _, v := range b.Values {
			if !yield(v) {
				return
			}
		}
		yield(b.Term)
	}
}

// Func is a function.
type Func struct {
	Result *Type
	Params []*Value
	// Vars are the variables of the function.
	Vars []*Value
	// Blocks are the basic blocks. The first one is the entry. A block stands behind the one
	// that dominates it.
	Blocks []*Block
	Name   string
}

// Block is a basic block.
type Block struct {
	// Index is the position in Func.Blocks.
	Index int
	// Values are the instructions but the last one. Phis come first.
	Values []*Value
	// Term ends the block: Branch, BranchConditional, Switch, Return, ReturnValue,
	// Unreachable. Its Args are the condition, selector or result. The literals of Switch are
	// the cases: Next[k+1] belongs to case k, which has as many words as the selector.
	Term *Value
	// Next are the targets of Term. A conditional branch has the target of true first, and
	// Switch that of all other values.
	Next []*Block
	// Preds are the blocks that branch here, each once.
	Preds []*Block
	// Merge is the block where the construct that begins here ends, and Continue the
	// continue target if it is a loop. Both are nil if none begins here.
	Merge, Continue *Block
}

// Program is a compute shader.
type Program struct {
	Entry *Func
	// Funcs are all functions. A function stands behind those that it calls.
	Funcs []*Func
	// Vars are the variables outside functions.
	Vars []*Value
	// LocalSize is the number of invocations of a workgroup in x, y and z.
	LocalSize [3]uint32
}
