package spv

import (
	"crypto/sha256"
	"fmt"
)

// Kind is how a shader reads or writes a binding.
type Kind uint8

const (
	// StorageBuffer is a storage buffer (GLSL: buffer block).
	StorageBuffer Kind = iota
	// UniformTexel is a read-only texel buffer (GLSL: samplerBuffer and its
	// integer kinds). Lathe always views it as texels of four 32-bit components.
	UniformTexel
	// StorageTexel is a read-write texel buffer (GLSL: imageBuffer) with one of
	// the formats rgba32f, rgba32ui, rgba32i.
	StorageTexel
	// UniformBuffer is a uniform buffer (GLSL: uniform block).
	UniformBuffer
)

// String is the kind's name in the canonical text.
func (k Kind) String() string {
	switch k {
	case StorageBuffer:
		return "storage-buffer"
	case UniformTexel:
		return "uniform-texel"
	case StorageTexel:
		return "storage-texel"
	case UniformBuffer:
		return "uniform-buffer"
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// ParseKind is the kind of a name that String gives, and whether there is one.
func ParseKind(name string) (Kind, bool) {
	for k := StorageBuffer; k <= UniformBuffer; k++ {
		if k.String() == name {
			return k, true
		}
	}
	return 0, false
}

// Access says what a shader may do to a binding, from its NonWritable and
// NonReadable decorations.
type Access uint8

// The accesses; a bit each for reading and writing.
const (
	ReadOnly  Access = 1
	WriteOnly Access = 2
	ReadWrite Access = 3
)

// String is the access's name in the canonical text.
func (a Access) String() string {
	switch a {
	case ReadOnly:
		return "read"
	case WriteOnly:
		return "write"
	case ReadWrite:
		return "read-write"
	}
	return fmt.Sprintf("access(%d)", uint8(a))
}

// Writes reports whether the shader may write to the binding.
func (a Access) Writes() bool { return a&WriteOnly != 0 }

// ParseAccess is the access of a name that String gives, and whether there is one.
func ParseAccess(name string) (Access, bool) {
	for a := ReadOnly; a <= ReadWrite; a++ {
		if a.String() == name {
			return a, true
		}
	}
	return 0, false
}

// Binding is one resource. Descriptor sets are numbered on: the resources of the
// lowest set that a module declares keep their binding numbers as slots, and those of
// each further set come after the highest slot before it. So a module of one set,
// whichever it is, has its binding numbers for slots, and binding b of set 1 in a
// module whose set 0 ends at binding 4 has slot 5 + b.
//
// Variables of one set and binding number (aliases: a buffer seen as several types)
// are one Binding: Access is what any of them may do, Name and Type are the first's, and
// the array is the one of the smallest elements.
type Binding struct {
	Slot   uint32 // which of the launch's bindings it is
	Kind   Kind
	Access Access
	Name   string // the variable's or block's debug name, may be empty
	// Type is the element type: for a texel buffer the component type "f32",
	// "u32" or "i32"; for a buffer the type of its last (runtime array) member,
	// such as "f32", "u32x4" or "struct".
	Type string
	// ArrayOffset and ArrayStride say where the array without a length begins that
	// the block ends with, and how far its elements are apart, in bytes. The stride
	// is 0 where there is no such array.
	ArrayOffset, ArrayStride uint32
	// Mixed says that variables of this binding have different types.
	Mixed bool
	// Set and Number are the descriptor set and binding number of the source.
	Set, Number uint32
}

// Where names a binding in error texts, with its place in the source where that
// differs from its slot.
func (b *Binding) Where() string {
	if b.Set == 0 { // the lowest there is, so that slots are binding numbers
		return fmt.Sprintf("binding %d", b.Slot)
	}
	return fmt.Sprintf("binding %d (set %d, binding %d in the shader)", b.Slot, b.Set, b.Number)
}

// Member is one number or vector of the push-constant block, or an array of them.
type Member struct {
	Name   string
	Type   string // "f32", "u32", "i32", "u64", … ; "u32x4" for vectors, "f32[4]" for arrays
	Offset uint32 // bytes
	Size   uint32 // bytes
}

// SpecConst is a specialisation constant.
type SpecConst struct {
	ID      uint32
	Name    string
	Type    string
	Default uint64 // bit pattern
}

// Module is a validated compute shader with entry point "main", and all that a
// caller must know to launch it. It is immutable after Parse.
type Module struct {
	Name        string // kernel name for labels and errors; empty for foreign SPIR-V
	Code        []byte // SPIR-V, little-endian words, as a driver gets it: see Parse
	Hash        [sha256.Size]byte
	Bindings    []Binding // by ascending Slot
	Params      []Member  // push-constant members by ascending Offset
	ParamSize   uint32    // bytes of the push-constant block, 0 if none
	LocalSize   [3]uint32
	SharedBytes uint32 // workgroup memory
	// PrivateBytes is what an invocation has in memory of its own: arrays,
	// structs and matrices in variables of the storage classes Private and
	// Function, those of a function as often as it is called. Reflect leaves it 0.
	PrivateBytes uint64
	// Registers counts the scalars in variables of these classes that are scalars
	// or vectors, likewise. Reflect leaves it 0.
	Registers uint64
	// ValueScalars counts the scalars in the largest array, structure or matrix that is
	// loaded, made or stored as one value, initialisers included. Reflect leaves it 0.
	ValueScalars uint64
	// Instructions counts the instructions an invocation may meet, those of a function
	// as often as it is called; one that moves an array, structure or matrix of n
	// scalars counts as n, and as n·⌈n/64⌉ from 65 on. Reflect leaves it 0.
	Instructions uint64
	// Iterations bounds the loop iterations that an invocation runs, all loops
	// together; Unbounded where no bound can be proven. Reflect leaves it 0.
	Iterations uint64
	// Foreign says that the module comes from Parse: nobody vouches for what it
	// does, so that backends hand drivers a guarded form of it; see Guard.
	Foreign      bool
	Version      uint32 // of SPIR-V, as in the header: 0x10300 is 1.3
	Capabilities []uint32
	Extensions   []string
	Abilities    Ability // what it needs of a device besides
	Specs        []SpecConst
}

// Slots is the number of bindings that a launch gives: those that the module declares, and
// the numbers that it skips between them.
func (m *Module) Slots() int {
	if m == nil || len(m.Bindings) == 0 {
		return 0
	}
	return int(m.Bindings[len(m.Bindings)-1].Slot) + 1
}
