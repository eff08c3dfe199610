package spv

import (
	"fmt"
	"strings"
)

// Storage classes of SPIR-V that a rule speaks of.
const (
	classUniformConstant = 0
	classInput           = 1
	classUniform         = 2
	classOutput          = 3
	classWorkgroup       = 4
	classPrivate         = 6
	classFunction        = 7
	classPushConstant    = 9
	classImage           = 11
	classStorageBuffer   = 12
	classPhysical        = 5349
)

// Image dimensions, formats, and what the Sampled operand says.
const (
	dimBuffer      = 5
	formatRGBA32F  = 1
	formatRGBA32I  = 21
	formatRGBA32UI = 30
	sampledUniform = 1 // read through a sampler or by fetches
	sampledStorage = 2 // read and written without a sampler
)

// Bounds on what a type may be, so that a hostile one costs little.
const (
	maxDepth        = 64      // structs and arrays inside each other
	maxSharedMemory = 1 << 30 // bytes
)

// typ is a SPIR-V type.
type typ struct {
	id      uint32
	op      opcode
	width   uint32 // bits of an int or float
	signed  bool
	n       uint32 // components of a vector, columns of a matrix, elements of an array
	specLen bool   // n is the default of a specialisation constant
	elem    *typ   // component, column, element, pointee, image's sampled type, result of a function
	members []*typ // of a struct; parameters of a function
	class   uint32 // storage class of a pointer
	dim     uint32 // of an image
	arrayed uint32
	ms      uint32
	sampled uint32
	format  uint32
	depth   int // how deeply structs and arrays nest

	// What a value takes when packed by its own rules, without layout
	// decorations, as in workgroup memory; and whether it is or holds something
	// that is not data, such as an image.
	size, align uint64 // bytes
	scalars     uint64 // of scalars it has; 0 if it is no data
	opaque      bool
}

func (t *typ) is(op opcode) bool { return t != nil && t.op == op }

// scalar is the component type of a scalar, vector or matrix; else nil.
func (t *typ) scalar() *typ {
	for t.is(opTypeVector) || t.is(opTypeMatrix) {
		t = t.elem
	}
	if t.is(opTypeInt) || t.is(opTypeFloat) || t.is(opTypeBool) {
		return t
	}
	return nil
}

// dims is the number of components of a scalar (1) or vector; 0 for others.
func (t *typ) dims() uint32 {
	switch {
	case t == nil:
	case t.op == opTypeVector:
		return t.n
	case t.op == opTypeInt || t.op == opTypeFloat || t.op == opTypeBool:
		return 1
	}
	return 0
}

func (t *typ) isInt() bool   { return t.dims() > 0 && t.scalar().op == opTypeInt }
func (t *typ) isFloat() bool { return t.dims() > 0 && t.scalar().op == opTypeFloat }
func (t *typ) isBool() bool  { return t.dims() > 0 && t.scalar().op == opTypeBool }
func (t *typ) isCoop() bool  { return t.is(opTypeCoopKHR) || t.is(opTypeCoopNV) }

// composite reports whether the type has constituents.
func (t *typ) composite() bool {
	switch t.op {
	case opTypeVector, opTypeMatrix, opTypeArray, opTypeRuntimeArray, opTypeStruct, opTypeCoopKHR, opTypeCoopNV:
		return true
	}
	return false
}

// bits is the width of one component of a scalar or vector.
func (t *typ) bits() uint32 { return t.scalar().width }

// measure fills in size, alignment and opacity from the parts of t. It runs
// once a type: walking the parts anew for every question would take a hostile
// module's nested structs 2⁶⁴ steps.
func (t *typ) measure() {
	t.align = 8
	switch t.op {
	case opTypeBool:
		t.size, t.align, t.scalars = 4, 4, 1
	case opTypeInt, opTypeFloat:
		t.scalars = 1
		t.size, t.align = uint64(t.width/8), uint64(t.width/8)
	case opTypeVector, opTypeMatrix, opTypeArray:
		t.size, t.align = satMul(uint64(t.n), t.elem.size), t.elem.align
		t.opaque, t.scalars = t.elem.opaque, satMul(uint64(t.n), t.elem.scalars)
	case opTypeStruct:
		t.align = 1
		for _, m := range t.members {
			t.align = max(t.align, m.align)
			t.size = min((t.size+m.align-1)/m.align*m.align+m.size, 1<<62)
			t.opaque, t.scalars = t.opaque || m.opaque, satAdd(t.scalars, m.scalars)
		}
		t.size = (t.size + t.align - 1) / t.align * t.align
	case opTypePointer:
		t.size = 8
	case opTypeImage, opTypeSampler, opTypeSampledImage, opTypeAccel, opTypeVoid, opTypeFunction, opTypeRuntimeArray:
		t.opaque = true
	}
}

func satMul(a, b uint64) uint64 {
	if a != 0 && b > (1<<62)/a {
		return 1 << 62
	}
	return a * b
}

// String is the short name of the type, as in Binding.Type and Member.Type.
func (t *typ) String() string {
	if t == nil {
		return "nothing"
	}
	switch t.op {
	case opTypeVoid:
		return "void"
	case opTypeBool:
		return "bool"
	case opTypeInt:
		if t.signed {
			return fmt.Sprintf("i%d", t.width)
		}
		return fmt.Sprintf("u%d", t.width)
	case opTypeFloat:
		return fmt.Sprintf("f%d", t.width)
	case opTypeVector:
		return fmt.Sprintf("%vx%d", t.elem, t.n)
	case opTypeMatrix:
		return fmt.Sprintf("%vx%d", t.elem, t.n)
	case opTypeArray:
		return fmt.Sprintf("%v[%d]", t.elem, t.n)
	case opTypeRuntimeArray:
		return fmt.Sprintf("%v[]", t.elem)
	case opTypeStruct:
		return "struct"
	case opTypePointer:
		return "pointer"
	}
	return strings.ToLower(strings.TrimPrefix(t.op.String(), "OpType"))
}
