// Package spec describes operations. A description has the kernels of an operation, the
// rule for its shapes, the plan that turns a call into kernel launches, a reference in
// float64, and the cases it must pass. An operation is declared once, with Define. The
// executor, the conformance suite, the benchmarks, the documentation and the graph
// compiler all read that declaration. spec knows no device. A Target describes a device
// as data.
package spec

import (
	"math"

	"github.com/lathe-gpu/lathe/tensor"
)

// Call is an operation with its attributes. Each operation exports a struct of its
// attributes that is its Call, such as imageops.GaussianBlur{Sigma: 3}. A pointer to the
// struct is a Call too.
type Call interface {
	// Spec returns the declaration of the operation.
	Spec() *Op
}

// Arg is an input or output of an operation.
type Arg struct {
	// Name is the name, such as "in".
	Name string
	// Doc says what it is and which shape it has, such as "[H,W,C] in 0..1".
	Doc string
	// DTypes are the element types that it may have. Nil means that Shape checks them.
	DTypes []tensor.DType
	// Strides says which strides the operation's plans can work with. Other operands are
	// packed first.
	Strides Strides
	// Optional says that a call may leave out this input and all after it.
	Optional bool
	// Skippable says that a call may leave out this input and have later ones. A tensor of
	// shape [0] stands for it then: see Op.LeftOut.
	Skippable bool
	// CallOnly says that the methods which are named after operations have no parameter for this input, which is
	// optional. Device.Call and the command line take it.
	CallOnly bool
	// Variadic says that there may be any number of inputs like this one, but at least
	// one. Only the last input may be variadic.
	Variadic bool
	// InPlace lists the inputs, by number, that this output may overwrite: both may be the
	// same tensor. Any other overlap of an output with an operand is an error.
	InPlace []int
	// RoundsByStrides says that the rounding of this output may depend on the strides and the
	// alignment of the operands: plans for other ones may add in another order. For the same
	// ones it is the same in place and elsewhere.
	RoundsByStrides bool
}

// Kernel is a compute shader of package spirv that an operation's plans launch.
type Kernel struct {
	// Name is the name of the shader, "group/op[_phase].dtype[.variant]".
	Name string
	// Params is the zero value of the Go struct that describes the push-constant block.
	// Its exported fields are the block's scalars of 4 bytes, in the same order. Each has
	// the name that it has in the shader, with a capital first letter. Nil means that
	// there is no block.
	Params any
}

// Op is a declared operation. Define makes it. Its functions accept calls of the type of
// Defaults, and pointers to such calls.
type Op struct {
	// Name is the name in snake case, such as "gaussian_blur".
	Name string
	// Aliases are other names that the command line accepts.
	Aliases []string
	// Forms are how text may give attributes without their names. Definition.Forms explains them.
	Forms []string
	// Group is the folder of the operation's shaders, such as "image".
	Group string
	// Doc says what the operation computes. Its first sentence is a summary.
	Doc string
	// Source is the paper, specification or routine that the operation follows. It may be
	// empty.
	Source string
	// In and Out are the inputs and outputs.
	In, Out []Arg
	Traits
	// Defaults is a Call with the default attributes, and with examples for required
	// attributes. All calls of the operation have its type.
	Defaults Call
	// Kernels are the kernels of package spirv that plans of Lathe's own operations
	// launch. Each of these operations has at least one, and the ABI fingerprint covers
	// them. An operation that a program declares has none. Its steps carry modules from
	// gpu.ParseModule.
	Kernels []Kernel
	// Internal says that only Lathe itself makes calls of the operation. Users cannot name
	// it.
	Internal bool
	// WritesAll says that plans write every element of the outputs. Definition.WritesAll
	// says what follows from that.
	WritesAll bool

	// These functions are those of Definition, which documents them. They accept any call
	// of the operation. A function that the Definition lacks is nil, with two exceptions:
	// Plan is set if PlanAt is, and Reference is set if Scalar is.
	Shape      func(c Call, in []tensor.Desc) ([]tensor.Desc, error)
	Plan       func(c Call, t *Target, in, out []tensor.Desc) (*Plan, error)
	PlanAt     func(c Call, t *Target, in, out []Place) (*Plan, error)
	Strategies func(c Call, t *Target, in, out []tensor.Desc) []string
	SizeClass  func(c Call, in []tensor.Desc) []int
	Reference  func(c Call, in, out []*tensor.Host)
	Tolerance  func(c Call, d tensor.DType, in []tensor.Desc) Tolerance
	Cost       func(c Call, in []tensor.Desc) Cost
	Halo       func(c Call) int
	Strips     *Strips
	Crops      func(c Call, in tensor.Desc) (h, w int)
	Counts     func(c Call, in []tensor.Desc) int
	Scalar     func(c Call, x []float64) float64
	// ForOpaque reports false if c is not a valid call of the operation.
	ForOpaque func(c Call) (Call, bool)
	// ForGrey reports false if c is not a valid call of the operation.
	ForGrey func(c Call) (Call, bool)
	// Cases are what the conformance suite tries.
	Cases Cases

	// part is that of the Definition. Op.Part calls it.
	part func(c Call, t *Target, in []tensor.DType) Part
	// id is unique, even if another operation has the same name.
	id uint64
	// key says how calls are written as keys. It is nil if Define did not make the
	// operation.
	key *keyLayout
	// calls are the types of its calls.
	calls callTypes
	// pictures are the numbers of the fields of Defaults that are pictures.
	pictures []int
	// marked are the numbers of the fields of Defaults whose zeros reach the declaration as 0 where Given marks them.
	marked []int
}

// Tolerance says how far a result may be from the reference.
type Tolerance struct {
	// Abs and Rel bound |got − want| ≤ Abs + Rel·|want|, for inputs like those of Cases.
	Abs, Rel float64
	// Repeated is added to Abs where all elements along the last dimension of the inputs are
	// the same. Rounding errors of a sum of equal terms are not random, so such sums err more.
	Repeated float64
	// RepeatedFirst says that Repeated counts too where all elements along the first dimension of an input are the same. Without it,
	// √(Abs·Repeated) is added to Abs there, as for a sum whose terms are products of equal elements and random ones.
	RepeatedFirst bool
	// ByAlpha, divided by the alpha of the result, is added to Abs for the colours of a picture of
	// four components. It is for colours that are a sum divided by alpha. ByAlpha and alpha are parts
	// of 1, also in u8. There a colour may be any if its alpha is one level at most.
	ByAlpha float64
	// Why says where the bound comes from.
	Why string
	// Law says in words how Abs and Rel follow from the sizes of a call. It is empty if
	// they do not depend on them. RepeatedLaw says it of Repeated.
	Law, RepeatedLaw string
	// Any, if not 0, bounds |got − want| ≤ Any·Σ|t| for inputs of any value that do not
	// overflow. The rounding to a dtype of 16 bits comes in addition. The t are the terms
	// whose sum is the result. If no term is negative, Σ|t| is |want|.
	Any float64
	// AnyLaw says which terms these are, and how Any follows from the sizes.
	AnyLaw string
	// Flips is the fraction of elements that may be entirely wrong. It is for operations
	// with a threshold that a rounding error can cross.
	Flips float64
}

// Bound returns how far element i of a result may be from want, the elements of the reference in
// row-major order. d describes the result. It does not know of Any and Flips. It is NaN if want has
// no such element.
func (t Tolerance) Bound(d tensor.Desc, want []float64, i int) float64 {
	if i < 0 || i >= len(want) {
		return math.NaN()
	}
	bound := t.Abs + t.Rel*math.Abs(want[i])
	if t.ByAlpha == 0 || len(d.Shape) != 3 || d.Shape[2] != 4 || i%4 == 3 || i|3 >= len(want) {
		return bound
	}
	alpha := want[i|3]
	if d.DType != tensor.U8 {
		return bound + t.ByAlpha/max(alpha, 0)
	}
	if alpha <= 1 {
		return math.Inf(1)
	}
	return bound + 255*t.ByAlpha/((alpha-0.5)/255)
}

// Cost is the least work of a call.
type Cost struct {
	// Flops is the number of floating-point operations.
	Flops int64
	// Bytes is the number of bytes read and written. Each byte counts once.
	Bytes int64
}
