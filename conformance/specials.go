package conformance

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// specialPatterns lists the patterns with NaN, infinities and subnormals for an operation
// with these inputs. They are in one input at a time, so that none hides another. One
// more has infinities in all inputs.
func specialPatterns(in []tensor.Desc) []string {
	var names []string
	for i, d := range in {
		if !isFloat(d.DType) || d.Elems() == 0 {
			continue
		}
		for _, kind := range []string{"nan", "inf", "ninf", "ninf-rows", "ninf-all"} {
			names = append(names, fmt.Sprintf("%s-in%d", kind, i))
		}
	}
	if len(names) > 0 {
		names = append(names, "infs", "subnormals")
	}
	return names
}

// insertSpecials writes the special values of a pattern to the values of input i. If the
// operation declares a range without negative numbers, +Inf is written instead of -Inf.
func insertSpecials(values []float64, d tensor.Desc, i int, pattern string, low float64, given bool, rng source) {
	kind, at, one := strings.Cut(pattern, "-in")
	if n, err := strconv.Atoi(at); one && (err != nil || n != i) || len(values) == 0 {
		return
	}
	inf, ninf := math.Inf(1), math.Inf(-1)
	if given && low >= 0 {
		ninf = inf
	}
	some := rng.IntN(len(values))
	switch kind {
	case "nan":
		values[some] = math.NaN()
	case "inf":
		values[some] = inf
	case "ninf":
		values[some] = ninf
	case "ninf-rows": // This is every third row, including the first and the last one.
		columns := 1
		if n := len(d.Shape); n > 0 {
			columns = d.Shape[n-1]
		}
		for k := range values {
			if row := k / columns; row%3 == 0 || row == len(values)/columns-1 {
				values[k] = ninf
			}
		}
	case "ninf-all":
		for k := range values {
			values[k] = ninf
		}
	case "infs":
		for k := range values {
			switch rng.IntN(16) {
			case 0:
				values[k] = inf
			case 1:
				values[k] = ninf
			}
		}
	case "subnormals":
		least, normal := smallest(d.DType)
		small := []float64{0, math.Copysign(0, -1), least, -least, normal / 2, -normal / 2, normal - least, least - normal, normal, -normal}
		for k := range values {
			if v := small[rng.IntN(len(small))]; rng.IntN(2) == 0 && (!given || v >= low) {
				values[k] = v
			}
		}
	}
}

// smallest returns the least positive number of a dtype, and its least normal number.
func smallest(d tensor.DType) (least, normal float64) {
	switch d {
	case tensor.F16:
		return 0x1p-24, 0x1p-14
	case tensor.BF16:
		return 0x1p-133, 0x1p-126
	case tensor.F64:
		return 0x1p-1074, 0x1p-1022
	case tensor.F32:
		return 0x1p-149, 0x1p-126
	}
	return 0, 0
}

// flushSubnormals returns the inputs with zeros in place of subnormal numbers. Vulkan
// allows devices to do that. F16 is computed in F32, where its subnormal numbers are
// normal.
func flushSubnormals(in []*tensor.Host) []*tensor.Host {
	out := make([]*tensor.Host, len(in))
	for i, h := range in {
		out[i] = h
		if !isFloat(h.DType) || h.DType == tensor.F16 {
			continue
		}
		_, normal := smallest(h.DType)
		v := h.Floats()
		for k := range v {
			if math.Abs(v[k]) < normal {
				v[k] = math.Copysign(0, v[k])
			}
		}
		out[i] = tensor.NewHost(h.Desc)
		out[i].SetFloats(v)
	}
	return out
}

// toleranceFor returns the tolerance for inputs of a pattern. If there are subnormal
// inputs, results below the least normal number may be lost. Where a dimension repeats one element,
// an element of Flips comes as often as that.
func toleranceFor(pattern string, tol spec.Tolerance, in []tensor.Desc, out tensor.Desc) spec.Tolerance {
	switch pattern {
	case "subnormals":
		_, normal := smallest(out.DType)
		tol.Abs += normal
	case "gradient":
		// Sums of neighbours grow as those of equal elements, and their rounding errors are as random
		// as those of random elements: the bound is the geometric mean of both.
		tol.Abs += math.Sqrt(tol.Abs * tol.Repeated)
	case "repeated-first":
		// A sum may run along the first dimension of one input, as that of conv_input_grad does. It grows
		// as a sum of equal elements, and the other input is random, so that rounding errors are too.
		more := math.Sqrt(tol.Abs * tol.Repeated)
		if tol.RepeatedFirst || repeatsBoth(in) {
			more = tol.Repeated
		}
		tol.Abs += more
		tol.Flips = repeatedFlips(tol.Flips, out, 0)
	case "repeated-last":
		tol.Abs += tol.Repeated
		tol.Flips = repeatedFlips(tol.Flips, out, len(out.Shape)-1)
	}
	return tol
}

// repeatsBoth reports whether a sum may run along the dimension that repeats in the first two inputs, so that all of its
// products are the same. That of the first input comes after a first dimension of one element, as the channels of a single
// image do, and that of the second is its first one.
func repeatsBoth(in []tensor.Desc) bool {
	return len(in) > 1 && len(in[0].Shape) > 1 && len(in[1].Shape) > 0 && in[0].Shape[0] == 1 && in[1].Shape[0] > 1
}

// repeatedFlips rounds a part of the elements up to whole elements of a result that is the same
// along a dimension.
func repeatedFlips(flips float64, out tensor.Desc, dim int) float64 {
	if flips == 0 || dim < 0 || dim >= len(out.Shape) || out.Elems() == 0 {
		return flips
	}
	different := float64(out.Elems() / out.Shape[dim])
	return math.Ceil(flips*different) / different
}
