// Package spec says how an operation is described: its kernels, the rule for
// its shapes, the plan that turns a call into kernel launches, a float64
// reference and the cases it must pass. An operation is declared once, with Define.
// The executor, the conformance suite, the bench, the docs and the graph compiler all
// read that declaration. spec knows no device: a Target is data.
package spec

import (
	"github.com/lathe-gpu/lathe/tensor"
)

// Call is an operation together with its attributes. Each operation exports a
// struct of its attributes that is its Call, such as imageops.GaussianBlur{Sigma: 3}.
// A pointer to the struct is a Call too.
type Call interface {
	// Spec returns the declaration of the operation called.
	Spec() *Op
}

// Arg is an input or output of an operation.
type Arg struct {
	Name string
	// Doc says what it is, with the shape, such as "[H,W,C] in 0..1".
	Doc string
	// DTypes are the element types that it may have. Nil means that the operation's
	// Shape checks them.
	DTypes []tensor.DType
	// Strides says which strides the operation's plans can work with.
	Strides Strides
	// Optional says that an input may be left out. Inputs are left out from the last
	// one backwards.
	Optional bool
	// Variadic says that an input may come any number of times, at least once. Only the
	// last input may be so.
	Variadic bool
	// InPlace lists the inputs whose very tensor this output may be, by number. Any
	// other overlap of an output with an operand is an error.
	InPlace []int
}

// Kernel is a compute shader of package spirv that an operation's plans launch.
type Kernel struct {
	// Name is the shader's name, "group/op[_phase].dtype[.variant]".
	Name string
	// Params is the zero value of the Go struct that is its push-constant
	// block: exported 4-byte scalars in the shader's order. Each is named as in the
	// shader, with a capital letter. Nil means that it has none.
	Params any
}

// Op is a declared operation, for any Call. Define makes it; its functions take calls of
// the type of Defaults and pointers to such.
type Op struct {
	Name    string   // snake case, such as "gaussian_blur"
	Aliases []string // other names that the command line accepts
	Group   string   // the folder of its shaders, such as "image"
	Doc     string   // what it computes; the first sentence is the summary
	Source  string   // paper, specification or routine it follows; may be empty
	In, Out []Arg
	Traits
	// Defaults is a Call with the default attributes, and with examples of those that
	// have no default. All calls of the operation are of its type.
	Defaults Call
	// Kernels are the kernels of package spirv that plans of Lathe's own operations
	// launch, each with at least one. The ABI fingerprint covers these operations. An
	// operation of a program's own has none: its steps carry modules of gpu.ParseModule.
	Kernels []Kernel
	// Internal says that Lathe makes calls of it itself, and that it is not
	// offered by name.
	Internal bool

	// The functions are those of Definition, which says what each does, for any call of
	// the operation. A function that the Definition lacks is nil, with two exceptions:
	// Plan is there if PlanAt is, and Reference if Scalar is.
	Shape      func(c Call, in []tensor.Desc) ([]tensor.Desc, error)
	Plan       func(c Call, t *Target, in, out []tensor.Desc) (*Plan, error)
	PlanAt     func(c Call, t *Target, in, out []Place) (*Plan, error)
	Strategies func(c Call, t *Target, in, out []tensor.Desc) []string
	SizeClass  func(c Call, in []tensor.Desc) []int
	Reference  func(c Call, in, out []*tensor.Host)
	Tolerance  func(c Call, d tensor.DType, in []tensor.Desc) Tolerance
	Cost       func(c Call, in []tensor.Desc) Cost
	Halo       func(c Call) int
	Scalar     func(c Call, x []float64) float64
	// ForOpaque reports false for what is no call of the operation.
	ForOpaque func(c Call) (Call, bool)
	Cases     Cases

	id  uint64     // of its own, even if another operation has the same name
	key *keyLayout // how calls become keys; nil if Define did not make the operation
}

// Tolerance bounds |got − want| ≤ Abs + Rel·|want| for inputs as those of Cases.
type Tolerance struct {
	Abs, Rel float64
	// Why says where the bound comes from.
	Why string
	// Law is how Abs and Rel follow from the sizes of a call, in words. It is empty if
	// they do not.
	Law string
	// Any, where it is not 0, bounds |got − want| ≤ Any·Σ|t| for inputs of any value
	// that do not overflow, besides the rounding to a dtype of 16 bits. The t are the
	// terms whose sum the result is. Where no term is negative, Σ|t| is |want|.
	Any float64
	// AnyLaw says which terms these are and how Any follows from the sizes.
	AnyLaw string
	// Flips is the fraction of elements that may be wrong altogether, for
	// operations with a threshold that rounding can cross.
	Flips float64
}

// Cost is the arithmetic and the least memory traffic of a call.
type Cost struct {
	Flops int64 // floating-point operations
	Bytes int64 // bytes read and written, each counted once
}
