package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	measure "github.com/lathe-gpu/lathe/internal/bench"
	"github.com/lathe-gpu/lathe/rawptr"
)

// blasCase is a product of package rawptr, and another way to compute it. Both have square matrices.
type blasCase struct {
	name   string
	double []float64 // the operands, if they are of F64
	n      int
	batch  int
	target float64 // the time of the other way over Lathe's
	// ours and theirs compute the product once. a, b and c are the operands on the device, x, y and z on the host.
	ours   func(d rawptr.Backend, n, batch int, a, b, c rawptr.Ptr) error
	theirs func(d rawptr.Backend, n, batch int, a, b, c rawptr.Ptr, x, y, z []float32) error
}

// blasCases lists the products. gonum's are row-major, so that its operands change places.
func blasCases() []blasCase {
	var cases []blasCase
	for _, t := range []string{"NN", "NT", "TN", "TT"} {
		cases = append(cases, blasCase{
			name: "GemmF32 1024³ " + t + ", gonum's Sgemm", n: 1024, batch: 1, target: 2,
			ours: func(d rawptr.Backend, n, _ int, a, b, c rawptr.Ptr) error {
				return d.GemmF32(rawptr.Transpose(t[0]), rawptr.Transpose(t[1]), n, n, n, 1, a, n, b, n, 0, c, n)
			},
			theirs: func(_ rawptr.Backend, n, _ int, _, _, _ rawptr.Ptr, x, y, z []float32) error {
				gonum.Implementation{}.Sgemm(blas.Transpose(t[1]), blas.Transpose(t[0]), n, n, n, 1, y, n, x, n, 0, z, n)
				return nil
			},
		})
	}
	double := make([]float64, 3*512*512)
	for i := range double {
		double[i] = float64(i%7) - 3.5 // gonum leaves out zeros
	}
	return append(cases, blasCase{
		name: "Gemm 512³ NN, gonum's Dgemm", double: double, n: 512, batch: 1, target: 1,
		ours: func(d rawptr.Backend, n, _ int, a, b, c rawptr.Ptr) error {
			return d.Gemm('N', 'N', n, n, n, 1, a, n, b, n, 0, c, n)
		},
		theirs: func(_ rawptr.Backend, n, _ int, _, _, _ rawptr.Ptr, _, _, _ []float32) error {
			gonum.Implementation{}.Dgemm('N', 'N', n, n, n, 1, double[n*n:], n, double, n, 0, double[2*n*n:], n)
			return nil
		},
	}, blasCase{
		name: "BatchedGemmF32 64 of 64³, 64 calls of GemmF32", n: 64, batch: 64, target: 5,
		ours: func(d rawptr.Backend, n, batch int, a, b, c rawptr.Ptr) error {
			return d.BatchedGemmF32('N', 'N', n, n, n, 1, a, n, n*n, b, n, n*n, 0, c, n, n*n, batch)
		},
		theirs: func(d rawptr.Backend, n, batch int, a, b, c rawptr.Ptr, _, _, _ []float32) error {
			for i := range rawptr.Ptr(batch) {
				at := 4 * i * rawptr.Ptr(n*n)
				if err := d.GemmF32('N', 'N', n, n, n, 1, a+at, n, b+at, n, 0, c+at, n); err != nil {
					return err
				}
			}
			return nil
		},
	})
}

// blas times products of package rawptr against other ways to compute them.
func (b *bench) blas() (*table, error) {
	t := &table{
		Title:  "Products by address, data on the device",
		Header: []string{"call, and the other way", "Lathe", "GFLOP/s", "other", "GFLOP/s", "other / Lathe", "target"},
	}
	t.note("gonum's Sgemm and Dgemm in pure Go use all processors. Both ways take turns in one process. A ratio above 1 means Lathe is faster.")
	info := b.dev.Info()
	d := rawptr.New(rawptr.WithBackend(info.Backend), rawptr.WithDevice(info.UUID.String()))
	if err := d.Init(b.ctx); err != nil {
		return nil, err
	}
	defer d.Close()
	for _, c := range blasCases() {
		if !strings.Contains("blas "+c.name, b.match) || c.double != nil && !info.Features.F64 {
			continue
		}
		if err := b.blasRow(t, d, c); err != nil {
			return nil, fmt.Errorf("blas %s: %w", c.name, err)
		}
	}
	return t, nil
}

func (b *bench) blasRow(t *table, d *rawptr.Device, c blasCase) error {
	if err := b.ctx.Err(); err != nil {
		return err
	}
	budget, each := 2*time.Second, 20*time.Millisecond
	if b.quick {
		budget, each = 300*time.Millisecond, 8*time.Millisecond
	}
	rng := rand.New(rand.NewPCG(b.seed, 8))
	var p [3]rawptr.Ptr
	var host [3][]float32
	for i := range p {
		host[i] = make([]float32, c.batch*c.n*c.n)
		for k := range host[i] {
			host[i][k] = 2*rng.Float32() - 1
		}
		bytes, err := binary.Append(nil, binary.LittleEndian, host[i])
		if c.double != nil {
			bytes, err = binary.Append(nil, binary.LittleEndian, c.double[i*c.n*c.n:][:c.n*c.n])
		}
		if err != nil {
			return err
		}
		if p[i], err = d.Alloc(int64(len(bytes))); err != nil {
			return err
		}
		defer d.Free(p[i])
		if err := d.CopyHtoD(b.ctx, p[i], bytes); err != nil {
			return err
		}
	}
	// result is C on the device.
	result := func() ([]float32, error) {
		size := 4
		if c.double != nil {
			size = 8
		}
		bytes := make([]byte, size*len(host[2]))
		if err := d.CopyDtoH(b.ctx, bytes, p[2]); err != nil {
			return nil, err
		}
		xs, wide := make([]float32, len(host[2])), make([]float64, len(host[2]))
		if size == 4 {
			_, err := binary.Decode(bytes, binary.LittleEndian, xs)
			return xs, err
		}
		_, err := binary.Decode(bytes, binary.LittleEndian, wide)
		return narrow(wide), err
	}
	repeat := func(run func() error) func(int) func() error {
		return func(times int) func() error {
			return func() error {
				for range times {
					if err := run(); err != nil {
						return err
					}
				}
				return d.Synchronize(b.ctx)
			}
		}
	}
	ours := repeat(func() error { return c.ours(d, c.n, c.batch, p[0], p[1], p[2]) })
	theirs := repeat(func() error { return c.theirs(d, c.n, c.batch, p[0], p[1], p[2], host[0], host[1], host[2]) })
	n, err := measure.Repeats(ours, each)
	if err != nil {
		return err
	}
	m, err := measure.Repeats(theirs, each)
	if err != nil {
		return err
	}
	s, err := measure.Interleave(budget, 40, ours(n), theirs(m))
	if err != nil {
		return err
	}
	// Both ways have the same result.
	if err := ours(1)(); err != nil {
		return err
	}
	got, err := result()
	if err != nil {
		return err
	}
	if err := theirs(1)(); err != nil {
		return err
	}
	want := host[2]
	if c.double != nil {
		want = narrow(c.double[2*c.n*c.n:])
	}
	if c.batch > 1 { // The other way works on the device too.
		if want, err = result(); err != nil {
			return err
		}
	}
	if err := sameFloats(got, want, float64(c.n)); err != nil {
		return err
	}
	lathes, others := s[0].Over(n), s[1].Over(m)
	flops := 2 * float64(c.batch) * float64(c.n) * float64(c.n) * float64(c.n)
	rate := func(s measure.Sample) float64 { return flops / float64(s.Median().Nanoseconds()) }
	speed, target := ratio(others, lathes), fmt.Sprintf("≥ %g", c.target)
	if speed < c.target {
		target += ", missed"
	}
	t.row(c.name, lathes, rate(lathes), others, rate(others), fmt.Sprintf("**%.2f**", speed), target)
	t.value(c.name+"/ratio", speed)
	return nil
}

// narrow converts numbers to float32.
func narrow(xs []float64) []float32 {
	out := make([]float32, len(xs))
	for i, x := range xs {
		out[i] = float32(x)
	}
	return out
}
