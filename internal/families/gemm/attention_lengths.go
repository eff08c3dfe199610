package gemm

import (
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// These are inputs of attention by number.
const maskInput, lengthsInput = 3, 4

// hasMask reports whether a call has a mask. Before lengths, a tensor of shape [0] stands for one that is left out.
func hasMask(in []tensor.Desc) bool {
	leftOut := len(in) > lengthsInput && len(in[maskInput].Shape) == 1 && in[maskInput].Shape[0] == 0
	return len(in) > maskInput && !leftOut
}

// mostKeys bounds the keys of a call with lengths, which are elements of F32 on their way.
const mostKeys = 1 << 24

// lengthsParams is the push-constant block of attention_lengths.comp.
type lengthsParams struct{ Count, Base, Words, Most, At uint32 }

const lengthsShader = "nn/attention_lengths"

var lengthKernels = planner.DTypeVariants(lengthsShader, lengthsParams{}, []tensor.DType{tensor.F32, tensor.F64}, nil)

// lengths are numbers of keys that only the device knows. A query sees no key from there on, and causal attention counts from there.
type lengths struct {
	planner.Few
	// each is how many matrices have one length, and step is 1, or 0 if all matrices have one.
	each, step uint32
	// words is the scratch buffer with the numbers as words.
	words spec.Ref
}

// newLengths describes the lengths of a call.
// Errors: *LimitError.
func newLengths(t *spec.Target, in []spec.Place, out tensor.Desc) (*lengths, error) {
	few, err := planner.FewOf(t, lengthsInput, in[lengthsInput])
	if err != nil {
		return nil, err
	}
	if skv := in[1].Desc.Shape[len(in[1].Desc.Shape)-2]; skv > mostKeys {
		return nil, &errs.LimitError{Name: "keys", Want: int64(skv), Have: mostKeys}
	}
	l := &lengths{Few: few, each: 1}
	if few.Count > 1 {
		l.step = 1
		for _, n := range out.Shape[1 : len(out.Shape)-2] {
			l.each *= uint32(n)
		}
	}
	return l, nil
}

// count returns how many lengths there are, or 0 without any.
func (l *lengths) count() int {
	if l == nil {
		return 0
	}
	return l.Count
}

// lengthsAt returns where the lengths are among the statistics: behind them.
func (a *attention) lengthsAt() int { return 2 * (a.parts + 2) * a.rows }

// matrix returns the number of the first matrix of a region.
func (a *attention) matrix(b planner.Region) uint32 {
	n := 0
	for d := range a.values.inner() + 1 {
		n = n*a.values.shape[d] + b.From[d]
	}
	return uint32(n)
}

// addLengths appends the launch that puts the lengths where the kernels read them.
func (a *attention) addLengths() error {
	if a.lengths == nil {
		return nil
	}
	a.lengths.words = planner.AddScratch(a.plan, int64(4*a.lengths.Count))
	return a.addLengthsTo(a.lengths.words)
}

// addLengthsTo is addLengths for a buffer that begins with the words.
func (a *attention) addLengthsTo(words spec.Ref) error {
	l := a.lengths
	if l == nil {
		return nil
	}
	p := lengthsParams{Count: uint32(l.Count), Base: l.Base, Words: l.Words, Most: uint32(a.values.size(a.values.dimK())), At: uint32(a.lengthsAt())}
	groups, err := planner.Grid(a.t, int64(planner.CeilDiv(l.Count, planner.SmallGroup)))
	a.plan.Steps = append(a.plan.Steps, spec.Step{
		Module: spirv.Kernel(lengthsShader + "." + a.scores.accumulator().String()), Params: p, Groups: groups,
		Bind: []spec.Bind{l.Bind, {Buf: a.stats}, {Buf: words}},
	})
	return err
}

// seenBy returns how many of the keys from key from on the query i sees, and how many more each query after it. With lengths that
// is besides the number of keys.
func (a *attention) seenBy(i, from int) (seen int32, more uint32) {
	if a.lengths == nil {
		return int32(a.seen(i, from)), 1
	}
	if !a.causal {
		return int32(-from), 0
	}
	return int32(i - a.values.size(a.values.dimM()) + 1 - from), 1
}

// refusedLengths are inputs of attention with lengths that do not suit it.
func refusedLengths() [][]tensor.Desc {
	x, none := tensor.Contiguous(tensor.F32, 2, 3, 4), tensor.Contiguous(tensor.F32, 0)
	var sets [][]tensor.Desc
	for _, l := range []tensor.Desc{tensor.Contiguous(tensor.I32, 3), tensor.Contiguous(tensor.I32), tensor.Contiguous(tensor.I32, 2, 1), tensor.Contiguous(tensor.F32, 2), tensor.Contiguous(tensor.U32, 1)} {
		sets = append(sets, []tensor.Desc{x, x, x, none, l})
	}
	return sets
}
