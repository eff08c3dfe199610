package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

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
}

// matmul times matrix products against gonum's on all processors, and against
// the device's multiply-adds.
func (b *bench) matmul() (*table, error) {
	c, err := b.ceil()
	if err != nil {
		return nil, err
	}
	t := &table{
		Title:  "Matrix products, f32, data on the device, against gonum",
		Header: []string{"m×n×k", "Lathe", "GFLOP/s", "gonum", "GFLOP/s", "gonum / Lathe", "target", "of the roofline"},
	}
	t.note("gonum's Sgemm (Sgemv for the vector) in pure Go uses all processors by itself; a batch is one call after the other. " +
		"Both take turns in one process, and their results are compared. A ratio above 1 means Lathe is faster.")
	for _, mc := range matmulCases {
		if !strings.Contains("matmul "+mc.name, b.match) {
			continue
		}
		if err := b.matmulRow(t, c, mc); err != nil {
			return nil, fmt.Errorf("matmul %s: %w", mc.name, err)
		}
	}
	return t, nil
}

func (b *bench) matmulRow(t *table, c *ceilings, mc matmulCase) error {
	if err := b.ctx.Err(); err != nil {
		return err
	}
	call := "matmul"
	right := []int{mc.k, mc.n}
	if mc.transB {
		call += " trans_b=true"
		right = []int{mc.n, mc.k}
	}
	in := fmt.Sprintf("f32[%d,%d,%d] f32[%d,%d,%d]", mc.batch, mc.m, mc.k, mc.batch, right[0], right[1])
	p, err := b.prepare(tensorCase{call: call, in: in})
	if err != nil {
		return err
	}
	var host [2][]float32
	for i := range host {
		if host[i], err = b.readFloats(p, i); err != nil {
			return err
		}
	}
	got := make([]float32, mc.batch*mc.m*mc.n)
	peer := mc.gonum(host[0], host[1], got)
	start := time.Now()
	if err := peer(); err != nil {
		return err
	}
	times := max(1, int(20*time.Millisecond/max(time.Since(start), 1)))
	m, err := b.againstCeilings(c, p, func() error {
		for range times {
			if err := peer(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	data, err := b.dev.Read(b.ctx, p.out[0])
	if err != nil {
		return err
	}
	if err := sameFloats(decode(data), got, float64(mc.k)); err != nil {
		return err
	}
	theirs := m.others[0].over(times)
	speed := ratio(theirs, m.op)
	target := ""
	if mc.target > 0 {
		target = fmt.Sprintf("≥ %g", mc.target)
		if speed < mc.target {
			target += ", missed"
		}
	}
	flops := float64(p.cost.Flops)
	t.row(mc.name, m.op, flops/m.ns(), theirs, flops/float64(theirs.median().Nanoseconds()), fmt.Sprintf("**%.2f**", speed), target, fmt.Sprintf("%.2f", m.fraction))
	t.value(mc.name+"/gonum_ratio", speed)
	t.value(mc.name+"/gonum_ratio_best", bestRatio(theirs, m.op))
	t.value(mc.name+"/gflops", flops/m.ns())
	t.value(mc.name+"/roofline", m.fraction)
	return b.free(p)
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
		for i := range mc.batch {
			impl.Sgemm(blas.NoTrans, tb, mc.m, mc.n, mc.k, 1, a[i*mc.m*mc.k:], mc.k, right[i*mc.k*mc.n:], ldb, 0, out[i*mc.m*mc.n:], mc.n)
		}
		return nil
	}
}

// readFloats reads input i of a prepared call.
func (b *bench) readFloats(p *prepared, i int) ([]float32, error) {
	if p.descs[i].DType != tensor.F32 {
		return nil, fmt.Errorf("input %d is %v, want f32", i, p.descs[i])
	}
	data, err := b.dev.Read(b.ctx, p.in[i])
	return decode(data), err
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
