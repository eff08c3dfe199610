package cpu

import (
	"context"
	"fmt"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/extra"
)

// tiny returns a dispatch of one workgroup on one small buffer.
func tiny(b *testing.B, d *Device) gpu.Dispatch {
	h, err := d.Alloc(256)
	if err != nil {
		b.Fatal(err)
	}
	return gpu.Dispatch{Module: nothingModule, Bindings: []gpu.Binding{{Buffer: h}}, Groups: [3]uint32{1, 1, 1}}
}

// BenchmarkTinyDispatch measures what a dispatch costs whose kernel does nothing.
func BenchmarkTinyDispatch(b *testing.B) {
	cancellable, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, c := range []struct {
		name string
		list int // dispatches of one Submit
		sync int // Submits before a Sync
		ctx  context.Context
	}{
		{"list", 1000, 1, context.Background()},
		{"submits", 1, 1000, context.Background()},
		{"alone", 1, 1, context.Background()},
		{"alone, cancellable", 1, 1, cancellable},
	} {
		b.Run(c.name, func(b *testing.B) {
			d := openTest(b, Options{})
			x := tiny(b, d)
			list := make([]gpu.Dispatch, c.list)
			for i := range list {
				list[i] = x
			}
			b.ReportAllocs()
			for i := 0; i < b.N; i += c.list * c.sync {
				for range c.sync {
					if err := d.Submit(list); err != nil {
						b.Fatal(err)
					}
				}
				if err := d.Sync(c.ctx); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkTransfer measures the bytes that Write and Read copy.
func BenchmarkTransfer(b *testing.B) {
	for _, size := range []int{256, 64 << 10, 64 << 20} {
		d := openTest(b, Options{})
		h, err := d.Alloc(int64(size))
		if err != nil {
			b.Fatal(err)
		}
		data := make([]byte, size)
		for name, f := range map[string]func(context.Context, gpu.Handle, int64, []byte) error{"Write": d.Write, "Read": d.Read} {
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
				b.SetBytes(int64(size))
				for range b.N {
					if err := f(context.Background(), h, 0, data); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkCopy measures the bytes that a kernel copies by vectors.
func BenchmarkCopy(b *testing.B) {
	for _, workers := range []int{1, 2} {
		for _, size := range []int64{1 << 16, 1 << 20, 64 << 20} {
			b.Run(fmt.Sprintf("%dworkers/%d", workers, size), func(b *testing.B) {
				d := openTest(b, Options{Workers: workers})
				var binds []gpu.Binding
				for range 2 {
					h, err := d.Alloc(size)
					if err != nil {
						b.Fatal(err)
					}
					binds = append(binds, gpu.Binding{Buffer: h})
				}
				x := []gpu.Dispatch{{Module: copyModule, Bindings: binds, Groups: [3]uint32{uint32(size >> 16), 1, 1}}}
				b.SetBytes(size)
				for range b.N {
					if err := d.Submit(x); err != nil {
						b.Fatal(err)
					}
				}
				if err := d.Sync(context.Background()); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}

// BenchmarkRoundTrip measures Write, a small dispatch and Read.
func BenchmarkRoundTrip(b *testing.B) {
	d := openTest(b, Options{})
	m, err := extra.Module("test/gputest_affine.u32")
	if err != nil {
		b.Fatal(err)
	}
	h, err := d.Alloc(256)
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	data := make([]byte, 256)
	params := make([]byte, 12)
	params[0] = 64
	list := []gpu.Dispatch{{Module: m, Bindings: []gpu.Binding{{Buffer: h}, {Buffer: h}}, Params: params, Groups: [3]uint32{1, 1, 1}}}
	b.ReportAllocs()
	for range b.N {
		if err := d.Write(ctx, h, 0, data); err != nil {
			b.Fatal(err)
		}
		if err := d.Submit(list); err != nil {
			b.Fatal(err)
		}
		if err := d.Read(ctx, h, 0, data); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen measures a device without work.
func BenchmarkOpen(b *testing.B) {
	for range b.N {
		d, err := Open(Options{NoCache: true})
		if err != nil {
			b.Fatal(err)
		}
		if err := d.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
