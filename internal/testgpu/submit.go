package testgpu

import (
	"context"
	"errors"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
)

// BenchmarkSubmit measures the time of the calls for a list of 1 000 dispatches: Submit, and that of a
// prepared list. The time of Sync does not count. open opens a device and closes it at the end of the benchmark.
func BenchmarkSubmit(b *testing.B, open func(b *testing.B) gpu.Device) {
	ctx := context.Background()
	for _, name := range []string{"list", "prepared"} {
		b.Run(name, func(b *testing.B) {
			d := open(b)
			h, err := d.Alloc(256)
			if err != nil {
				b.Fatal(err)
			}
			m := Kernel(b, AffineKernel)
			list := make([]gpu.Dispatch, 1000)
			for i := range list {
				list[i] = Affine(m, h, h, 64, 1, 1)
			}
			p, err := gpu.Prepare(d, list)
			if err != nil {
				b.Fatal(err)
			}
			run := p.Submit
			if name == "list" {
				run = func() error { return d.Submit(list) }
			}
			if err := errors.Join(run(), d.Sync(ctx)); err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			for range b.N {
				if err := run(); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if err := d.Sync(ctx); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/dispatch")
		})
	}
}
