//go:build !novk && cgo

package vk

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/spirv"
)

// canImport skips a test if the device cannot import memory of the host. Every CPU driver
// can.
func canImport(t *testing.T, d *Device, err error) {
	t.Helper()
	testkit.Ability(t, !errors.Is(err, gpu.ErrUnsupported) || d.Info().Kind == gpu.CPU, d.Info().Name, "import of the host's memory")
}

// TestImport runs a kernel in memory of the test, with and without the buffer
// being freed while the work is pending.
func TestImport(t *testing.T) {
	d := openTest(t, Options{NoCache: true})
	ctx := context.Background()
	const n = 1 << 18
	words := make([]byte, 4*n)
	h, err := d.Import(words)
	canImport(t, d, err)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Write(ctx, h, 8, []byte{1, 2, 3, 4}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(words[:16], []byte{8: 1, 2, 3, 4, 15: 0}) {
		t.Errorf("after Write the memory is %v", words[:16])
	}
	copied := make([]byte, 8)
	if err := d.Read(ctx, h, 4, copied); err != nil || !bytes.Equal(copied, words[4:12]) {
		t.Errorf("Read gave %v, %v", copied, err)
	}
	m, err := spirv.Module("image/pointwise.u8")
	if err != nil {
		t.Fatal(err)
	}
	// One stage: 255 − v, on every pixel.
	params := make([]byte, 128)
	copy(params, []byte{0: 0, 1: 4, 24: 1}) // 1024 columns, 1 stage
	params[16], params[8] = 0, 0
	copy(params[28:], []byte{4, 0, 0, 0, 0, 0, 0x80, 0xbf, 0, 0x80, 0x7f, 0x43}) // clamp, −1, 255.5
	bind := []gpu.Binding{{Buffer: h, Size: 4096}, {Buffer: h, Size: 4096}}
	want := bytes.Clone(words[:4096])
	for i := range want {
		if i%4 != 3 {
			want[i] = 255 - want[i]
		}
	}
	if err := d.Submit([]gpu.Dispatch{{Module: m, Bindings: bind, Params: params, Groups: [3]uint32{16, 1, 1}}}); err != nil {
		t.Fatal(err)
	}
	if err := d.Free(h); err != nil { // the work is still pending
		t.Fatal(err)
	}
	runtime.GC() // pinned memory stays where it is
	if err := d.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(words[:4096], want) {
		t.Errorf("the kernel left %v, want %v", words[:16], want[:16])
	}
	if !bytes.Equal(words[4096:], make([]byte, len(words)-4096)) {
		t.Error("the kernel wrote beyond its binding")
	}
}

func TestImportRefuses(t *testing.T) {
	d := openTest(t, Options{NoCache: true})
	words := make([]byte, 1<<18)
	for name, data := range map[string][]byte{"empty": nil, "unaligned": words[4:], "no whole words": words[:4099]} {
		if _, err := d.Import(data); !errors.Is(err, gpu.ErrUnsupported) {
			t.Errorf("%s: got %v, want ErrUnsupported", name, err)
		}
	}
	before := objects.buffers.Load()
	for range 100 {
		h, err := d.Import(words)
		canImport(t, d, err)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Free(h); err != nil {
			t.Fatal(err)
		}
	}
	if n := objects.buffers.Load(); n != before {
		t.Errorf("%d buffers left after Free", n-before)
	}
}
