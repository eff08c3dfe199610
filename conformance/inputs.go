package conformance

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// patterns are the names of the patterns that are not random.
var patterns = []string{"low", "high", "middle", "gradient", "impulse", "checker"}

// prepared is a job with its inputs and the outputs of the reference.
type prepared struct {
	*job
	in   []*tensor.Host
	want []*tensor.Host
	// aliased are the outputs if every input that may be the tensor of the first one is
	// that tensor. It is nil if there is no such input.
	aliased []*tensor.Host
	// flushed are the outputs if the device replaces subnormal inputs by zero, which it
	// may do. It is nil if there are no subnormal inputs.
	flushed []*tensor.Host
	err     error

	mu    sync.Mutex
	known []verdict
}

// prepare fills the inputs of a job and computes the reference. Several goroutines call
// it.
func (s *suite) prepare(j *job) (p *prepared) {
	p = &prepared{job: j}
	defer func() {
		if r := recover(); r != nil {
			p.err = fmt.Errorf("the declaration of %s panicked: %v", j.op.Name, r)
		}
	}()
	if j.pattern == "none" {
		p.err = fmt.Errorf("no inputs of Cases suit the call %s", callName(j.call))
		return p
	}
	rng := rand.New(rand.NewPCG(s.seed(j)))
	descs := j.inputs()
	for i := range descs {
		p.in = append(p.in, j.fill(i, descs, rng))
	}
	if p.want, p.err = p.reference(p.in); p.err != nil {
		return p
	}
	if j.pattern == "subnormals" {
		if p.flushed, p.err = p.reference(flushSubnormals(p.in)); p.err != nil {
			return p
		}
	}
	if !slices.ContainsFunc(j.modes, func(m mode) bool { return m.alias }) {
		return p
	}
	same := slices.Clone(p.in)
	for i := range same {
		if i > 0 && p.interchangeable(i) {
			same[i] = same[0]
		}
	}
	if !slices.Equal(same, p.in) {
		p.aliased, p.err = p.reference(same)
	}
	return p
}

// interchangeable reports whether input i may be the same tensor as input 0.
func (p *prepared) interchangeable(i int) bool {
	return aliases(p.op, p.call, descsOf(p.in))[i]
}

// aliases reports for each input whether it may be the same tensor as the first. Their
// shapes, dtypes and ranges must be the same. The first one is not.
func aliases(op *spec.Op, call spec.Call, in []tensor.Desc) []bool {
	same := make([]bool, len(in))
	for i := 1; i < len(in); i++ {
		low0, high0, _ := valueBounds(op, call, 0, in)
		low, high, _ := valueBounds(op, call, i, in)
		same[i] = sameDesc(in[i], in[0]) && low == low0 && high == high0
	}
	return same
}

// valueBounds returns the least and the largest value of input i. given says that the
// operation declares these bounds for this input.
func valueBounds(op *spec.Op, c spec.Call, i int, in []tensor.Desc) (low, high float64, given bool) {
	if op.Cases.Range == nil {
		return op.Cases.Low, op.Cases.High, false
	}
	low, high = op.Cases.Range(c, i, in)
	return low, high, true
}

func sameDesc(a, b tensor.Desc) bool {
	return a.DType == b.DType && slices.Equal(a.Shape, b.Shape)
}

// reference computes the outputs in float64.
func (p *prepared) reference(in []*tensor.Host) ([]*tensor.Host, error) {
	descs := descsOf(in)
	outs, err := p.op.Shape(p.call, descs)
	if err != nil {
		return nil, fmt.Errorf("the shape rule refuses inputs %v of Cases.Inputs: %w", descs, err)
	}
	if len(outs) != len(p.op.Out) {
		return nil, fmt.Errorf("the shape rule gave %d outputs, the operation declares %d", len(outs), len(p.op.Out))
	}
	want := make([]*tensor.Host, len(outs))
	for i, d := range outs {
		want[i] = tensor.NewHost(d)
	}
	p.op.Reference(p.call, in, want)
	return want, nil
}

// source is where random values come from. *rand.Rand is one.
type source interface {
	Uint64() uint64
	Int64N(n int64) int64
	IntN(n int) int
}

// fill returns input i of the job with its values.
func (j *job) fill(i int, descs []tensor.Desc, rng source) *tensor.Host {
	h := tensor.NewHost(descs[i])
	low, high, given := valueBounds(j.op, j.call, i, descs)
	var settle func([]float64)
	if j.op.Cases.Settle != nil {
		settle = func(values []float64) { j.op.Cases.Settle(j.call, i, h.Desc, values) }
	}
	fillInput(h, i, j.pattern, low, high, given, settle, rng)
	return h
}

// fillInput fills input i with the values of a pattern between low and high. Small
// integers without a declared range get all their values. settle is spec.CasesOf.Settle, or nil.
func fillInput(h *tensor.Host, i int, pattern string, low, high float64, given bool, settle func([]float64), rng source) {
	whole := !isFloat(h.DType)
	if !given {
		switch h.DType {
		case tensor.U8:
			low, high = 0, 255
		case tensor.I8:
			low, high = -128, 127
		case tensor.Bool:
			low, high = 0, 1
		}
	}
	values := make([]float64, h.Elems())
	switch {
	case fillPattern(values, h.Desc, pattern, low, high):
	case whole:
		for k := range values {
			values[k] = low + float64(rng.Int64N(int64(high-low)+1))
		}
	default:
		for k := range values {
			// Clamping often goes wrong at the ends of the range.
			switch u := rng.Uint64(); u % 32 {
			case 0:
				values[k] = low
			case 1:
				values[k] = high
			default:
				// Without the conversion some processors add without rounding the product.
				values[k] = low + float64((high-low)*float64(u>>11)*0x1p-53)
			}
		}
	}
	if settle != nil {
		settle(values)
	}
	for _, m := range repeatModes[pattern] {
		repeatValues(values, h.Shape, m.in)
	}
	if !whole {
		insertSpecials(values, h.Desc, i, pattern, low, given, rng)
	}
	h.SetFloats(values)
}

// repeatValues makes row-major values repeat along the dimension that the layout repeats.
func repeatValues(values []float64, shape []int, lay layout) {
	k := lay.repeatedDim(shape)
	if lay.repeated == 0 || k < 0 {
		return
	}
	inner := 1
	for _, n := range shape[k+1:] {
		inner *= n
	}
	for i := range values {
		values[i] = values[i-i/inner%shape[k]*inner]
	}
}

func isFloat(d tensor.DType) bool {
	return d == tensor.F32 || d == tensor.F64 || d == tensor.F16 || d == tensor.BF16
}

// fillPattern fills the values of a pattern that is not random, and reports whether the
// pattern is one.
func fillPattern(values []float64, d tensor.Desc, pattern string, low, high float64) bool {
	if !slices.Contains(patterns, pattern) {
		return false
	}
	for i := range values {
		v := low
		switch pattern {
		case "high":
			v = high
		case "middle":
			v = (low + high) / 2
		case "gradient":
			v = low + (high-low)*float64(i)/float64(max(len(values)-1, 1))
		case "impulse":
			if i == len(values)/2 {
				v = high
			}
		case "checker":
			if indexSum(i, d.Shape)%2 == 1 {
				v = high
			}
		}
		values[i] = v
	}
	return true
}

// indexSum returns the sum of the indices of an element. If there is more than one, the
// last index does not count, so that pixels of a chequerboard are black or white.
func indexSum(i int, shape []int) int {
	if len(shape) < 2 {
		return i
	}
	sum := 0
	i /= shape[len(shape)-1]
	for d := len(shape) - 2; d >= 0; d-- {
		sum += i % shape[d]
		i /= shape[d]
	}
	return sum
}

// descsOf returns the descriptions of tensors.
func descsOf(hs []*tensor.Host) []tensor.Desc {
	ds := make([]tensor.Desc, len(hs))
	for i, h := range hs {
		ds[i] = h.Desc
	}
	return ds
}
