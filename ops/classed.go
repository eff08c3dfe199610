package ops

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// newClassed completes an operation on rows of classes, [..., C], with a target
// class for each row as its second input: it adds the checks that such operations
// share, and their cases. Shape and Plan need not care for what is invalid or
// empty.
func newClassed(op *spec.Op) *spec.Op {
	shape, plan := op.Shape, op.Plan
	op.Shape = func(c spec.Call, in []tensor.Desc) ([]tensor.Desc, error) {
		if err := check(op, in); err != nil {
			return nil, err
		}
		if !slices.Contains(floats, in[0].DType) {
			return nil, unsupported(op.Name, "input %s is %v (want one of %v)", op.In[0].Name, in[0], floats)
		}
		if len(in[0].Shape) == 0 {
			return nil, invalid(op.Name, "a scalar has no classes")
		}
		rows, classes := in[0].Shape[:len(in[0].Shape)-1], in[0].Shape[len(in[0].Shape)-1]
		if !isIndex(in[1].DType) {
			return nil, unsupported(op.Name, "targets are %v (want i32 or i64)", in[1])
		}
		for i := 1; i < len(in); i++ {
			if !slices.Equal(in[i].Shape, rows) {
				return nil, invalid(op.Name, "input %s is %v (want %v)", op.In[i].Name, in[i], rows)
			}
			if i > 1 && in[i].DType != in[0].DType {
				return nil, invalid(op.Name, "input %s is %v (want %v)", op.In[i].Name, in[i], in[0].DType)
			}
		}
		if classes == 0 && in[1].Elems() > 0 {
			return nil, invalid(op.Name, "%v has no classes", in[0])
		}
		return shape(c, in)
	}
	op.Plan = func(c spec.Call, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
		if err := planable(op, t, in, out); err != nil {
			return nil, err
		}
		if in[1].Elems() == 0 {
			return &spec.Plan{}, nil
		}
		return plan(c, t, in, out)
	}
	op.Cases.DTypes, op.Cases.Calls = floats, []spec.Call{op.Defaults}
	op.Cases.Dims = []spec.Dim{{Name: "rows"}, {Name: "classes", Tiles: []int{16}}, {Name: "bits", Only: []int{32, 64}}}
	op.Cases.Sizes = [][]int{{2, 65535, 32}, {2, 65536, 64}, {3, 100000, 32}, {1, 1000000, 64}, {65535, 3, 32}, {65536, 2, 32}, {100000, 5, 64}}
	return spec.Register(op)
}

// classedInputs are scores [rows, classes] and targets [rows], of rank 3 and 2
// where rows are even, and what else there is a row.
func classedInputs(d tensor.DType, dims []int, more ...tensor.DType) []tensor.Desc {
	if dims[1] == 0 && dims[0] > 0 {
		return nil
	}
	index, rows := tensor.I32, []int{dims[0]}
	if dims[2] == 64 {
		index = tensor.I64
	}
	if dims[0]%2 == 0 {
		rows = []int{2, dims[0] / 2}
	}
	in := []tensor.Desc{tensor.Contiguous(d, append(slices.Clone(rows), dims[1])...), tensor.Contiguous(index, rows...)}
	for _, m := range more {
		in = append(in, tensor.Contiguous(m, rows...))
	}
	return in
}

// classedFaults are inputs with a target out of range, for scores of 5 rows.
func classedFaults(scores *tensor.Host, more ...*tensor.Host) [][]*tensor.Host {
	n := float64(scores.Shape[1])
	var sets [][]*tensor.Host
	for _, bad := range []struct {
		d     tensor.DType
		value float64
	}{{tensor.I32, -1}, {tensor.I32, n}, {tensor.I32, math.MaxInt32}, {tensor.I64, -1}, {tensor.I64, n}, {tensor.I64, 1<<32 + 1}} {
		targets := tensor.NewHost(tensor.Contiguous(bad.d, 5))
		targets.SetFloats([]float64{0, n - 1, 2, bad.value, 1})
		sets = append(sets, append([]*tensor.Host{scores, targets}, more...))
	}
	return sets
}

// rowOperand is an operand of so many bytes a row.
type rowOperand struct {
	ref  spec.Ref
	size int
}

// addPerRow appends the launches of a kernel over rows, a pack of d an
// invocation, in parts that fit bindings.
func addPerRow(plan *spec.Plan, t *spec.Target, name string, d tensor.DType, rows int, params func(count int) any, fault bool, operands ...rowOperand) error {
	align := int(windowAlign(t))
	widest := 1
	for _, o := range operands {
		widest = max(widest, o.size)
	}
	most := int(min(t.MaxBinding/int64(widest), 1<<24)) / align * align
	for first := 0; first < rows; first += most {
		count := min(most, rows-first)
		step := spec.Step{Kernel: name + "." + d.String(), Params: params(count)}
		for _, o := range operands {
			bind, _ := bindPart(t, o.ref, o.size, first, count)
			step.Bind = append(step.Bind, bind)
		}
		if fault {
			step.Bind = append(step.Bind, spec.Bind{Buf: spec.Status(0)})
		}
		var err error
		if step.Groups, err = grid(t, int64(ceilDiv(ceilDiv(count, 16/d.Size()), smallGroup))); err != nil {
			return err
		}
		plan.Steps = append(plan.Steps, step)
	}
	return nil
}
