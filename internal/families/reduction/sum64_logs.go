package reduction

import (
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strconv"
	"sync"

	"github.com/lathe-gpu/lathe/internal/families/logic"
	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// This file makes logarithms of integers. A logarithm is rounded down by comparing with powers of e, which are no
// integers. So results are the same on every device.

const (
	logShader   = "reduce/reduce_log"
	maxShader   = "reduce/reduce_max"
	termsShader = "reduce/reduce_terms"
	// wholeBits is the number of bits that a sum of terms may have.
	wholeBits = 62
	// termsGroup is the number of elements of which a workgroup of reduce/reduce_terms.comp makes terms.
	termsGroup = 256
)

// logParams is the push-constant block of reduce/reduce_log.comp.
type logParams struct {
	Count, Fraction, IsSigned, Words     uint32
	Lowest, LowestHigh, Limit, LimitHigh uint32
}

// paramsOf returns the parameters for results of dtype d, of sums with so many digits behind the point.
func paramsOf(d tensor.DType, count, fraction, words int) logParams {
	p := logParams{Count: uint32(count), Fraction: uint32(fraction), Words: uint32(words), Limit: uint32(largest(d)), LimitHigh: uint32(largest(d) >> 32)}
	if planner.Signed(d) == d {
		low := ^largest(d)
		p.IsSigned, p.Lowest, p.LowestHigh = 1, uint32(low), uint32(low>>32)
	}
	return p
}

// LogOfSum is the logarithm of a sum of integers, rounded down.
var LogOfSum = &Sum64{
	Narrow: "reduce/reduce_sum64", Wide: sumShader, Last: logShader,
	Params: func(d tensor.DType, _, count int) any { return paramsOf(d, count, 0, 0) },
	Rows: func(d tensor.DType, x []float64) float64 {
		sum := uint64(0)
		for _, v := range x {
			sum += uint64(planner.Whole(d, v))
		}
		switch {
		case sum == 0:
			return lowest(d)
		case planner.Signed(d) == d && int64(sum) < 0:
			return 0
		}
		return float64(logarithm(sum, 0))
	},
}

// LogOfExponentials is the logarithm of a sum of exponentials of integers, rounded toward 0.
var LogOfExponentials = &Sum64{
	Terms: true, Last: logShader + ".exp",
	Params: func(d tensor.DType, n, count int) any {
		words := planner.Accumulator(d).Size() / 4
		if n == 0 {
			words = 2 // There is no largest element. What takes its place is not used.
		}
		return paramsOf(d, count, fraction(n), words)
	},
	Rows: func(d tensor.DType, x []float64) float64 {
		if len(x) == 0 {
			return lowest(d)
		}
		most, f, sum := x[0], fraction(len(x)), uint64(0)
		for _, v := range x {
			most = max(most, v)
		}
		for _, v := range x {
			if k := most - v; k < float64(len(terms())) {
				sum += terms()[int(k)] >> (wholeBits - f)
			}
		}
		made := most + float64(logarithm(sum, f))
		if made < 0 && sum != 1<<f {
			made++
		}
		return min(made, float64(largest(d)))
	},
}

// fraction is the number of digits behind the point with which n terms of at most 1 are added.
func fraction(n int) int { return max(wholeBits-bits.Len(uint(max(n, 1)-1)), 0) }

// lowest returns the lowest integer of dtype d.
func lowest(d tensor.DType) float64 {
	if planner.Signed(d) != d {
		return 0
	}
	return -float64(largest(d)) - 1
}

// powers are e^0 to e^45, for references.
var powers = sync.OnceValue(func() []*big.Float {
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(x) }
	e, term := number(0), number(1)
	for k := 1.0; k < 100; k++ {
		e.Add(e, term)
		term.Quo(term, number(k))
	}
	list := []*big.Float{number(1)}
	for len(list) <= 45 {
		list = append(list, number(0).Mul(list[len(list)-1], e))
	}
	return list
})

// terms are e^−k in parts of 2^−62, for references. All others are less than one part.
var terms = sync.OnceValue(func() []uint64 {
	var list []uint64
	for _, p := range powers() {
		x := new(big.Float).SetMantExp(big.NewFloat(1), wholeBits)
		v, _ := x.SetPrec(400).Quo(x, p).Uint64()
		list = append(list, v)
	}
	return list
})

// logarithm is that of x·2^−fraction, which is 1 or more, rounded down.
func logarithm(x uint64, fraction int) int {
	isAbove := func(k int) bool {
		p := new(big.Float).SetMantExp(powers()[k], fraction)
		return p.Cmp(new(big.Float).SetUint64(x)) > 0
	}
	k := max(int(math.Log(float64(x))-float64(fraction)*math.Ln2), 0)
	for k > 0 && isAbove(k) {
		k--
	}
	for !isAbove(k + 1) {
		k++
	}
	return k
}

// termParams is the push-constant block of reduce/reduce_terms.comp.
type termParams struct{ Count, Shift uint32 }

// termKernels lists the kernels of addTerms.
func termKernels() []spec.Kernel {
	ks := Reducer{Shader: maxShader}.Kernels(planner.Integers...)
	ks = append(ks, logic.Difference.Kernels()...)
	return append(ks, planner.DTypeVariants(termsShader, termParams{}, []tensor.DType{tensor.U8, tensor.U16, tensor.U32, tensor.U64}, nil)...)
}

// addTerms appends the launches that make terms e^(x − m) of elements x, in parts of 2^−fraction. It returns where they are, and
// the accumulators m, which are the largest elements along the dimensions in set. The distances m − x have a place in the bits of
// an element, without a sign.
// Errors: *LimitError.
func addTerms(plan *spec.Plan, t *spec.Target, in tensor.Desc, set []bool) (made spec.Ref, maxima RowOperand, err error) {
	d, n := in.DType, in.Elems()
	most, err := AddAlong(plan, t, Reducer{Shader: maxShader, Values: 1}, in, set, spec.In(0), spec.Ref{})
	if err != nil {
		return made, maxima, err
	}
	maxima = RowOperand{most, planner.Accumulator(d).Size()}
	sizes, reduced := runs(in.Shape, set)
	kept, results := []int{}, 1
	for i, size := range sizes {
		if reduced[i] {
			size = 1
		}
		kept, results = append(kept, size), results*size
	}
	if planner.Accumulator(d) != d {
		small := planner.AddScratch(plan, int64(results*d.Size()))
		if err = addNarrow(plan, t, results, most, small, d); err != nil {
			return made, maxima, err
		}
		most = small
	}
	if len(sizes) > planner.MaxRank {
		if most, err = spread(plan, t, d, kept, sizes, most); err != nil {
			return made, maxima, err
		}
		sizes, kept = []int{n}, []int{n}
	}
	distances := planner.AddScratch(plan, in.Bytes())
	all := tensor.Contiguous(d, sizes...)
	if err = logic.Difference.Add(plan, t, []tensor.Desc{tensor.Contiguous(d, kept...), all}, all, most, spec.In(0), distances); err != nil {
		return made, maxima, err
	}
	made = planner.AddScratch(plan, int64(n)*8)
	k := planner.FlatKernel{Name: termsShader + ".u" + strconv.Itoa(8*d.Size()), Local: termsGroup * 8 / planner.Pack, Packs: 1}
	k.Params = func(_, count int) any {
		return termParams{uint32(count), uint32(wholeBits - fraction(length(in.Shape, set)))}
	}
	return made, maxima, planner.AddFlat(plan, t, k, n, planner.Flat(distances, d), planner.Flat(made, tensor.I64))
}

// spread appends the launches that repeat elements of shape along the dimensions in which sizes are larger, one after the
// other, for more dimensions than a kernel can walk. It returns where the result is.
// Errors: *LimitError.
func spread(plan *spec.Plan, t *spec.Target, d tensor.DType, shape, sizes []int, from spec.Ref) (spec.Ref, error) {
	shape = slices.Clone(shape)
	for i, n := range sizes {
		if shape[i] == n {
			continue
		}
		outer, inner := tensor.Contiguous(d, shape[:i]...).Elems(), tensor.Contiguous(d, shape[i+1:]...).Elems()
		to := planner.AddScratch(plan, int64(outer)*int64(n)*int64(inner)*int64(d.Size()))
		err := movement.AddCopy(plan, t, d, []int{outer, n, inner},
			planner.Operand{Ref: from, Strides: []int{inner, 0, 1}}, planner.Operand{Ref: to, Strides: []int{n * inner, inner, 1}})
		if err != nil {
			return spec.Ref{}, err
		}
		shape[i], from = n, to
	}
	return from, nil
}
