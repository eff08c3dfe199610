//go:build !novk && cgo

package vk

import (
	"context"
	"fmt"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/testgpu"
	"github.com/lathe-gpu/lathe/internal/testkit"
)

// alloc makes a buffer that holds the words.
func alloc(t testing.TB, d *Device, v ...uint32) gpu.Handle {
	t.Helper()
	return testgpu.Load(t, d, testkit.Words(v...))
}

// BenchmarkDispatch is the cost of one dispatch of one workgroup, the kernel's
// own time included: a chain, each waiting for the one before, and separate
// ones, which need no barriers.
func BenchmarkDispatch(b *testing.B) {
	for _, size := range []int{1, 16} {
		for _, chain := range []bool{true, false} {
			b.Run(fmt.Sprintf("list=%d/chain=%v", size, chain), func(b *testing.B) {
				d := openTest(b, Options{})
				m := testgpu.Kernel(b, testgpu.AffineKernel)
				x := alloc(b, d, make([]uint32, 64)...)
				var list []gpu.Dispatch
				for range size {
					y := x
					if !chain {
						y = alloc(b, d, make([]uint32, 64)...)
					}
					list = append(list, testgpu.Affine(m, x, y, 64, 1, 1))
				}
				if err := d.Submit(list); err != nil {
					b.Fatal(err)
				}
				d.Sync(context.Background())
				b.ReportAllocs()
				b.ResetTimer()
				for n := 0; n < b.N; n += size {
					if err := d.Submit(list); err != nil {
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

// BenchmarkCopy is how fast Write and Read are, with nothing to wait for.
func BenchmarkCopy(b *testing.B) {
	for _, size := range []int{4 << 10, 1 << 20, 8 << 20, 48 << 20} {
		for _, op := range []string{"write", "read"} {
			b.Run(fmt.Sprintf("%s=%dK", op, size>>10), func(b *testing.B) {
				d := openTest(b, Options{})
				h, err := d.Alloc(int64(size))
				if err != nil {
					b.Fatal(err)
				}
				data := make([]byte, size)
				for i := range data {
					data[i] = byte(i)
				}
				do := d.Write
				if op == "read" {
					do = d.Read
				}
				if err := d.Write(context.Background(), h, 0, data); err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					if err := do(context.Background(), h, 0, data); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkFresh is Alloc and Write of a buffer in a block of its own. Its first
// turn (-benchtime 1x) touches memory nobody has touched before, which is what
// a short-lived program pays.
func BenchmarkFresh(b *testing.B) {
	const size = 48 << 20
	data := make([]byte, size)
	for i := range data {
		data[i] = 1
	}
	d := openTest(b, Options{})
	b.SetBytes(size)
	for b.Loop() {
		h, err := d.Alloc(size)
		if err == nil {
			err = d.Write(context.Background(), h, 0, data)
		}
		if err == nil {
			err = d.Free(h)
		}
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		d.life.Lock()
		d.pool.trim(0)
		d.life.Unlock()
		b.StartTimer()
	}
}
