package ops

import (
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// mover is what one operation adds to the family of those that move elements
// and compute nothing: their plans are copies between strides.
type mover struct {
	name, doc, source string
	call              spec.Call
	kernels           []spec.Kernel
	in                spec.Arg
	out               string // what is said of the output
	// shape checks the attributes and gives the output's shape. The inputs are
	// checked, and are of one dtype.
	shape func(c spec.Call, in []tensor.Desc) ([]int, error)
	plan  func(plan *spec.Plan, c spec.Call, t *spec.Target, in []tensor.Desc, out tensor.Desc) error
	// from is the input and the index there that the element at an index of the
	// output comes from: the reference. The index may be changed.
	from    func(c spec.Call, in []*tensor.Host, index []int) (int, []int)
	calls   []spec.Call
	invalid []spec.Call
	refused [][]tensor.Desc
	dims    []spec.Dim
	inputs  func(d tensor.DType, dims []int) []tensor.Desc
	bench   func(d tensor.DType) []spec.BenchCase // nil for the first call on one matrix
}

// newMover declares an operation that moves elements of any dtype.
func newMover(m mover) *spec.Op {
	op := &spec.Op{
		Name: m.name, Group: "move", Doc: m.doc, Source: m.source,
		In:       []spec.Arg{m.in},
		Out:      []spec.Arg{{Name: "out", Doc: m.out}},
		Defaults: m.call,
		Kernels:  m.kernels,
	}
	op.Shape = func(c spec.Call, in []tensor.Desc) ([]tensor.Desc, error) {
		if err := check(op, in); err != nil {
			return nil, err
		}
		for _, d := range in {
			if d.DType != in[0].DType {
				return nil, invalid(op.Name, "inputs of dtypes %v and %v", in[0].DType, d.DType)
			}
		}
		shape, err := m.shape(c, in)
		if err != nil {
			return nil, err
		}
		out := tensor.Contiguous(in[0].DType, shape...)
		return []tensor.Desc{out}, out.Check()
	}
	op.Plan = func(c spec.Call, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
		plan := &spec.Plan{}
		return plan, m.plan(plan, c, t, in, out[0])
	}
	op.Reference = func(c spec.Call, in, out []*tensor.Host) {
		size := out[0].DType.Size()
		out[0].Each(func(index []int, to int) {
			i, at := m.from(c, in, append([]int(nil), index...))
			from := 0
			for d, st := range in[i].ElementStrides() {
				from += at[d] * st
			}
			copy(out[0].Data[to*size:(to+1)*size], in[i].Data[from*size:])
		})
	}
	op.Tolerance = func(spec.Call, tensor.DType, []tensor.Desc) spec.Tolerance {
		return spec.Tolerance{Why: "bits are moved"}
	}
	op.Cost = func(c spec.Call, in []tensor.Desc) spec.Cost {
		bytes := int64(0)
		for _, d := range in {
			bytes += int64(d.Elems() * d.DType.Size())
		}
		if out, err := op.Shape(c, in); err == nil {
			bytes += int64(out[0].Elems() * out[0].DType.Size())
		}
		return spec.Cost{Bytes: bytes}
	}
	op.Cases = spec.Cases{
		DTypes: tensor.DTypes(), Calls: append([]spec.Call{m.call}, m.calls...), Invalid: m.invalid, Refused: m.refused,
		Dims: m.dims, Inputs: m.inputs, Low: -100, High: 100, Specials: true,
		Bench: m.bench,
	}
	if m.bench == nil {
		op.Cases.Bench = benchCases(m.call, 1)
	}
	return spec.Register(op)
}
