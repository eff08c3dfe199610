//go:build !novk && cgo

package vk

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/testgpu"
)

func TestSpans(t *testing.T) {
	for _, c := range []struct {
		s, t   span
		common span
		rest   []span
	}{
		{span{0, 10}, span{}, span{}, []span{{0, 10}}},
		{span{0, 10}, span{0, 10}, span{0, 10}, nil},
		{span{0, 10}, span{2, 3}, span{2, 3}, []span{{0, 2}, {5, 5}}},
		{span{4, 4}, span{0, 6}, span{4, 2}, []span{{6, 2}}},
		{span{4, 4}, span{6, 9}, span{6, 2}, []span{{4, 2}}},
		{span{4, 4}, span{8, 9}, span{}, []span{{4, 4}}},
		{span{}, span{0, 9}, span{}, nil},
	} {
		if got := c.s.common(c.t); got != c.common {
			t.Errorf("common of %v and %v is %v, want %v", c.s, c.t, got, c.common)
		}
		if got := c.s.without(c.t); !slices.Equal(got, c.rest) {
			t.Errorf("%v without %v is %v, want %v", c.s, c.t, got, c.rest)
		}
	}
}

// TestDiscard finds what the uses of a list overwrite of a buffer.
func TestDiscard(t *testing.T) {
	b, other := &buffer{size: 100, room: 128}, &buffer{size: 100, room: 128}
	u := func(b *buffer, off, size int64, discard bool) use {
		return use{buf: b, span: span{off, size}, write: true, discard: discard}
	}
	for name, c := range map[string]struct {
		uses []use
		want span
	}{
		"all, but for the padding": {[]use{u(b, 0, 112, true)}, span{0, 100}},
		"read":                     {[]use{u(b, 0, 112, false)}, span{}},
		"read first":               {[]use{u(b, 0, 50, false), u(b, 50, 50, true)}, span{}},
		"read later":               {[]use{u(b, 0, 50, true), u(b, 0, 100, false)}, span{0, 50}},
		"in parts":                 {[]use{u(b, 0, 40, true), u(other, 0, 100, false), u(b, 40, 40, true)}, span{0, 80}},
		"in parts from the end":    {[]use{u(b, 50, 50, true), u(b, 0, 50, true)}, span{0, 100}},
		"a gap":                    {[]use{u(b, 0, 40, true), u(b, 60, 40, true)}, span{0, 40}},
	} {
		if got := discarded(c.uses); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

// dirtyBlock fills memory that later buffers are made of with other bytes than zeros.
func dirtyBlock(t *testing.T, d *Device, size int64) {
	t.Helper()
	h, err := d.Alloc(size)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Write(t.Context(), h, 0, bytes.Repeat([]byte{0xA5}, int(size))); err != nil {
		t.Fatal(err)
	}
	if err := d.Free(h); err != nil {
		t.Fatal(err)
	}
	if err := d.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestUnset gives a list new buffers in used memory. What the list promises to overwrite
// is not zeroed, and everything else is: the rest of the buffer, its padding, and all of
// it if the list is not run.
func TestUnset(t *testing.T) {
	for _, staging := range []string{"0", "1"} {
		t.Run("staging "+staging, func(t *testing.T) {
			t.Setenv("LATHE_VK_STAGING", staging)
			d := openTest(t, Options{})
			defer d.Close()
			const n = 1 << 16
			src := alloc(t, d, 1, 2, 3, 4)
			launch := func(h gpu.Handle, offset, size int64, discard bool) error {
				x := testgpu.Affine(testgpu.Kernel(t, testgpu.AffineKernel), src, h, 4, 1, 1)
				x.Bindings[1] = gpu.Binding{Buffer: h, Offset: offset, Size: size, Discard: discard}
				return d.Submit([]gpu.Dispatch{x})
			}
			bytesOf := func(h gpu.Handle) []byte {
				got := make([]byte, n-2)
				if err := d.Read(t.Context(), h, 0, got); err != nil {
					t.Fatal(err)
				}
				return got
			}
			used := func(got []byte) int { return bytes.Count(got, []byte{0xA5}) }
			for _, c := range []struct {
				name         string
				offset, size int64 // of the range that the dispatch overwrites
				discard      bool
			}{
				{"without a promise", 0, n, false}, {"all", 0, n, true}, {"the beginning", 0, n / 2, true}, {"the end", n / 2, n / 2, true},
			} {
				dirtyBlock(t, d, 4*n)
				h, err := d.Alloc(n - 2)
				if err != nil {
					t.Fatal(err)
				}
				b, err := d.table.Get(h)
				if err != nil {
					t.Fatal(err)
				}
				if n := used(bytesOf(h)); n != 0 {
					t.Errorf("%s: %d bytes of another buffer before the dispatch", c.name, n)
				}
				if err := launch(h, c.offset, c.size, c.discard); err != nil {
					t.Fatal(err)
				}
				got := bytesOf(h)
				end := min(c.offset+c.size, n-2)
				if out := used(got[:c.offset]) + used(got[end:]); out != 0 {
					t.Errorf("%s: %d bytes of another buffer outside the range", c.name, out)
				}
				// The kernel writes little of the range, so most of it shows whether it was zeroed.
				kept := used(got[c.offset:end])
				if kept == 0 == c.discard {
					t.Errorf("%s: %d bytes of the range of %d were not zeroed", c.name, kept, c.size)
				}
				if b.unset.size != 0 {
					t.Errorf("%s: %v is still unset", c.name, b.unset)
				}
				// A buffer of the padding's words finds zeros in it.
				if b.block.data != nil && used(b.block.data[b.off+n-2:b.off+b.room]) != 0 {
					t.Errorf("%s: the padding was not zeroed", c.name)
				}
				if err := d.Free(h); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestUnsetRestored makes the driver refuse a batch: nothing of another buffer is read
// from what the batch was to overwrite.
func TestUnsetRestored(t *testing.T) {
	d := openTest(t, Options{})
	defer d.Close()
	const n = 1 << 16
	dirtyBlock(t, d, 4*n)
	h, err := d.Alloc(n)
	if err != nil {
		t.Fatal(err)
	}
	x := testgpu.Affine(testgpu.Kernel(t, testgpu.AffineKernel), alloc(t, d, 1, 2, 3, 4), h, 4, 1, 1)
	x.Bindings[1].Discard = true
	f := func(name string) result {
		if name == "vkQueueSubmit" {
			return outOfDeviceMemory
		}
		return success
	}
	fault.Store(&f)
	defer fault.Store(nil)
	if err = errors.Join(d.Submit([]gpu.Dispatch{x}), d.Sync(t.Context())); !errors.Is(err, gpu.ErrOutOfMemory) {
		t.Fatalf("got %v, want ErrOutOfMemory", err)
	}
	fault.Store(nil)
	for i, w := range testgpu.Read(t, d, h, n/4) {
		if w != 0 {
			t.Fatalf("word %d of another buffer was read: %#x", i, w)
		}
	}
	// The buffer is good for more work.
	if err := d.Submit([]gpu.Dispatch{x}); err != nil {
		t.Fatal(err)
	}
	if got := testgpu.Read(t, d, h, 4); !slices.Equal(got, []uint32{2, 3, 4, 5}) {
		t.Errorf("after that: got %v", got)
	}
}
