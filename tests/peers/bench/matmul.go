package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/lathe-gpu/lathe"
	measure "github.com/lathe-gpu/lathe/internal/bench"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// matmulCase is a product, and the same one in calls of gonum.
type matmulCase struct {
	name    string
	batch   int
	m, n, k int
	transB  bool
	target  float64 // gonum's time over Lathe's
}

var matmulCases = []matmulCase{
	{name: "512³", batch: 1, m: 512, n: 512, k: 512, target: 1},
	{name: "1024³", batch: 1, m: 1024, n: 1024, k: 1024, target: 1},
	{name: "1000×997×1003", batch: 1, m: 1000, n: 997, k: 1003},
	{name: "512³, B transposed", batch: 1, m: 512, n: 512, k: 512, transB: true},
	{name: "32 of 128³", batch: 32, m: 128, n: 128, k: 128},
	{name: "64×64×4096", batch: 1, m: 64, n: 64, k: 4096},
	{name: "2048×2048 by a vector", batch: 1, m: 2048, n: 1, k: 2048},
	{name: "4096×4096 by a vector", batch: 1, m: 4096, n: 1, k: 4096},
	{name: "a vector by 4096×4096", batch: 1, m: 1, n: 4096, k: 4096},
}

// matmul times matrix products against gonum's on all processors.
func (b *bench) matmul() (*table, error) {
	t := &table{
		Title:  "Matrix products, f32, data on the device, against gonum",
		Header: []string{"m×n×k", "Lathe", "GFLOP/s", "gonum", "GFLOP/s", "gonum / Lathe", "target", "Lathe, f16", "bytes a second, f16 / f32"},
	}
	t.note("gonum's Sgemm in pure Go uses all processors by itself, its Sgemv for a vector one; a batch is one call after the other. " +
		"Both take turns in one process, and their results are compared. A ratio above 1 means Lathe is faster. " +
		"The last two columns are of the same product of operands stored in f16, in turns with the others: half the bytes, and as much arithmetic.")
	for _, mc := range matmulCases {
		if !strings.Contains("matmul "+mc.name, b.match) {
			continue
		}
		if err := b.matmulRow(t, mc); err != nil {
			return nil, fmt.Errorf("matmul %s: %w", mc.name, err)
		}
	}
	return t, nil
}

func (b *bench) matmulRow(t *table, mc matmulCase) error {
	if err := b.ctx.Err(); err != nil {
		return err
	}
	budget, each := 2*time.Second, 20*time.Millisecond
	if b.quick {
		budget, each = 300*time.Millisecond, 8*time.Millisecond
	}
	right := []int{mc.batch, mc.k, mc.n}
	if mc.transB {
		right = []int{mc.batch, mc.n, mc.k}
	}
	rng := rand.New(rand.NewPCG(b.seed, 7))
	var ins, halves []*lathe.Tensor
	var host [2][]float32
	for i, shape := range [][]int{{mc.batch, mc.m, mc.k}, right} {
		host[i] = make([]float32, shape[0]*shape[1]*shape[2])
		for k := range host[i] {
			host[i][k] = 2*rng.Float32() - 1
		}
		x, err := lathe.FromSlice(b.ctx, b.dev, host[i], shape...)
		if err != nil {
			return err
		}
		half, err := b.dev.Cast(x, tensor.F16)
		if err != nil {
			return err
		}
		ins, halves = append(ins, x), append(halves, half)
	}
	out, err := b.dev.NewTensor(tensor.Contiguous(tensor.F32, mc.batch, mc.m, mc.n))
	if err != nil {
		return err
	}
	outHalf, err := b.dev.NewTensor(tensor.Contiguous(tensor.F16, mc.batch, mc.m, mc.n))
	if err != nil {
		return err
	}
	got := make([]float32, mc.batch*mc.m*mc.n)
	peer := mc.gonum(host[0], host[1], got)
	ours := func(out *lathe.Tensor, ins []*lathe.Tensor) func(int) func() error {
		return func(times int) func() error {
			return func() error {
				for range times {
					if err := b.dev.Run(b.ctx, ops.MatMul{TransB: mc.transB}, ins, []*lathe.Tensor{out}); err != nil {
						return err
					}
				}
				return b.dev.Sync(b.ctx)
			}
		}
	}
	single, half := ours(out, ins), ours(outHalf, halves)
	theirs := func(times int) func() error {
		return func() error {
			for range times {
				if err := peer(); err != nil {
					return err
				}
			}
			return nil
		}
	}
	n, err := measure.Repeats(single, each)
	if err != nil {
		return err
	}
	h, err := measure.Repeats(half, each)
	if err != nil {
		return err
	}
	m, err := measure.Repeats(theirs, each)
	if err != nil {
		return err
	}
	s, err := measure.Interleave(budget, 40, single(n), theirs(m), half(h))
	if err != nil {
		return err
	}
	data, err := lathe.ToSlice[float32](b.ctx, out)
	if err != nil {
		return err
	}
	if err := sameFloats(data, got, float64(mc.k)); err != nil {
		return err
	}
	lathes, gonums, inHalf := s[0].Over(n), s[1].Over(m), s[2].Over(h)
	speed := ratio(gonums, lathes)
	target := ""
	if mc.target > 0 {
		target = fmt.Sprintf("≥ %g", mc.target)
		if speed < mc.target {
			target += ", missed"
		}
	}
	flops := 2 * float64(mc.batch) * float64(mc.m) * float64(mc.n) * float64(mc.k)
	rate := func(s measure.Sample) float64 { return flops / float64(s.Median().Nanoseconds()) }
	t.row(mc.name, lathes, rate(lathes), gonums, rate(gonums), fmt.Sprintf("**%.2f**", speed), target,
		inHalf, fmt.Sprintf("%.2f", ratio(lathes, inHalf)/2))
	t.value(mc.name+"/f16_bytes_ratio_best", bestRatio(lathes, inHalf)/2)
	t.value(mc.name+"/gonum_ratio", speed)
	t.value(mc.name+"/gonum_ratio_best", bestRatio(gonums, lathes))
	t.value(mc.name+"/gflops", rate(lathes))
	for _, x := range slices.Concat(ins, halves, []*lathe.Tensor{out, outHalf}) {
		if err := b.dev.Free(x); err != nil {
			return err
		}
	}
	return nil
}

// gonum is the product in gonum's fastest form.
func (mc matmulCase) gonum(a, right, out []float32) func() error {
	var impl gonum.Implementation
	tb, ldb := blas.NoTrans, mc.n
	if mc.transB {
		tb, ldb = blas.Trans, mc.k
	}
	return func() error {
		if mc.n == 1 && mc.batch == 1 {
			impl.Sgemv(blas.NoTrans, mc.m, mc.k, 1, a, mc.k, right, 1, 0, out, 1)
			return nil
		}
		if mc.m == 1 && mc.batch == 1 && !mc.transB {
			impl.Sgemv(blas.Trans, mc.k, mc.n, 1, right, mc.n, a, 1, 0, out, 1)
			return nil
		}
		for i := range mc.batch {
			impl.Sgemm(blas.NoTrans, tb, mc.m, mc.n, mc.k, 1, a[i*mc.m*mc.k:], mc.k, right[i*mc.k*mc.n:], ldb, 0, out[i*mc.m*mc.n:], mc.n)
		}
		return nil
	}
}

// sameFloats compares two products of rows of n members, each of which rounds
// in its own order.
func sameFloats(a, b []float32, n float64) error {
	if len(a) != len(b) {
		return fmt.Errorf("%d results, want %d", len(a), len(b))
	}
	top := 0.0
	for _, v := range b {
		top = max(top, math.Abs(float64(v)))
	}
	for i := range a {
		if d := math.Abs(float64(a[i]) - float64(b[i])); !(d <= 1e-6*math.Sqrt(n)*top) {
			return fmt.Errorf("element %d is %g, gonum has %g", i, a[i], b[i])
		}
	}
	return nil
}
