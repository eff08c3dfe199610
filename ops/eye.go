package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Eye makes a matrix [Rows,Columns] whose elements on diagonal K are 1. All others are 0. K is 0
// for the main diagonal, and counts to the right.
type Eye struct {
	Rows    int          `attr:"rows,required,zero" doc:"the number of rows, at least 0"`
	Columns int          `attr:"columns,required,zero" doc:"the number of columns, at least 0"`
	K       int          `attr:"k" doc:"the diagonal; 0 is the main one, 1 is right of it"`
	DType   tensor.DType `attr:"dtype" doc:"the element type"`
}

// Spec returns the declaration.
func (Eye) Spec() *spec.Op { return eyeOp.Op() }

var eyeOp = spec.Declaration{Define: func() *spec.Op {
	spirv.LinkMove()
	return spec.Define(spec.Definition[*Eye]{
		Name: "eye", Group: "move", Doc: "Makes a matrix whose elements on a diagonal are 1. All others are 0.",
		Out:      []spec.Arg{{Name: "out", Doc: "[rows,columns], of the attribute's dtype"}},
		Traits:   spec.Traits{Class: spec.Movement},
		Defaults: &Eye{Rows: 5, Columns: 7, DType: tensor.F32},
		Kernels:  append(movement.CopyKernels(), movement.FillKernels()...),
		Shape: func(c *Eye, _ []tensor.Desc) ([]tensor.Desc, error) {
			out := tensor.Contiguous(c.DType, c.Rows, c.Columns)
			return []tensor.Desc{out}, out.Check()
		},
		Plan: func(c *Eye, t *spec.Target, _, out []tensor.Desc) (*spec.Plan, error) {
			plan, d, row, column := &spec.Plan{}, c.DType, 0, 0
			if err := movement.AddFill(plan, t, 0, d, spec.Out(0), out[0].Elems()); err != nil {
				return nil, err
			}
			if k := min(max(c.K, -c.Rows), c.Columns); k < 0 {
				row = -k
			} else {
				column = k
			}
			n := min(c.Rows-row, c.Columns-column)
			if n <= 0 {
				return plan, nil
			}
			one := planner.AddScratch(plan, planner.Pack)
			if err := movement.AddFill(plan, t, 1, d, one, planner.Pack/d.Size()); err != nil {
				return nil, err
			}
			to := planner.Operand{Ref: spec.Out(0), Strides: []int{c.Columns + 1}, Base: row*c.Columns + column}
			return plan, movement.AddCopy(plan, t, d, []int{n}, planner.Operand{Ref: one, Strides: []int{0}}, to)
		},
		Reference: func(c *Eye, _, out []*tensor.Host) {
			out[0].Each(func(index []int, _ int) {
				v := 0.0
				if index[1]-index[0] == c.K {
					v = 1
				}
				out[0].Set(v, index...)
			})
		},
		Tolerance: func(*Eye, tensor.DType, []tensor.Desc) spec.Tolerance {
			return spec.Tolerance{Why: "every dtype has 0 and 1"}
		},
		Cost: func(c *Eye, _ []tensor.Desc) spec.Cost {
			return spec.Cost{Bytes: int64(tensor.Contiguous(c.DType, c.Rows, c.Columns).Elems() * c.DType.Size())}
		},
		Cases: spec.CasesOf[*Eye]{
			DTypes: tensor.DTypes(),
			Calls: []*Eye{
				{Rows: 5, Columns: 7, DType: tensor.F32}, {Rows: 100, Columns: 161, K: 3, DType: tensor.F32}, {Rows: 33, Columns: 1, DType: tensor.U8}, {Rows: 257, Columns: 2, K: -1, DType: tensor.Bool},
				{Rows: 9, Columns: 4, K: -20, DType: tensor.F16}, {Rows: 126, Columns: 130, K: 1, DType: tensor.BF16}, {Rows: 65, Columns: 63, DType: tensor.F64}, {Rows: 1, Columns: 5, K: 4, DType: tensor.I64},
				{Rows: 3, Columns: 0, DType: tensor.I8}, {Rows: 3, Columns: 3, K: math.MinInt32, DType: tensor.I32}, {Rows: 100, Columns: 3, DType: tensor.I8}, {Rows: 0, Columns: 4, DType: tensor.F32}, {Rows: 4000, Columns: 3, K: -1, DType: tensor.F16},
				{Rows: 7, Columns: 7, DType: tensor.U32}, {Rows: 30, Columns: 9, DType: tensor.I16}, {Rows: 11, Columns: 5, K: 1, DType: tensor.U16}, {Rows: 5, Columns: 6, DType: tensor.U64},
			},
			Inputs: func(*Eye, tensor.DType, []int) []tensor.Desc { return []tensor.Desc{} },
			Bench: planner.BenchCalls(func(d tensor.DType, rows, columns int) (spec.Call, []tensor.Desc) {
				return Eye{Rows: rows, Columns: columns, DType: d}, nil
			}),
			Invalid: []*Eye{{Rows: -1, Columns: 2, DType: tensor.F32}, {Rows: 2, Columns: -1, DType: tensor.F32}, {Rows: 2, Columns: 2, DType: tensor.DType(99)}, {Rows: math.MaxInt / 2, Columns: math.MaxInt / 2, DType: tensor.F32}},
		},
	})
}}
