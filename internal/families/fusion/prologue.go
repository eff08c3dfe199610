package fusion

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Prologue is an operation and elementwise ones that make one of its inputs, which its kernels compute from what they load. The inputs
// are those of the operation, with value 0 of the elementwise operations in the place of what they make, and then their other
// inputs.
//
// A kernel that loads an element several times computes it several times. The results are bit for bit those of the operations one by
// one, but for the bits of NaN.
type Prologue struct {
	// First are the elementwise operations. Their only output has the shape of their value 0, which lies contiguously in memory. It is
	// f32, and value 0 is f32, f16 or bf16.
	First Fused
	// Call is the operation, Inputs how many inputs it has, and Input which one First makes.
	Call          spec.Call
	Inputs, Input int
}

// Spec returns the declaration.
func (Prologue) Spec() *spec.Op { return prologueOp.Op() }

// Core returns the operation and its inputs. Tuning chooses a strategy for it. The inputs are nil if they make no sense.
func (p Prologue) Core(in []tensor.Desc) (spec.Call, []tensor.Desc) {
	own, err := p.own(in)
	if err != nil {
		return nil, nil
	}
	return p.Call, own
}

// Check reports whether the operations can be computed together on a device, for inputs of these descriptions. It links nothing.
// Errors: those of Fused.Check; ErrUnsupported for kernels that can have no prologue.
func (p Prologue) Check(t *spec.Target, in []tensor.Desc) error {
	if t == nil {
		return planner.Invalid("no target to plan for")
	}
	out, err := p.Spec().Shape(p, in)
	if err != nil {
		return err
	}
	_, err = p.plan(t, in, out, false)
	return err
}

var prologueOp = spec.Declaration{Define: func() *spec.Op {
	spirv.LinkFused()
	return spec.Define(spec.Definition[*Prologue]{
		Name: "prologue", Group: "fused", Internal: true, WritesAll: true,
		Doc: "An operation, and elementwise ones that make one of its inputs as it is loaded.",
		In:  []spec.Arg{{Name: "in", Doc: "the inputs of all operations", Strides: spec.AnyStrides, Variadic: true}},
		Out: []spec.Arg{{Name: "out", Doc: "the result"}},
		Shape: func(p *Prologue, in []tensor.Desc) ([]tensor.Desc, error) {
			own, err := p.own(in)
			if err != nil {
				return nil, err
			}
			return p.op().Shape(p.Call, own)
		},
		Plan: func(p *Prologue, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
			return p.plan(t, in, out, true)
		},
		Reference: func(p *Prologue, in, out []*tensor.Host) { p.reference(in, out) },
		Cost: func(p *Prologue, in []tensor.Desc) spec.Cost {
			own, err := p.own(in)
			if err != nil {
				return spec.Cost{}
			}
			sum := cost(&p.First, p.first(in))
			sum.Bytes -= 2 * own[p.Input].Bytes() // It is neither stored nor loaded.
			if op := p.op(); op.Cost != nil {
				c := op.Cost(p.Call, own)
				sum.Flops, sum.Bytes = sum.Flops+c.Flops, sum.Bytes+c.Bytes
			}
			return sum
		},
	})
}}

// op is the declaration of the operation, or an empty one.
func (p *Prologue) op() *spec.Op { return (&Epilogue{Call: p.Call}).op() }

// first are the inputs of the elementwise operations.
func (p *Prologue) first(in []tensor.Desc) []tensor.Desc {
	return append([]tensor.Desc{in[p.Input]}, in[p.Inputs:]...)
}

// own are the inputs of the operation.
func (p *Prologue) own(in []tensor.Desc) ([]tensor.Desc, error) {
	op := p.op()
	if op.Shape == nil || op.Plan == nil || len(op.Out) != 1 || !op.WritesAll || p.Inputs < 1 || p.Inputs > len(in) || p.Input < 0 || p.Input >= p.Inputs {
		return nil, planner.Invalid("a prologue of input %d of %d of an operation with %d outputs (got %d inputs)", p.Input, p.Inputs, len(op.Out), len(in))
	}
	made, err := fusedOp.Op().Shape(&p.First, p.first(in))
	if err != nil {
		return nil, err
	}
	from := in[p.Input]
	if len(made) != 1 || made[0].DType != tensor.F32 || storedBits(from.DType) == 0 || !from.IsContiguous() || !slices.Equal(made[0].Shape, from.Shape) {
		return nil, planner.Unsupported("a prologue that makes %v of %v", made, from)
	}
	own := slices.Clone(in[:p.Inputs])
	own[p.Input] = made[0]
	for i, d := range own {
		if arg := op.In[min(i, len(op.In)-1)]; !arg.Strides.Takes(d) {
			return nil, planner.Strides("%s takes no strides of input %d", op.Name, i)
		}
	}
	return own, nil
}

// plan plans a call: the launches of the operation, of which those that load the input compute it. Without link their modules are those of
// the operation.
// Errors: those of the operation's plan; ErrUnsupported, ErrStrides, *LimitError.
func (p *Prologue) plan(t *spec.Target, in, out []tensor.Desc, link bool) (*spec.Plan, error) {
	own, err := p.own(in)
	if err != nil {
		return nil, err
	}
	plan, err := p.op().Plan(p.Call, t, own, out)
	if err != nil || own[p.Input].Elems() == 0 {
		return plan, err
	}
	r := &rewriter{fused: &p.First, in: p.first(in), inputs: p.Inputs, ref: spec.In(p.Input), loads: true, link: link}
	return r.plan(t, plan)
}

// reference computes the elementwise operations, and then the operation.
func (p *Prologue) reference(in, out []*tensor.Host) {
	made := tensor.NewHost(tensor.Contiguous(tensor.F32, in[p.Input].Shape...))
	reference(&p.First, append([]*tensor.Host{in[p.Input]}, in[p.Inputs:]...), []*tensor.Host{made})
	own := slices.Clone(in[:p.Inputs])
	own[p.Input] = made
	p.op().Reference(p.Call, own, out)
}
