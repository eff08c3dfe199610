package ops

import (
	"cmp"
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/random"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Sample draws the next token of each row of logits [batch, n]. Its steps, in this order:
//
//  1. RepetitionPenalty: the logits of tokens in previous are divided by it if they are positive, and multiplied by it otherwise. A token that is there
//     twice is penalised once. Only the first previous_count tokens of a row count, if that is given, and numbers that are no token do not.
//  2. Temperature: all logits are divided by it, as differences from the largest, so that no quotient is too large. With 0 the token of the largest logit is taken, and of equal ones the first. So it is with a TopK of 1.
//  3. TopK: the tokens of the K largest logits are kept, of equal ones the first.
//  4. TopP: of the rest, with the most probable first, those are kept before which the sum of probabilities is below TopP.
//  5. One of the kept tokens is drawn by its probability, the exponential of its logit over their sum.
//
// An attribute of 0 leaves its step out, and so does a TopP or a RepetitionPenalty of 1. A Temperature of 0 takes the largest logit. Draws depend on the seed, the step and the row only: the word that
// RandomBits makes with that Seed, the row as its Stream and the step as its Offset. The step, I32 [1], is read on the device, and so are the tokens, which makes one
// call serve all steps of a decoder. The result, I32 [batch], can be the indices of Embedding.
//
// Every device draws the same token from the same logits: weights are whole numbers, 2^26 for the largest logit, and tokens whose weight is below 1 are never drawn. NaN counts as −∞. If all logits are −∞,
// all tokens are as probable. Top-k is that of Fan and others, 2018, top-p that of Holtzman and others, 2020, and the penalty that of Keskar and others, 2019. A row has at most 262144 logits. Divisions are products with the inverse, rounded to F32.
type Sample struct {
	Temperature       float64 `attr:"temperature" doc:"divides logits; 0: largest"`
	TopK              int     `attr:"top_k" doc:"tokens kept; 0: all"`
	TopP              float64 `attr:"top_p" doc:"probability kept; 0: all"`
	RepetitionPenalty float64 `attr:"repetition_penalty" doc:"divides positive logits of previous, multiplies others; 0: 1"`
	Seed              int     `attr:"seed" doc:"chooses the draws"`
}

// Spec returns the declaration.
func (Sample) Spec() *spec.Op { return sampleOp.Op() }

func (c *Sample) sampling() random.Sampling {
	return random.Sampling{Temperature: c.Temperature, TopP: c.TopP, Penalty: c.RepetitionPenalty, TopK: c.TopK, Seed: c.Seed}
}

var sampleOp = spec.Declaration{Define: func() *spec.Op {
	spirv.LinkRandom()
	spirv.LinkMove()
	i32 := []tensor.DType{tensor.I32}
	return spec.Define(spec.Definition[*Sample]{
		Name: "sample", Group: "random",
		Doc: "Draws a token of each row of logits.",
		In: []spec.Arg{
			{Name: "logits", Doc: "[batch,n]", DTypes: random.DTypes},
			{Name: "step", Doc: "[1]", DTypes: i32},
			{Name: "previous", Doc: "[batch,m]", Optional: true, DTypes: i32},
			{Name: "previous_count", Doc: "[batch] or [1]", Optional: true, DTypes: i32},
		},
		Out:     []spec.Arg{{Name: "token", Doc: "[batch]"}},
		Kernels: random.SampleKernels(),
		Shape: func(c *Sample, in []tensor.Desc) ([]tensor.Desc, error) {
			if err := c.sampling().Check(in); err != nil {
				return nil, err
			}
			return []tensor.Desc{tensor.Contiguous(tensor.I32, in[0].Shape[0])}, nil
		},
		PlanAt: func(c *Sample, t *spec.Target, in, out []spec.Place) (*spec.Plan, error) {
			return c.sampling().Plan(t, in, out)
		},
		Reference: func(c *Sample, in, out []*tensor.Host) {
			logits, step, n := in[0].Floats(), int(uint32(int32(in[1].Floats()[0]))), in[0].Shape[1]
			tokens := make([]float64, out[0].Elems())
			for row := range tokens {
				x := logits[row*n : row*n+n]
				if len(in) > 2 && c.RepetitionPenalty > 0 {
					m := in[2].Shape[1]
					before := in[2].Floats()[row*m : row*m+m]
					if len(in) > 3 {
						counts := in[3].Floats()
						before = before[:max(min(int(counts[min(row, len(counts)-1)]), m), 0)]
					}
					penalise(x, before, float32(c.RepetitionPenalty), float32(1/c.RepetitionPenalty))
				}
				tokens[row] = float64(c.draw(x, random.Source{Seed: c.Seed, Stream: row, Offset: step}.Word(0)))
			}
			out[0].SetFloats(tokens)
		},
		Tolerance: func(*Sample, tensor.DType, []tensor.Desc) spec.Tolerance {
			return spec.Tolerance{Why: "the reference rounds in the same way"}
		},
		Cost: func(_ *Sample, in []tensor.Desc) spec.Cost {
			cost := spec.Cost{Flops: 20 * int64(in[0].Elems())}
			for _, d := range in {
				cost.Bytes += d.Bytes()
			}
			return cost
		},
		Cases: sampleCases(),
	})
}}

// penalise changes the logits of tokens before, for the reference.
func penalise(x, before []float64, penalty, reward float32) {
	done := map[int]bool{}
	for _, v := range before {
		token := int(v)
		if token < 0 || token >= len(x) || done[token] {
			continue
		}
		done[token] = true
		factor := penalty
		if x[token] > 0 {
			factor = reward
		}
		x[token] = float64(float32(float32(x[token]) * factor))
	}
}

// draw is the token of a row, for the reference. word decides which.
func (c *Sample) draw(row []float64, word uint32) int {
	inverse := float32(1)
	greedy := c.Temperature == 0 || c.TopK == 1
	if !greedy {
		inverse = float32(1 / c.Temperature)
	}
	type logit struct {
		x     float32
		token int
	}
	list := make([]logit, len(row))
	for i, v := range row {
		x := float32(v)
		if x != x {
			x = float32(math.Inf(-1))
		}
		if math.Abs(float64(x)) < 0x1p-126 {
			x = 0
		}
		list[i] = logit{x, i}
	}
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b logit) int { return cmp.Compare(b.x, a.x) })
	if greedy {
		return sorted[0].token
	}
	most := sorted[0].x
	if c.TopK > 0 && c.TopK < len(row) || c.TopP > 0 && math.Round(c.TopP*65536) < 65536 {
		list = sorted
		if c.TopK > 0 {
			list = list[:min(c.TopK, len(list))]
		}
	}
	total := uint64(0)
	for _, l := range list {
		total += tokenWeight(l.x, most, inverse)
	}
	if share := uint64(max(math.Round(c.TopP*65536), 1)); c.TopP > 0 && share < 65536 {
		limit, sum := max(total>>16*share+(total&0xffff*share)>>16, 1), uint64(0)
		for i := 0; sum < limit; i++ {
			sum += tokenWeight(list[i].x, most, inverse)
		}
		total = sum
	}
	target := total>>32*uint64(word) + (total&0xffffffff*uint64(word))>>32
	sum := uint64(0)
	for _, l := range list {
		if sum += tokenWeight(l.x, most, inverse); sum > target {
			return l.token
		}
	}
	return 0
}

// tokenWeight is 2^26·exp((x − most)·inverse), rounded step by step, for the reference.
func tokenWeight(x, most, inverse float32) uint64 {
	if x == most {
		return 1 << 26
	}
	d := float32(x - most)
	if d > -0x1p-126 {
		return 1 << 26
	}
	y := float32(float32(d*inverse) * 1.44269504)
	if !(y > -27) {
		return 0
	}
	if y > -1e-20 {
		return 1 << 26
	}
	n := float32(math.Floor(float64(y)))
	r, v := float32(y-n), float32(0)
	for _, k := range []float32{1.8775767e-3, 8.9893397e-3, 5.5826318e-2, 2.4015361e-1, 6.9315308e-1, 1} {
		v = float32(float32(v*r) + k)
	}
	return uint64(math.Ldexp(float64(v), int(n)+26))
}

func sampleCases() spec.CasesOf[*Sample] {
	f32 := func(shape ...int) tensor.Desc { return tensor.Contiguous(tensor.F32, shape...) }
	i32 := func(shape ...int) tensor.Desc { return tensor.Contiguous(tensor.I32, shape...) }
	return spec.CasesOf[*Sample]{
		DTypes: random.DTypes,
		Calls: []*Sample{
			{Temperature: 0.7, TopK: 40, TopP: 0.9, RepetitionPenalty: 1.3, Seed: 7}, {}, {Temperature: 1}, {Temperature: 1.5, TopP: 0.5, Seed: -3}, {Temperature: 0.1, TopK: 5, Seed: 1 << 30},
			{Temperature: 3, RepetitionPenalty: 0.5}, {RepetitionPenalty: 2}, {Temperature: 1, TopK: 1}, {Temperature: 1, TopP: 1, TopK: 3}, {Temperature: 1, TopP: 1e-9},
		},
		Dims:  []spec.Dim{{Name: "batch"}, {Name: "n", Tiles: []int{64}}, {Name: "before", Only: []int{0, 5, 33}}, {Name: "inputs", Only: []int{2, 3, 4, 5}}},
		Sizes: [][]int{{1, 32_000, 33, 4}, {3, 50_021, 5, 3}, {2, 60_000, 0, 2}, {300, 11, 5, 5}, {5000, 3, 5, 4}},
		Inputs: func(_ *Sample, d tensor.DType, dims []int) []tensor.Desc {
			if dims[1] == 0 || dims[1] > 60_000 || int64(dims[0])*int64(dims[1]) > 1<<19 || dims[0] > planner.MostFew {
				return nil
			}
			in := []tensor.Desc{tensor.Contiguous(d, dims[0], dims[1]), i32(1), i32(dims[0], dims[2]), i32(dims[0])}
			if dims[3] == 5 {
				in[3] = i32(1)
			}
			return in[:min(dims[3], 4)]
		},
		Bench: func(d tensor.DType) []spec.BenchCase {
			var cases []spec.BenchCase
			for _, rows := range []int{1, 32, 256} {
				cases = append(cases, spec.BenchCase{Call: Sample{Temperature: 0.8}, In: []tensor.Desc{tensor.Contiguous(d, rows, 16_384), i32(1)}})
			}
			return cases
		},
		Low: -6, High: 6, Specials: true,
		Range: func(_ *Sample, i int, in []tensor.Desc) (float64, float64) {
			switch i {
			case 1:
				return 0, math.MaxInt32
			case 2: // some are no tokens
				return -2, float64(in[0].Shape[1])
			case 3:
				return -1, float64(in[2].Shape[1] + 1)
			}
			return -6, 6
		},
		Invalid: []*Sample{{Temperature: -1}, {Temperature: math.NaN()}, {Temperature: math.Inf(1)}, {Temperature: 1e-40}, {Temperature: 1, TopK: -1}, {Temperature: 1, TopP: 1.5}, {TopP: -0.5}, {TopP: math.NaN()}, {RepetitionPenalty: -1}, {RepetitionPenalty: 1e39}},
		Refused: [][]tensor.Desc{
			{f32(3), i32(1)}, {f32(2, 3), i32(2)}, {f32(2, 3), i32()}, {f32(2, 0), i32(1)}, {f32(2, 3), f32(1)}, {f32(2, 3), i32(1), i32(3, 4)}, {f32(2, 3), i32(1), i32(4)},
			{f32(2, 3), i32(1), i32(2, 4), i32(3)}, {tensor.Contiguous(tensor.F64, 2, 3), i32(1)}, {f32(1, random.MostTokens+1), i32(1)},
		},
	}
}
