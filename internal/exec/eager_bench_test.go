package exec

import (
	"context"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// BenchmarkEager measures how much time Lathe itself needs for a small call. The device
// does nothing.
func BenchmarkEager(b *testing.B) {
	for _, c := range []struct {
		name   string
		call   spec.Call
		shapes [][]int
	}{
		{"abs", ops.Abs{}, [][]int{{1024}}},
		{"add", ops.Add{}, [][]int{{1024}, {1024}}},
		{"softmax", ops.Softmax{Dim: -1}, [][]int{{8, 128}}},
		{"matmul", ops.MatMul{}, [][]int{{64, 64}, {64, 64}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			dev := quiet{null.New(nil)}
			defer dev.Close()
			run, err := New(dev)
			if err != nil {
				b.Fatal(err)
			}
			defer run.Close()
			var in []Operand
			var descs []tensor.Desc
			for _, s := range c.shapes {
				d := tensor.Contiguous(tensor.F32, s...)
				h, err := dev.Alloc(d.Bytes())
				if err != nil {
					b.Fatal(err)
				}
				in, descs = append(in, Operand{Buffer: h, Desc: d}), append(descs, d)
			}
			want, err := c.call.Spec().Shape(c.call, descs)
			if err != nil {
				b.Fatal(err)
			}
			h, err := dev.Alloc(want[0].Bytes())
			if err != nil {
				b.Fatal(err)
			}
			out := []Operand{{Buffer: h, Desc: want[0]}}
			b.ReportAllocs()
			for b.Loop() {
				if err := run.Run(context.Background(), c.call, in, out); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// quiet is a device that ignores what is submitted.
type quiet struct{ *null.Device }

func (quiet) Submit([]gpu.Dispatch) error { return nil }
