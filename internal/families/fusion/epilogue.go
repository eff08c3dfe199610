package fusion

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Epilogue is an operation and elementwise ones on its result, which its kernels compute before they store it. The inputs
// are those of the operation, and then those of the elementwise operations, in which its result is broadcast with them.
//
// An operation can have one if its kernels store f32 elements, or those of f16 or bf16, in its only output, and do not read that. Then makes elements
// of one of these types. If they have another size, its functions store them, and the kernels do not: elements of 16 bits only where
// a kernel stores four elements at a time, or the device stores 16 bits. The results are bit for bit those of the operations one by one, but for the bits of NaN.
type Epilogue struct {
	// Call is the operation, and Inputs how many inputs it has.
	Call   spec.Call
	Inputs int
	// As is the shape in which Then takes the result. Nil is its own.
	As []int
	// Then are the elementwise operations. Their value 0 is the result, and the others follow. Their only output has as many
	// elements as the result.
	Then Fused
}

// Spec returns the declaration.
func (Epilogue) Spec() *spec.Op { return epilogueOp.Op() }

// Core returns the operation and its inputs. Tuning chooses a strategy for it.
func (e Epilogue) Core(in []tensor.Desc) (spec.Call, []tensor.Desc) {
	return e.Call, in[:max(0, min(e.Inputs, len(in)))]
}

// Check reports whether the operations can be computed together on a device, for inputs of these descriptions. It links
// nothing.
// Errors: those of Fused.Check; ErrUnsupported for kernels that can have no epilogue.
func (e Epilogue) Check(t *spec.Target, in []tensor.Desc) error {
	if t == nil {
		return planner.Invalid("no target to plan for")
	}
	out, err := e.Spec().Shape(e, in)
	if err != nil {
		return err
	}
	_, err = e.plan(t, in, out, false)
	return err
}

var epilogueOp = spec.Declaration{Define: func() *spec.Op {
	spirv.LinkFused()
	return spec.Define(spec.Definition[*Epilogue]{
		Name: "epilogue", Group: "fused", Internal: true, WritesAll: true,
		Doc:   "An operation, and elementwise ones on its result before it is stored.",
		In:    []spec.Arg{{Name: "in", Doc: "the inputs of all operations", Strides: spec.AnyStrides, Variadic: true}},
		Out:   []spec.Arg{{Name: "out", Doc: "the result"}},
		Shape: func(e *Epilogue, in []tensor.Desc) ([]tensor.Desc, error) { return e.shape(in) },
		Plan: func(e *Epilogue, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
			return e.plan(t, in, out, true)
		},
		Reference: func(e *Epilogue, in, out []*tensor.Host) { e.reference(in, out) },
		Cost: func(e *Epilogue, in []tensor.Desc) spec.Cost {
			result, err := e.result(in)
			if err != nil {
				return spec.Cost{}
			}
			sum := cost(&e.Then, e.then(in, result))
			sum.Bytes -= 2 * result.Bytes() // It is neither stored nor loaded.
			if op := e.op(); op.Cost != nil {
				c := op.Cost(e.Call, in[:e.Inputs])
				sum.Flops, sum.Bytes = sum.Flops+c.Flops, sum.Bytes+c.Bytes
			}
			return sum
		},
	})
}}

// op is the declaration of the operation, or an empty one.
func (e *Epilogue) op() *spec.Op {
	if e.Call != nil {
		if op := e.Call.Spec(); op != nil {
			return op
		}
	}
	return &spec.Op{}
}

// result is the description of the operation's result in the shape As.
func (e *Epilogue) result(in []tensor.Desc) (tensor.Desc, error) {
	op := e.op()
	if op.Shape == nil || op.Plan == nil || len(op.Out) != 1 || !op.WritesAll || e.Inputs < 1 || e.Inputs > len(in) {
		return tensor.Desc{}, planner.Invalid("an epilogue of an operation of %d inputs and %d outputs (got %d inputs)", e.Inputs, len(op.Out), len(in))
	}
	for i, d := range in[:e.Inputs] {
		if arg := op.In[min(i, len(op.In)-1)]; !arg.Strides.Takes(d) {
			return tensor.Desc{}, planner.Strides("%s takes no strides of input %d", op.Name, i)
		}
	}
	out, err := op.Shape(e.Call, in[:e.Inputs])
	if err != nil {
		return tensor.Desc{}, err
	}
	if bits := storedBits(out[0].DType); bits == 0 || !out[0].IsContiguous() {
		return tensor.Desc{}, planner.Unsupported("an epilogue of %v", out[0])
	}
	if e.As == nil {
		return out[0], nil
	}
	as := tensor.Contiguous(out[0].DType, e.As...)
	if err := as.Check(); err != nil || as.Elems() != out[0].Elems() {
		return tensor.Desc{}, planner.Invalid("a result of shape %v as %v", out[0].Shape, e.As)
	}
	return as, nil
}

// then are the inputs of the elementwise operations.
func (e *Epilogue) then(in []tensor.Desc, result tensor.Desc) []tensor.Desc {
	return append([]tensor.Desc{result}, in[e.Inputs:]...)
}

func (e *Epilogue) shape(in []tensor.Desc) ([]tensor.Desc, error) {
	result, err := e.result(in)
	if err != nil {
		return nil, err
	}
	out, err := fusedOp.Op().Shape(&e.Then, e.then(in, result))
	if err != nil {
		return nil, err
	}
	if len(out) != 1 || storedBits(out[0].DType) == 0 || !slices.Equal(out[0].Shape, result.Shape) {
		return nil, planner.Unsupported("an epilogue that makes %v of %v", out, result)
	}
	return out, nil
}

// storedBits is the number of bits of elements that can be stored through an epilogue, and 0 for others.
func storedBits(d tensor.DType) int {
	switch d {
	case tensor.F32, tensor.F16, tensor.BF16:
		return 8 * d.Size()
	}
	return 0
}

// reference computes the operation, and then the elementwise ones.
func (e *Epilogue) reference(in, out []*tensor.Host) {
	descs := make([]tensor.Desc, len(in))
	for i, x := range in {
		descs[i] = tensor.Contiguous(x.Desc.DType, x.Desc.Shape...)
	}
	shapes, err := e.op().Shape(e.Call, descs[:e.Inputs])
	if err != nil || len(shapes) != 1 {
		return // Shape has refused it.
	}
	result := tensor.NewHost(shapes[0])
	e.op().Reference(e.Call, in[:e.Inputs], []*tensor.Host{result})
	if e.As != nil {
		result.Desc = tensor.Contiguous(shapes[0].DType, e.As...)
	}
	reference(&e.Then, append([]*tensor.Host{result}, in[e.Inputs:]...), out)
}

// plan plans a call: the launches of the operation, of which those that store its result have the epilogue. Without link their modules
// are those of the operation.
// Errors: those of the operation's plan; ErrUnsupported, ErrStrides, *LimitError.
func (e *Epilogue) plan(t *spec.Target, in, out []tensor.Desc, link bool) (*spec.Plan, error) {
	result, err := e.result(in)
	if err != nil {
		return nil, err
	}
	op := e.op()
	own, err := op.Shape(e.Call, in[:e.Inputs])
	if err != nil {
		return nil, err
	}
	p, err := op.Plan(e.Call, t, in[:e.Inputs], own)
	if err != nil || result.Elems() == 0 {
		return p, err
	}
	if err := storedOnce(p, own[0]); err != nil {
		return nil, err
	}
	r := &rewriter{fused: &e.Then, in: e.then(in, result), inputs: e.Inputs, ref: spec.Out(0), link: link}
	return r.plan(t, p)
}
