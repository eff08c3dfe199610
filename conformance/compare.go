package conformance

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// outcome is what became of a case.
type outcome struct {
	status   Status
	abs, rel float64 // largest errors
	used     float64 // largest error as a part of what is allowed
	worst    []int   // index of the element with the largest used
	flips    int     // elements outside the tolerance, where Flips allows some
	elems    int
	message  string
	err      error
}

func pass() outcome { return outcome{status: Pass} }

func fail(err error) outcome {
	return outcome{status: Fail, message: err.Error(), err: err}
}

func failf(format string, args ...any) outcome { return fail(fmt.Errorf(format, args...)) }

// and merges the outcomes of two checks of one case.
func (o outcome) and(p outcome) outcome {
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

// compare checks elements against the reference, or against any of the other
// results that would be as right. NaN and infinities must match element by
// element before any distance counts; the sign of a zero does not.
func compare(got []byte, want *tensor.Host, tol spec.Tolerance, others ...*tensor.Host) outcome {
	o := pass()
	o.elems = want.Elems()
	if bytes.Equal(got, want.Data) {
		return o
	}
	have, ref := floats(want.Desc, got), floats(want.Desc, want.Data)
	for _, other := range others {
		for i, w := range other.Floats() {
			if !near(have[i], ref[i], tol) && near(have[i], w, tol) {
				ref[i] = w
			}
		}
	}
	wrong, first := 0, -1
	worst := -1
	for i, w := range ref {
		g := have[i]
		if special(g) || special(w) {
			if g != w && !(g != g && w != w) {
				return failAt(o, want, i, "element %v: got %v, want %v (NaN and infinities must match)", g, w)
			}
			continue
		}
		err := math.Abs(g - w)
		allowed := tol.Abs + tol.Rel*math.Abs(w)
		if err > allowed {
			if wrong++; first < 0 {
				first = i
			}
			if tol.Flips > 0 {
				continue // counted, and not part of the worst error
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
	}
	return o
}

// near reports whether a result is as good as the reference's.
func near(g, w float64, tol spec.Tolerance) bool {
	if special(g) || special(w) {
		return g == w || g != g && w != w
	}
	return math.Abs(g-w) <= tol.Abs+tol.Rel*math.Abs(w)
}

// floats decodes contiguous elements; the common dtypes without Host's detours.
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

func special(v float64) bool { return v != v || math.IsInf(v, 0) }

// failAt marks the outcome as failed at element i; format takes the index, got
// and want.
func failAt(o outcome, t *tensor.Host, i int, format string, got, want float64) outcome {
	o.status, o.worst = Fail, unravel(i, t.Shape)
	o.err = fmt.Errorf(format, o.worst, got, want)
	o.message = o.err.Error()
	return o
}

// unravel turns a row-major element number into an index.
func unravel(i int, shape []int) []int {
	index := make([]int, len(shape))
	for d := len(shape) - 1; d >= 0; d-- {
		index[d] = i % shape[d]
		i /= shape[d]
	}
	return index
}

// finite keeps a number writable as JSON.
func finite(v float64) float64 {
	if v != v {
		return 0
	}
	return min(max(v, -math.MaxFloat64), math.MaxFloat64)
}
