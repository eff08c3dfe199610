package reduction

import (
	"math"
	"math/bits"
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Sum64 describes results of integers that are made of sums of 64 bits.
type Sum64 struct {
	// Narrow names the kernels that add elements of up to 32 bits. Their shader includes lib/sum64.glsl. Wide names the
	// kernels for elements of 64 bits, whose accumulators are i64. With Terms, exponentials of elements are added instead,
	// and Last reads the largest elements too.
	Narrow, Wide string
	Terms        bool
	// Saturates says that sums do not wrap. Then the kernels of Wide merge them, and else those of reduce/reduce_sum.
	Saturates bool
	// Last names the kernel that makes a result of 64 bits of a sum. Params are its push constants, for count
	// results of n elements of dtype d.
	Last   string
	Params func(d tensor.DType, n, count int) any
	// Rows is the reference: a result of elements of dtype d.
	Rows func(d tensor.DType, x []float64) float64
}

const sumShader = "reduce/reduce_sum"

// narrow are the dtypes by which the kernels of Sum64.Narrow are named.
var narrow = []tensor.DType{tensor.I8, tensor.I16, tensor.I32}

// reducer returns the reducer of elements of dtype d, and the dtype by which its kernels are named.
func (s *Sum64) reducer(d tensor.DType) (Reducer, tensor.DType) {
	f := Reducer{Shader: s.Narrow, Values: 1, Sum64: true, Unsigned: planner.Signed(d) != d, Merger: sumShader}
	if d.Size() == 8 {
		f.Shader = s.Wide
	}
	if s.Saturates {
		f.Merger = s.Wide
	}
	return f, planner.Signed(d)
}

// withKernels returns kernels with those of s that are not among them.
func (s *Sum64) withKernels(ks []spec.Kernel) []spec.Kernel {
	var own []spec.Kernel
	if s.Terms {
		own = termKernels()
	} else {
		own = Reducer{Shader: s.Narrow, Sum64: true}.Kernels(narrow...)
		own = append(own, Reducer{Shader: s.Wide}.Kernels(tensor.I64)...)
	}
	if !s.Saturates {
		own = append(own, Reducer{Shader: sumShader}.Kernels(tensor.I64)...)
	}
	own = append(own, spec.Kernel{Name: s.Last + ".i64", Params: s.Params(tensor.I64, 0, 0)})
	for _, k := range own {
		if !slices.ContainsFunc(ks, func(o spec.Kernel) bool { return o.Name == k.Name }) {
			ks = append(ks, k)
		}
	}
	return ks
}

// plan plans the reduction of the dimensions in set.
// Errors: *LimitError.
func (s *Sum64) plan(t *spec.Target, in, out tensor.Desc, set []bool) (*spec.Plan, error) {
	plan := &spec.Plan{}
	if out.Elems() == 0 {
		return plan, nil
	}
	d, from, most := in.DType, spec.In(0), RowOperand{}
	f, named := s.reducer(d)
	if s.Terms {
		f, named = Reducer{Shader: sumShader, Values: 1}, tensor.I64
		if in.Elems() > 0 {
			var err error
			if from, most, err = addTerms(plan, t, in, set); err != nil {
				return nil, err
			}
		}
	}
	in.DType, out.DType = named, named
	more := stages{combine: sumShader}
	if s.Saturates {
		more = stages{}
	}
	sums, err := f.addPasses(plan, t, in, out, set, more, from, spec.Ref{})
	if err != nil {
		return nil, err
	}
	operands := []RowOperand{{sums, 8}}
	switch {
	case s.Terms && in.Elems() == 0: // There is no largest element. What takes its place is not used.
		operands = append(operands, operands[0])
	case s.Terms:
		operands = append(operands, most)
	}
	return plan, s.addLast(plan, t, d, length(in.Shape, set), out.Elems(), operands...)
}

// addLast appends the launches that make results of dtype d, each of n elements, of the operands.
// Errors: *LimitError.
func (s *Sum64) addLast(plan *spec.Plan, t *spec.Target, d tensor.DType, n, results int, operands ...RowOperand) error {
	made := spec.Out(0)
	if d.Size() < 8 {
		made = planner.AddScratch(plan, int64(results)*8)
	}
	params := func(count int) any { return s.Params(d, n, count) }
	if err := AddPerRow(plan, t, s.Last, tensor.I64, results, params, spec.Ref{}, append(operands, RowOperand{made, 8})...); err != nil || d.Size() == 8 {
		return err
	}
	return movement.AddCopy(plan, t, d, []int{results},
		planner.Operand{Ref: made, Strides: []int{8 / d.Size()}}, planner.Operand{Ref: spec.Out(0), Strides: []int{1}})
}

// rootParams is the push-constant block of reduce/reduce_root.comp. Count is the number of results.
type rootParams struct{ Count, Limit uint32 }

// RootOfSquares is the root of the sum of squares of integers, rounded down. It is no larger than the largest integer
// of the dtype, and than 2^32 − 1.
var RootOfSquares = &Sum64{
	Narrow: "reduce/reduce_square64", Wide: "reduce/reduce_square64", Last: "reduce/reduce_root", Saturates: true,
	Params: func(d tensor.DType, _, count int) any {
		return rootParams{uint32(count), uint32(min(largest(d), 1<<32-1))}
	},
	Rows: func(d tensor.DType, x []float64) float64 {
		limit, sum := min(largest(d), 1<<32-1), uint64(0)
		for _, v := range x {
			high, square := bits.Mul64(uint64(math.Abs(v)), uint64(math.Abs(v)))
			more, carry := bits.Add64(sum, square, 0)
			if high|carry != 0 {
				return float64(limit) // The root is 2^32 or more.
			}
			sum = more
		}
		root := min(uint64(math.Sqrt(float64(sum))), 1<<32-1)
		for root*root > sum {
			root--
		}
		return float64(min(root, limit))
	},
}

// largest returns the largest integer of dtype d.
func largest(d tensor.DType) uint64 {
	bits := 8 * d.Size()
	if planner.Signed(d) == d {
		bits--
	}
	return 1<<bits - 1
}
