//go:build !novk && cgo

package vk

import (
	"context"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/spirv/extra"
)

const (
	affineKernel = "test/gputest_affine.u32" // dst[i] = src[i]·scale + shift for i < count
	texelKernel  = "test/gputest_texel.u32"  // dst[n-1-i] = src[i] + (i, 0, 0, 0)
	addKernel    = "test/gputest_add.f32"
)

func kernel(t testing.TB, name string) *spv.Module {
	t.Helper()
	m, err := extra.Module(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func words(v ...uint32) []byte {
	var b []byte
	for _, w := range v {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

// alloc makes a buffer that holds the words.
func alloc(t testing.TB, d *Device, v ...uint32) gpu.Handle {
	t.Helper()
	h, err := d.Alloc(int64(4 * len(v)))
	if err == nil {
		err = d.Write(context.Background(), h, 0, words(v...))
	}
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// affine is a dispatch of the affine kernel over n words.
func affine(m *spv.Module, src, dst gpu.Handle, n, scale, shift uint32) gpu.Dispatch {
	return gpu.Dispatch{Module: m, Bindings: []gpu.Binding{{Buffer: src}, {Buffer: dst}},
		Params: words(n, scale, shift), Groups: [3]uint32{(n + 63) / 64, 1, 1}}
}

// read returns the buffer's words.
func read(t testing.TB, d *Device, h gpu.Handle, n int) []uint32 {
	t.Helper()
	b := make([]byte, 4*n)
	if err := d.Read(context.Background(), h, 0, b); err != nil {
		t.Fatal(err)
	}
	v := make([]uint32, n)
	for i := range v {
		v[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return v
}

// BenchmarkDispatch is the cost of one dispatch of one workgroup, the kernel's
// own time included: a chain, each waiting for the one before, and separate
// ones, which need no barriers.
func BenchmarkDispatch(b *testing.B) {
	for _, size := range []int{1, 16} {
		for _, chain := range []bool{true, false} {
			b.Run(fmt.Sprintf("list=%d/chain=%v", size, chain), func(b *testing.B) {
				d := openTest(b, Options{})
				m := kernel(b, affineKernel)
				x := alloc(b, d, make([]uint32, 64)...)
				var list []gpu.Dispatch
				for range size {
					y := x
					if !chain {
						y = alloc(b, d, make([]uint32, 64)...)
					}
					list = append(list, affine(m, x, y, 64, 1, 1))
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
