package reduction

import (
	"math"
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

// powers are the leading 64 binary digits of e^0 to e^45, rounded down, for references.
var powers = [...]uint64{
	0x8000000000000000, 0xadf85458a2bb4a9a, 0xec7325c6a6ed6e61, 0xa0af2dfb7d882f96, 0xda64817139d2c33c, 0x9469c4cb819c78fb,
	0xc9b6e2b4860479bd, 0x891442d576ed5378, 0xba4f53ea38636f85, 0xfd38abe2387c0e1b, 0xac14ee7ca82afcf8, 0xe9e22447727bf9f7,
	0x9ef0b2a69be4d175, 0xd805ac8b564aa9aa, 0x92cd6245f82eb77c, 0xc786657d69543778, 0x87975e8540010249, 0xb849a4607527c673,
	0xfa791048ca05e985, 0xaa36c7cf69370b94, 0xe758445b47402010, 0x9d370fecf767eab2, 0xd5ad6dce21affc0d, 0x9135799d8fee052b,
	0xc55bfdaa3afdb99b, 0x861e9c904b164455, 0xb649934b535ae505, 0xf7c117bfb398e449, 0xa85dd1bcb1bcd27d, 0xe4d572318e02b158,
	0x9b823857614764f4, 0xd35bb2ec66fb66df, 0x8fa1fe625b3163ec, 0xc3379a5392bc108b, 0x84a9f179d0f7b868, 0xb44f110de46ad74c,
	0xf510ad0e906bb3a2, 0xa689fdd8d000cd3c, 0xe2599a30be633870, 0x99d21e941528c97a, 0xd11069cbcb97545a, 0x8e12e446fb431253,
	0xc1192ac1008ac9bb, 0x833951e4f5c38a02, 0xb25a0e369bc18ff3, 0xf267bb37f24df0da,
}

// exponent returns the number of binary digits of e^k before the point, less one.
func exponent(k int) int { return int(float64(k) * math.Log2E) }

// terms are e^−k in parts of 2^−62, rounded down, for references. All others are less than one part.
var terms = sync.OnceValue(func() []uint64 {
	list := []uint64{1 << wholeBits}
	for k := 1; exponent(k) < wholeBits; k++ {
		v, _ := bits.Div64(1<<(wholeBits-1-exponent(k)), 0, powers[k])
		list = append(list, v)
	}
	return list
})

// logarithm is that of x·2^−fraction, which is 1 or more, rounded down.
func logarithm(x uint64, fraction int) int {
	// No power but e^0 is a whole number of parts. So one whose whole parts are x is above x.
	isAbove := func(k int) bool {
		digits := exponent(k) + fraction
		return digits > 63 || powers[k]>>(63-digits) >= x
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
