// Package spec says how an operation is described: its kernels, the rule for
// its shapes, the plan that turns a call into kernel launches, a float64
// reference and the cases it must pass. An operation is declared once, and the
// conformance suite, the bench, the docs and the graph compiler all read that
// declaration. spec knows no device: a Target is data.
package spec

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/lathe-gpu/lathe/tensor"
)

// Call is an operation together with its attributes. Each operation exports a
// struct of its attributes that is its Call, such as imageops.GaussianBlur{Sigma: 3}.
type Call interface {
	// Spec returns the declaration of the operation called.
	Spec() *Op
}

// Mover is the Call of an operation that copies a tensor of any strides to one
// of any others. It may be told where the tensors begin.
type Mover interface {
	Call
	// PlanFrom plans a copy that begins src elements into the input and dst
	// elements into the output.
	PlanFrom(t *Target, in, out tensor.Desc, src, dst int) (*Plan, error)
}

// Arg is an input or output of an operation.
type Arg struct {
	Name string
	Doc  string // with the shape, such as "[H,W,C] in 0..1"
	// Optional inputs may be left out, from the last one backwards.
	Optional bool
	// Variadic inputs, only ever the last one, may come any number of times
	// from once on.
	Variadic bool
}

// Kernel is a compute shader that an operation's plans may launch.
type Kernel struct {
	// Name is the shader's name, "group/op[_phase].dtype[.variant]".
	Name string
	// Params is the zero value of the Go struct that is its push-constant
	// block: exported 4-byte scalars in the shader's order, named as there but
	// for the capital. Nil means it has none.
	Params any
}

// Op declares one operation.
type Op struct {
	Name    string   // snake case, such as "gaussian_blur"
	Aliases []string // other names the command line accepts
	Group   string   // the folder of its shaders, such as "image"
	Doc     string   // what it computes; the first sentence is the summary
	Source  string   // paper, specification or routine it follows, may be empty
	In, Out []Arg
	// Defaults is a Call with the default attributes, and examples of those that
	// have none; all calls of the operation are of its type. Attribute fields carry
	// the tags attr:"name" and doc:"meaning, unit, range"; attr:"name,required" is
	// of attributes that have no default. A zero is refused where the default is
	// another value, unless the tag is attr:"name,zero". Nil: any Call will do.
	Defaults Call
	Kernels  []Kernel
	// InPlace[i] is the input whose very tensor Out[i] may be, or -1. Outputs
	// past its end may be none. Any other overlap of an output with an operand
	// is an error.
	InPlace []int
	// Internal says that Lathe makes calls of it itself, and that it is not
	// offered by name.
	Internal bool

	// Shape checks attributes and inputs, and returns what the outputs are.
	// Errors: ErrInvalidArgument, ErrType, ErrUnsupported (a dtype).
	Shape func(c Call, in []tensor.Desc) ([]tensor.Desc, error)
	// Plan turns a checked call into launches for a target.
	Plan func(c Call, t *Target, in, out []tensor.Desc) (*Plan, error)
	// Variants, if set, names the ways in which Plan can carry out a call on a
	// target, for Target.Variant. The first is the one that Plan takes unasked;
	// fewer than two mean that there is no choice. The results of all of them
	// keep Tolerance, and differ in nothing but rounding.
	Variants func(c Call, t *Target, in, out []tensor.Desc) []string
	// Class goes with Variants: the numbers that decide which way is best, such
	// as sizes. Calls whose numbers are alike up to a factor of two, and whose
	// inputs are of the same dtypes, share the choice.
	Class func(c Call, in []tensor.Desc) []int
	// Reference computes the outputs in float64, sharing no code with Plan.
	// The outputs arrive allocated.
	Reference func(c Call, in, out []*tensor.Host)
	// Tolerance is how far an output of the dtype may be from Reference for
	// such inputs.
	Tolerance func(c Call, d tensor.DType, in []tensor.Desc) Tolerance
	// Cost is the useful work of a call, for rooflines.
	Cost  func(c Call, in []tensor.Desc) Cost
	Cases Cases
}

// Tolerance bounds |got − want| ≤ Abs + Rel·|want| for inputs as those of Cases. Why
// says where it comes from.
type Tolerance struct {
	Abs, Rel float64
	Why      string
	// Law is how Abs and Rel follow from the sizes of a call, in words; "" if they do
	// not.
	Law string
	// Any, where it is not 0, bounds |got − want| ≤ Any·Σ|t| for inputs of any value
	// that do not overflow, besides the rounding to a dtype of 16 bits: t are the terms
	// whose sum the result is, and AnyLaw says which these are and how Any follows from
	// the sizes. Where no term is negative, Σ|t| is |want|.
	Any    float64
	AnyLaw string
	// Flips is the fraction of elements that may be wrong altogether, for
	// operations with a threshold that rounding can cross.
	Flips float64
}

// Cost is the arithmetic and the least memory traffic of a call.
type Cost struct {
	Flops int64 // floating-point operations
	Bytes int64 // bytes read and written once each
}

// Cases says what a conformance suite should try.
type Cases struct {
	DTypes []tensor.DType // the one most used first
	Calls  []Call         // attribute settings, the defaults first
	// Dims are the free dimensions. The suite combines awkward values of each
	// (0, 1, primes, around every Tile).
	Dims []Dim
	// Sizes are further values of Dims to try once each, such as those at which
	// a kernel's loop would exceed what an invocation may run.
	Sizes [][]int
	// Inputs builds the inputs for values of Dims, or gives nil where there is
	// no such case.
	Inputs func(d tensor.DType, dims []int) []tensor.Desc
	// InputsOf, if set, is Inputs for calls other than the default one, where
	// attributes change the shapes.
	InputsOf func(c Call, d tensor.DType, dims []int) []tensor.Desc
	// Bench returns calls of everyday use for inputs of the dtype, small ones
	// first: three sizes at least, of some 64 KiB, 2 MiB and 16 MiB an operand.
	Bench func(d tensor.DType) []Work
	// Low and High bound the random values of inputs of floating point, and of
	// integers of 32 and 64 bits.
	Low, High float64
	// Range, if set, bounds the values of input i instead, both ends included:
	// indices lie within what they index, second moments are not negative.
	Range func(c Call, i int, in []tensor.Desc) (low, high float64)
	// Specials says that NaN and infinities in the inputs must come out as
	// IEEE 754 has it in Reference. The suite then tries such inputs.
	Specials bool
	// Invalid are calls that must be refused with ErrInvalidArgument.
	Invalid []Call
	// Refused are inputs that must be refused with ErrInvalidArgument or
	// ErrUnsupported, for the default call.
	Refused [][]tensor.Desc
	// Faults are inputs that only the device can refuse (see Plan.Fault), for
	// the default call: the run must fail with ErrInvalidArgument by the next
	// Sync, its outputs unchanged.
	Faults func(d tensor.DType) [][]*tensor.Host
}

// Work is a call of a bench and the inputs it gets.
type Work struct {
	Call Call
	In   []tensor.Desc
	// Opaque says that inputs are pictures whose fourth channel, alpha, is full
	// everywhere, as that of most is.
	Opaque bool
}

// Dim is a free dimension of an operation's cases.
type Dim struct {
	Name string
	// Tiles are sizes at which the kernels change behaviour.
	Tiles []int
	// Only, if set, lists all legal values, and the suite tries no others.
	Only []int
}

// Target is what a plan needs to know of the device.
type Target struct {
	// CPU says that the driver runs kernels on a processor (lavapipe,
	// SwiftShader), where loads are dear, arithmetic is cheap and barriers are
	// switches between coroutines.
	CPU            bool
	MaxBinding     int64 // bytes
	MaxTexels      int64 // texels of 16 bytes
	OffsetAlign    int64 // bytes
	TexelAlign     int64 // bytes
	MaxGroups      [3]uint32
	MaxInvocations uint32
	MaxSharedBytes uint32
	MaxParamBytes  uint32
	MaxBindings    uint32
	MaxIterations  uint32 // 0 = no limit known
	TexelBuffers   bool
	F16, F64, I64  bool
	// SubgroupSize is the invocations of a subgroup, a power of two of at least 4,
	// where workgroups of a multiple of it are cut into whole subgroups that can
	// shuffle; 0 where plans cannot rely on that.
	SubgroupSize uint32
	// Matrix is the m, n and k of cooperative matrices: a subgroup adds products of
	// f16 ones to one of f32. Zeros where there are none, or no SubgroupSize.
	Matrix [3]uint32
	// Variant is the way to take, of those that Op.Variants names. Plans decide
	// themselves where it is empty or does not fit the call.
	Variant string
}

// Plan is the launches that carry out a call, in order.
type Plan struct {
	Steps   []Step
	Scratch []int64 // bytes of each temporary buffer; contents undefined at first
	// Fault is set by plans whose inputs only the device can check, such as
	// indices. Their first steps report what is wrong in FaultWords, zero at
	// first, and the later ones do nothing if there is anything. Fault turns
	// words of which the first is not zero into the error of the next Sync or
	// Read.
	Fault func(words [4]uint32) error
}

// Step is one launch.
type Step struct {
	Kernel string
	Bind   []Bind
	Params any // the kernel's params struct
	Groups [3]uint32
}

// Bind is what a step binds at the slot of its position.
type Bind struct {
	Buf    Ref
	Offset int64 // bytes; aligned as Target says
	// Size in bytes may reach to the next multiple of 16 past the end of the
	// tensor or scratch buffer. 0 = up to there.
	Size int64
}

// Ref names an operand of the call or a scratch buffer of the plan.
type Ref int

// In is the i-th input.
func In(i int) Ref { return Ref(i) }

// Out is the i-th output.
func Out(i int) Ref { return Ref(1000 + i) }

// Scratch is the i-th scratch buffer.
func Scratch(i int) Ref { return Ref(2000 + i) }

// FaultWords are the four words that a Plan with a Fault reports in.
const FaultWords Ref = 3000

// Split returns the class of a Ref (0 input, 1 output, 2 scratch, 3 fault
// words) and its index.
func (r Ref) Split() (class, index int) { return int(r) / 1000, int(r) % 1000 }

var registry struct {
	sync.Mutex
	byName map[string]*Op
}

// Register adds an operation to the registry and returns it. From then on its
// functions take calls as Resolve does: pointers to calls too, and no other calls
// than its own. It panics on a second declaration of a name: that is a mistake of
// the program's text. Nil is not registered.
func Register(op *Op) *Op {
	if op == nil {
		return nil
	}
	registry.Lock()
	defer registry.Unlock()
	if registry.byName == nil {
		registry.byName = map[string]*Op{}
	}
	for _, n := range append([]string{op.Name}, op.Aliases...) {
		if registry.byName[n] != nil {
			panic(fmt.Sprintf("spec: operation %q declared twice", n))
		}
		registry.byName[n] = op
	}
	op.guard()
	return op
}

// All returns every registered operation by name.
func All() []*Op {
	registry.Lock()
	defer registry.Unlock()
	var ops []*Op
	for n, op := range registry.byName {
		if n == op.Name {
			ops = append(ops, op)
		}
	}
	slices.SortFunc(ops, func(a, b *Op) int { return strings.Compare(a.Name, b.Name) })
	return ops
}

// Lookup returns the operation of a name or alias, or nil.
func Lookup(name string) *Op {
	registry.Lock()
	defer registry.Unlock()
	return registry.byName[name]
}
