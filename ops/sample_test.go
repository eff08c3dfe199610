package ops_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/testgpu"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// drawn is how often each token is drawn from rows of the same logits, in so many steps.
func drawn(t *testing.T, dev gpu.Device, r *exec.Runner, c ops.Sample, logits []float64, rows, steps int) []int {
	t.Helper()
	n := len(logits)
	h := tensor.NewHost(tensor.Contiguous(tensor.F32, rows, n))
	h.SetFloats(slices.Repeat(logits, rows))
	in := []exec.Operand{{Buffer: testgpu.Load(t, dev, h.Data), Desc: h.Desc}, {Buffer: testgpu.Load(t, dev, make([]byte, 4)), Desc: tensor.Contiguous(tensor.I32, 1)}}
	out := exec.Operand{Buffer: testgpu.Load(t, dev, make([]byte, 4*rows)), Desc: tensor.Contiguous(tensor.I32, rows)}
	counts, data := make([]int, n), make([]byte, 4*rows)
	for step := range steps {
		if err := dev.Write(t.Context(), in[1].Buffer, 0, binary.LittleEndian.AppendUint32(nil, uint32(step))); err != nil {
			t.Fatal(err)
		}
		if err := r.Run(t.Context(), c, in, []exec.Operand{out}); err != nil {
			t.Fatal(err)
		}
		if err := r.Read(t.Context(), out.Buffer, 0, data); err != nil {
			t.Fatal(err)
		}
		for row := range rows {
			token := binary.LittleEndian.Uint32(data[4*row:])
			if token >= uint32(n) {
				t.Fatalf("token %d of %d", token, n)
			}
			counts[token]++
		}
	}
	return counts
}

// probabilities is the distribution that the documentation of ops.Sample describes, computed from the logits by its words alone.
func probabilities(c ops.Sample, logits []float64) []float64 {
	n, p := len(logits), make([]float64, len(logits))
	order, sum := make([]int, n), 0.0
	most := slices.Max(logits)
	for i, x := range logits {
		order[i] = i
		p[i] = math.Exp((x - most) / c.Temperature)
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(math.Copysign(1, logits[b]-logits[a])) })
	if c.TopK > 0 {
		for _, i := range order[min(c.TopK, n):] {
			p[i] = 0
		}
	}
	for _, x := range p {
		sum += x
	}
	if c.TopP > 0 && c.TopP < 1 {
		before := 0.0
		for _, i := range order {
			own := p[i]
			if before >= c.TopP*sum {
				p[i] = 0
			}
			before += own
		}
	}
	sum = 0
	for _, x := range p {
		sum += x
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// TestSampleFrequencies counts 2048 draws and compares them with probabilities in float64, by Pearson's chi-square. For k degrees of freedom its mean is k and its variance
// 2k. Draws depend on the seed alone, so the test passes always or never. One device
// is enough: the suite finds that all draw the same tokens.
func TestSampleFrequencies(t *testing.T) {
	logits := []float64{1.5, -0.25, 0.75, 2.25, -1, 0.5, 1.25, -2, 0.125, 2, 0.25, -0.5, 1}
	const rows, steps = 512, 4
	dev := device(t)
	r := runner(t, dev)
	for _, c := range []ops.Sample{
		{Temperature: 1, Seed: 1}, {Temperature: 0.5, Seed: 2}, {Temperature: 4, Seed: 3}, {Temperature: 1, TopK: 5, Seed: 4}, {Temperature: 1, TopP: 0.8, Seed: 5},
		{Temperature: 1.5, TopK: 7, TopP: 0.6, Seed: 6},
	} {
		counts, want := drawn(t, dev, r, c, logits, rows, steps), probabilities(c, logits)
		chi, freedom := 0.0, -1.0
		for i, p := range want {
			if p == 0 {
				if counts[i] > 0 {
					t.Errorf("%+v: token %d is drawn %d times, and cannot be", c, i, counts[i])
				}
				continue
			}
			expected := p * rows * steps
			chi += (float64(counts[i]) - expected) * (float64(counts[i]) - expected) / expected
			freedom++
		}
		if bound := freedom + 4*math.Sqrt(2*freedom); chi > bound {
			t.Errorf("%+v: chi-square %.1f of %v degrees of freedom (want at most %.1f): %v", c, chi, freedom, bound, counts)
		}
	}
}

// TestSampleLowTemperature draws at temperatures by which a quotient of a logit is more than F32 can hold, or less than it can tell apart.
func TestSampleLowTemperature(t *testing.T) {
	dev := device(t)
	r := runner(t, dev)
	for _, c := range []struct {
		temperature float64
		logits      []float64
		drawn       []int // tokens that are drawn, all as often
	}{
		{1e-38, []float64{3, 17, 2, 16.999, -5}, []int{1}},
		{1e-37, []float64{3e38, 3.1e38, 2e38, 3.3e38, -3e38}, []int{3}},
		{1e-30, []float64{1e9, 5, 1e9, 7, 1e9 - 64}, []int{0, 2}},
		{1e38, []float64{1, 2, 3, 4, 5}, []int{0, 1, 2, 3, 4}},
		{1e-20, []float64{math.Inf(-1), -3e38, math.Inf(-1), math.NaN(), -3.1e38}, []int{1}},
		{0.01, []float64{math.Inf(1), 1, 3e38, math.Inf(1), 0}, []int{0, 3}},
	} {
		t.Run(fmt.Sprint(c.temperature), func(t *testing.T) {
			const draws = 1024
			counts := drawn(t, dev, r, ops.Sample{Temperature: c.temperature, Seed: 9}, c.logits, draws, 1)
			for i, n := range counts {
				share := draws / len(c.drawn)
				if own := slices.Contains(c.drawn, i); own != (n > 0) || own && math.Abs(float64(n-share)) > 5*math.Sqrt(float64(share)) {
					t.Errorf("draws %v (want about as many of each of %v, and no others)", counts, c.drawn)
					break
				}
			}
		})
	}
}
