package random

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/families/indexing"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

const (
	sampleKeys    = "random/sample_keys"
	samplePenalty = "random/sample_penalty"
	samplePick    = "random/sample_pick"
	// MostTokens is how many logits a row may have.
	MostTokens = 1 << 18
)

// sampleKeysParams is the push-constant block of random/sample_keys.comp.
type sampleKeysParams struct {
	Count, Base, KeyBase uint32
}

// samplePenaltyParams is the push-constant block of random/sample_penalty.comp.
type samplePenaltyParams struct {
	Count, Each, Vocabulary, Base, KeyBase, TokenBase, CountBase, CountStep, Counted uint32
	Penalty, Reward                                                                  float32
	Zero                                                                             uint32
}

// samplePickParams is the push-constant block of random/sample_pick.comp.
type samplePickParams struct {
	Count, Base, Row, Words, First, StepBase, OutBase, Share, Greedy, KeyLow, KeyHigh uint32
	Inverse                                                                           float32
	Zero                                                                              uint32
}

// SampleKernels lists the kernels of Sampling.Plan.
func SampleKernels() []spec.Kernel {
	return slices.Concat(indexing.SortKernels(), planner.DTypeVariants(sampleKeys, sampleKeysParams{}, DTypes, nil),
		planner.DTypeVariants(samplePenalty, samplePenaltyParams{}, DTypes, nil), []spec.Kernel{{Name: samplePick, Params: samplePickParams{}}})
}

// Sampling says how a token is drawn from logits.
type Sampling struct {
	// Temperature, TopP and Penalty are 0 if they are off; TopK too.
	Temperature, TopP, Penalty float64
	TopK, Seed                 int
}

// Greedy reports whether the token of the largest logit is taken.
func (s Sampling) Greedy() bool { return s.Temperature == 0 || s.TopK == 1 }

// Inverse returns the factor of the differences of logits.
func (s Sampling) Inverse() float32 {
	if s.Greedy() {
		return 1
	}
	return float32(1 / s.Temperature)
}

// Share returns TopP in 65536ths, or 0 if all tokens are kept.
func (s Sampling) Share() uint32 {
	if n := math.Round(s.TopP * 65536); s.TopP > 0 && n < 65536 && !s.Greedy() {
		return uint32(max(n, 1))
	}
	return 0
}

// Kept returns how many tokens of n are drawn from, before TopP.
func (s Sampling) Kept(n int) int {
	if s.TopK > 0 && !s.Greedy() {
		return min(n, s.TopK)
	}
	return n
}

// Check returns an error for attributes out of range, and for inputs that do not suit each other: logits [batch, n], a step, tokens
// before, and how many of them there are.
// Errors: ErrInvalidArgument, ErrUnsupported.
func (s Sampling) Check(in []tensor.Desc) error {
	finite := func(v float64) bool { return v == 0 || v > 0 && v <= math.MaxFloat32 && 1/v <= math.MaxFloat32 }
	switch {
	case !finite(s.Temperature):
		return planner.Invalid("temperature %v (want 0, or a number whose inverse f32 can hold)", s.Temperature)
	case !finite(s.Penalty):
		return planner.Invalid("repetition_penalty %v (want 0, or a number whose inverse f32 can hold)", s.Penalty)
	case !(s.TopP >= 0 && s.TopP <= 1):
		return planner.Invalid("top_p %v (want 0 to 1)", s.TopP)
	case s.TopK < 0:
		return planner.Invalid("top_k %d (want 0 or more)", s.TopK)
	}
	logits := in[0]
	if len(logits.Shape) != 2 || logits.Shape[1] == 0 {
		return planner.Invalid("input logits is %v (want [batch,n], n above 0)", logits)
	}
	if logits.Shape[1] > MostTokens {
		return planner.Unsupported("input logits is %v (want at most %d logits of a row)", logits, MostTokens)
	}
	if err := planner.CheckFew("step", in[1], 1); err != nil {
		return err
	}
	if len(in) > 2 && (len(in[2].Shape) != 2 || in[2].Shape[0] != logits.Shape[0]) {
		return planner.Invalid("input previous is %v (want [%d,...])", in[2], logits.Shape[0])
	}
	if len(in) > 3 {
		return planner.CheckFew("previous_count", in[3], logits.Shape[0])
	}
	return nil
}

// Plan plans output 0, a token of each row. Check has accepted the inputs.
// Errors: *LimitError, ErrStrides.
func (s Sampling) Plan(t *spec.Target, in, out []spec.Place) (*spec.Plan, error) {
	logits, plan := in[0].Desc, &spec.Plan{}
	if err := planner.Aligned(out[0], in[0]); err != nil {
		return nil, err
	}
	rows, n := logits.Shape[0], logits.Shape[1]
	if rows == 0 {
		return plan, nil
	}
	step, err := planner.FewOf(t, 1, in[1])
	if err != nil {
		return nil, err
	}
	room := int(min(planner.MaxSpan(t, false), planner.MaxWindow) - planner.WindowAlign(t) - planner.Pack)
	most := min(room/8/max(n, 1), int(t.MaxGroups[0])) // rows of a launch
	if len(in) > 2 {
		if err := planner.Aligned(in[2]); err != nil {
			return nil, err
		}
		if length := 4 * in[2].Desc.Shape[1]; length > room {
			return nil, &errs.LimitError{Name: "MaxBinding", Want: int64(length), Have: int64(room)}
		}
		most = min(most, room/4/max(in[2].Desc.Shape[1], 1)) // rows of both fit
	}
	if most <= 0 {
		return nil, &errs.LimitError{Name: "MaxBinding", Want: int64(8 * n), Have: int64(room)}
	}
	keys := planner.AddScratch(plan, 4*int64(rows)*int64(n))
	for first := 0; first < rows; first += most {
		if err := s.addKeys(plan, t, in, keys, first, min(most, rows-first)); err != nil {
			return nil, err
		}
	}
	words, kept := 1, s.Kept(n)
	if kept < n || s.Share() > 0 {
		if keys, err = indexing.AddSortRows(plan, t, keys, rows, n, 32); err != nil {
			return nil, err
		}
		words = 2
	}
	p := samplePickParams{Count: uint32(kept), Row: uint32(n * words), Words: uint32(words), StepBase: step.Base, Share: s.Share(), Inverse: s.Inverse(), KeyLow: uint32(int64(s.Seed)), KeyHigh: uint32(uint64(int64(s.Seed)) >> 32)}
	if s.Greedy() {
		p.Greedy = 1
	}
	for first := 0; first < rows; first += most {
		count := min(most, rows-first)
		from, base := planner.WordWindow(t, keys, 4*words*n, first, count)
		to, at := planner.WordWindow(t, spec.Out(0), 4, first, count)
		p.First, p.Base, p.OutBase = uint32(first), base, at
		plan.Steps = append(plan.Steps, spec.Step{Module: spirv.Kernel(samplePick), Params: p, Groups: [3]uint32{uint32(count), 1, 1}, Bind: []spec.Bind{from, step.Bind, to}})
	}
	return plan, nil
}

// addKeys appends the launches that make the keys of some rows.
func (s Sampling) addKeys(plan *spec.Plan, t *spec.Target, in []spec.Place, keys spec.Ref, first, rows int) error {
	logits := in[0].Desc
	n, size := logits.Shape[1], logits.DType.Size()
	from, base := planner.Window(t, spec.In(0), size, int64(first*n), int64(rows*n))
	to, toBase := planner.WordWindow(t, keys, 4*n, first, rows)
	add := func(kernel string, p any, count int, bind ...spec.Bind) error {
		groups, err := planner.Grid(t, planner.CeilDiv(int64(count), planner.SmallGroup))
		plan.Steps = append(plan.Steps, spec.Step{Module: spirv.Kernel(kernel + "." + logits.DType.String()), Params: p, Groups: groups, Bind: bind})
		return err
	}
	if err := add(sampleKeys, sampleKeysParams{uint32(rows * n), base, toBase}, rows*n, from, to); err != nil {
		return err
	}
	if len(in) < 3 || in[2].Desc.Shape[1] == 0 || s.Penalty == 0 || s.Penalty == 1 {
		return nil
	}
	length := in[2].Desc.Shape[1]
	p := samplePenaltyParams{
		Count: uint32(rows * length), Each: uint32(length), Vocabulary: uint32(n), Base: base, KeyBase: toBase,
		Penalty: float32(s.Penalty), Reward: float32(1 / s.Penalty),
	}
	var tokens spec.Bind
	tokens, p.TokenBase = planner.WordWindow(t, spec.In(2), 4*length, first, rows)
	counts := tokens // This is not read.
	if len(in) > 3 {
		few, err := planner.FewOf(t, 3, in[3])
		if err != nil {
			return err
		}
		counts, p.Counted, p.CountStep = few.Bind, 1, few.Step()
		p.CountBase = few.Base + uint32(first)*few.Step()
	}
	return add(samplePenalty, p, rows*length, from, tokens, counts, to)
}
