package conformance

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// outcome is the result of a case.
type outcome struct {
	status Status
	// abs and rel are the largest errors.
	abs, rel float64
	// used is the largest error, divided by the tolerance.
	used float64
	// worst is the index of the element with the largest used.
	worst []int
	// flips is the number of elements outside the tolerance, if Flips allows some.
	flips int
	// elems is the number of elements.
	elems   int
	message string
	err     error
}

func pass() outcome { return outcome{status: Pass} }

func fail(err error) outcome {
	return outcome{status: Fail, message: err.Error(), err: err}
}

func failf(format string, args ...any) outcome { return fail(fmt.Errorf(format, args...)) }

// merge returns the outcome of two checks of one case.
func (o outcome) merge(p outcome) outcome {
	if p.status == Fail && o.status != Fail {
		o.status, o.message, o.err = p.status, p.message, p.err
	}
	if p.used > o.used || o.worst == nil {
		o.used, o.worst = p.used, p.worst
	}
	o.abs, o.rel = max(o.abs, p.abs), max(o.rel, p.rel)
	o.flips, o.elems = o.flips+p.flips, o.elems+p.elems
	return o
}

// compare compares elements with the reference. An element may also be right for one of
// others, which are results that are right too. NaN and infinities must match element by
// element. Only then are distances compared. The sign of a zero does not matter.
func compare(got []byte, want *tensor.Host, tol spec.Tolerance, others ...*tensor.Host) outcome {
	o := pass()
	o.elems = want.Elems()
	if bytes.Equal(got, want.Data) {
		return o
	}
	have, ref := floats(want.Desc, got), floats(want.Desc, want.Data)
	for _, other := range others {
		for i, w := range other.Floats() {
			if !isWithin(have[i], ref[i], tol) && isWithin(have[i], w, tol) {
				ref[i] = w
			}
		}
	}
	wrong, first := 0, -1
	worst := -1
	for i, w := range ref {
		g := have[i]
		if isSpecial(g) || isSpecial(w) {
			if g != w && !(g != g && w != w) {
				return failAt(o, want, i, "element %v: got %v, want %v (NaN and infinities must match)", g, w)
			}
			continue
		}
		err := math.Abs(g - w)
		allowed := tol.Bound(want.Desc, ref, i)
		if !(err <= allowed) { // also if the tolerance is NaN
			if wrong++; first < 0 {
				first = i
			}
			if tol.Flips > 0 {
				continue // Flips are counted. They are not part of the worst error.
			}
		}
		o.abs = max(o.abs, err)
		if w != 0 {
			o.rel = max(o.rel, err/math.Abs(w))
		}
		if used := err / allowed; err > 0 && (used > o.used || worst < 0) {
			o.used, worst = used, i
		}
	}
	if worst >= 0 {
		o.worst = unravel(worst, want.Shape)
	}
	o.flips = wrong
	if may := int(math.Ceil(tol.Flips * float64(o.elems))); wrong > may {
		o = failAt(o, want, first, "element %v: got %v, want %v", have[first], ref[first])
		o.message += fmt.Sprintf("; %d of %d elements off by more than %g + %g·|want|, %d may be", wrong, o.elems, tol.Abs, tol.Rel, may)
		if tol.ByAlpha > 0 {
			o.message += fmt.Sprintf("; colours by %g/alpha more", tol.ByAlpha)
		}
	}
	return o
}

// isWithin reports whether a result is within the tolerance of the reference.
func isWithin(g, w float64, tol spec.Tolerance) bool {
	if isSpecial(g) || isSpecial(w) {
		return g == w || g != g && w != w
	}
	return math.Abs(g-w) <= tol.Abs+tol.Rel*math.Abs(w)
}

// floats decodes contiguous elements. It is faster than Host.Floats for the common
// dtypes.
func floats(d tensor.Desc, data []byte) []float64 {
	out := make([]float64, 0, d.Elems())
	switch d.DType {
	case tensor.F32:
		for i := 0; i+4 <= len(data); i += 4 {
			out = append(out, float64(math.Float32frombits(binary.LittleEndian.Uint32(data[i:]))))
		}
	case tensor.U8:
		for _, b := range data {
			out = append(out, float64(b))
		}
	default:
		out = (&tensor.Host{Desc: tensor.Contiguous(d.DType, d.Shape...), Data: data}).Floats()
	}
	return out
}

func isSpecial(v float64) bool { return v != v || math.IsInf(v, 0) }

// failAt returns the outcome as failed at element i. The arguments of format are the
// index, got and want.
func failAt(o outcome, t *tensor.Host, i int, format string, got, want float64) outcome {
	o.status, o.worst = Fail, unravel(i, t.Shape)
	o.err = fmt.Errorf(format, o.worst, got, want)
	o.message = o.err.Error()
	return o
}

// unravel turns the number of an element in row-major order into an index.
func unravel(i int, shape []int) []int {
	index := make([]int, len(shape))
	for d := len(shape) - 1; d >= 0; d-- {
		index[d] = i % shape[d]
		i /= shape[d]
	}
	return index
}

// finite replaces numbers that JSON cannot express.
func finite(v float64) float64 {
	if v != v {
		return 0
	}
	return min(max(v, -math.MaxFloat64), math.MaxFloat64)
}
