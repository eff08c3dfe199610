package lathe_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/exec/tune"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// open opens a device for a test.
func open(t *testing.T, opts ...lathe.Option) *lathe.Device {
	t.Helper()
	dev, err := lathe.Open(context.Background(), append([]lathe.Option{quiet, lathe.WithoutCache()}, opts...)...)
	return testkit.Device(t, dev, err)
}

func noise(w, h int) *image.NRGBA { return testimg.Noise(w, h, 1) }

// TestStrips forces many strips, with and without room for a halo, in place and
// not, and wants the bits of the whole image.
func TestStrips(t *testing.T) {
	ctx := context.Background()
	whole := open(t)
	chains := [][]spec.Call{
		{imageops.InvertColors{}},
		{imageops.Sharpen{}},
		{imageops.GaussianBlur{Sigma: 2}, imageops.Sharpen{}, imageops.Grayscale{}, imageops.SobelEdges{Magnitude: true}},
		{imageops.GaussianBlur{Sigma: 12}, imageops.Contrast{Factor: 1.5}},
	}
	for k, size := range []image.Point{{64, 100}, {61, 157}, {1, 90}, {90, 1}} {
		src := noise(size.X, size.Y)
		for i, calls := range chains {
			if !testlevel.Sampled(i+k, 4) { // devices of their own for each
				continue
			}
			want, err := whole.Apply(ctx, src, calls...)
			if err != nil {
				t.Fatal(err)
			}
			for _, bytes := range []int64{1, 64 * 4 * 40, 64 * 4 * 90} {
				dev := open(t, lathe.WithStrip(bytes))
				got, err := dev.Apply(ctx, src, calls...)
				if err != nil {
					t.Fatal(err)
				}
				if !cmp.Equal(got.Pix, want.Pix) {
					t.Errorf("%v, chain %d, strips of %d bytes: differs from the whole", size, i, bytes)
				}
				same := image.NewNRGBA(src.Rect)
				copy(same.Pix, src.Pix)
				if err := dev.ApplyTo(ctx, same, same, calls...); err != nil {
					t.Fatal(err)
				}
				if !cmp.Equal(same.Pix, want.Pix) {
					t.Errorf("%v, chain %d, strips of %d bytes, in place: differs from the whole", size, i, bytes)
				}
			}
		}
	}
}

// TestSubImage applies to a part of a larger picture and wants the rest untouched.
func TestSubImage(t *testing.T) {
	ctx := context.Background()
	dev := open(t)
	for _, r := range []image.Rectangle{image.Rect(3, 5, 40, 41), image.Rect(4, 4, 44, 44), image.Rect(0, 0, 50, 7)} {
		src := noise(50, 60)
		part := src.SubImage(r).(*image.NRGBA)
		alone := image.NewNRGBA(image.Rect(0, 0, r.Dx(), r.Dy()))
		for y := range r.Dy() {
			copy(alone.Pix[y*alone.Stride:][:4*r.Dx()], src.Pix[src.PixOffset(r.Min.X, r.Min.Y+y):])
		}
		want, err := dev.Apply(ctx, alone, imageops.GaussianBlur{Sigma: 1.5}, imageops.InvertColors{})
		if err != nil {
			t.Fatal(err)
		}
		before := bytes.Clone(src.Pix)
		if err := dev.ApplyTo(ctx, part, part, imageops.GaussianBlur{Sigma: 1.5}, imageops.InvertColors{}); err != nil {
			t.Fatal(err)
		}
		for y := range 60 {
			for x := range 50 {
				at := src.PixOffset(x, y)
				expect := before[at : at+4]
				if (image.Point{x, y}).In(r) {
					o := want.PixOffset(x-r.Min.X, y-r.Min.Y)
					expect = want.Pix[o : o+4]
				}
				if !bytes.Equal(src.Pix[at:at+4], expect) {
					t.Fatalf("%v: pixel (%d,%d) is %v, want %v", r, x, y, src.Pix[at:at+4], expect)
				}
			}
		}
	}
}

func TestApplyRefuses(t *testing.T) {
	ctx := context.Background()
	dev := open(t)
	src := noise(8, 8)
	for name, try := range map[string]func() error{
		"size":      func() error { return dev.ApplyTo(ctx, noise(8, 9), src, imageops.Sharpen{}) },
		"no image":  func() error { _, err := dev.Apply(ctx, nil); return err },
		"nil dst":   func() error { return dev.ApplyTo(ctx, nil, src) },
		"nil call":  func() error { return dev.ApplyTo(ctx, src, src, nil) },
		"sigma":     func() error { return dev.ApplyTo(ctx, src, src, imageops.InvertColors{}, imageops.GaussianBlur{}) },
		"long data": func() error { return dev.Write(ctx, newTensor(t, dev), make([]byte, 5)) },
	} {
		before := bytes.Clone(src.Pix)
		if err := try(); !errors.Is(err, lathe.ErrInvalidArgument) {
			t.Errorf("%s: got %v, want ErrInvalidArgument", name, err)
		}
		if !bytes.Equal(before, src.Pix) {
			t.Errorf("%s: a refused call changed the picture", name)
		}
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if err := dev.ApplyTo(stopped, src, src, imageops.Sharpen{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
	if _, err := dev.Apply(ctx, src, imageops.Sharpen{}); err != nil {
		t.Errorf("after a cancelled call: %v", err)
	}
}

func newTensor(t *testing.T, dev *lathe.Device) *lathe.Tensor {
	t.Helper()
	x, err := dev.NewTensor(tensor.Contiguous(tensor.U8, 1, 1, 4))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestHandles uses tensors after Free and on a device that they are not of.
func TestHandles(t *testing.T) {
	ctx := context.Background()
	a, b := open(t), open(t)
	x := newTensor(t, a)
	if err := b.Write(ctx, x, make([]byte, 4)); !errors.Is(err, lathe.ErrInvalidHandle) {
		t.Errorf("tensor of another device: got %v", err)
	}
	if err := b.Run(ctx, imageops.Sharpen{}, []*lathe.Tensor{x}, []*lathe.Tensor{newTensor(t, b)}); !errors.Is(err, lathe.ErrInvalidHandle) {
		t.Errorf("run with a tensor of another device: got %v", err)
	}
	if err := a.Free(x); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{"free": a.Free(x), "write": a.Write(ctx, x, make([]byte, 4)), "nil": a.Free(nil)} {
		if !errors.Is(err, lathe.ErrInvalidHandle) {
			t.Errorf("%s after free: got %v", name, err)
		}
	}
	if _, err := a.Read(ctx, x); !errors.Is(err, lathe.ErrInvalidHandle) {
		t.Errorf("read after free: got %v", err)
	}
}

func TestClosed(t *testing.T) {
	dev := open(t)
	for range 2 {
		if err := dev.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := dev.Apply(context.Background(), noise(2, 2), imageops.Sharpen{}); !errors.Is(err, lathe.ErrClosed) {
		t.Errorf("apply after close: got %v, want ErrClosed", err)
	}
}

// TestConcurrentApply runs different calls at once and wants each one's own result.
func TestConcurrentApply(t *testing.T) {
	ctx := context.Background()
	dev := open(t)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			src := noise(40+g, 30+3*g)
			calls := []spec.Call{imageops.GaussianBlur{Sigma: float64(g + 1)}, imageops.Brightness{Factor: 1 + float64(g)/4}}
			var first *image.NRGBA
			for i := range 12 {
				got, err := dev.Apply(ctx, src, calls...)
				if err != nil {
					t.Error(err)
					return
				}
				if first == nil {
					first = got
				} else if !bytes.Equal(first.Pix, got.Pix) {
					t.Errorf("goroutine %d, run %d: differs from its first run", g, i)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestSharedMemory applies to pictures large enough for a CPU driver to work in
// their own memory, and wants what copies give.
func TestSharedMemory(t *testing.T) {
	ctx := context.Background()
	dev, copies := open(t), open(t, lathe.WithStrip(64<<10)) // strips are copied
	for _, calls := range [][]spec.Call{
		{imageops.InvertColors{}},
		{imageops.Sharpen{}},
		{imageops.GaussianBlur{Sigma: 1}, imageops.Sharpen{}, imageops.Grayscale{}, imageops.SobelEdges{Magnitude: true}, imageops.Contrast{Factor: 2}},
	} {
		for _, size := range []image.Point{{256, 200}, {253, 190}, {260, 131}} {
			src := noise(size.X, size.Y)
			before := bytes.Clone(src.Pix)
			want, err := copies.Apply(ctx, src, calls...)
			if err != nil {
				t.Fatal(err)
			}
			got, err := dev.Apply(ctx, src, calls...)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Pix, want.Pix) {
				t.Errorf("%v, %d calls: differs from the copied picture", size, len(calls))
			}
			if !bytes.Equal(src.Pix, before) {
				t.Errorf("%v, %d calls: the source was changed", size, len(calls))
			}
			if err := dev.ApplyTo(ctx, src, src, calls...); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(src.Pix, want.Pix) {
				t.Errorf("%v, %d calls, in place: differs from the copied picture", size, len(calls))
			}
		}
	}
}

// TestDispatchAllocates launches again and again and wants no garbage.
func TestDispatchAllocates(t *testing.T) {
	testkit.NoRace(t, "allocates")
	ctx := context.Background()
	dev := open(t)
	x, err := dev.NewTensor(tensor.Contiguous(tensor.U8, 1, 64, 4))
	if err != nil {
		t.Fatal(err)
	}
	m, err := spirv.Module("image/pointwise.u8")
	if err != nil {
		t.Fatal(err)
	}
	push := make([]byte, m.ParamSize) // no columns: the kernel ends at once
	both := []*lathe.Tensor{x, x}
	launch := func() {
		if err := dev.DispatchCompute(ctx, m.Code, both, push, [3]uint32{1, 1, 1}); err != nil {
			t.Fatal(err)
		}
	}
	for range 3000 {
		launch()
	}
	if n := testing.AllocsPerRun(2000, launch); n > 0.1 { // the pool may lose a few to the collector
		t.Errorf("%.2f allocations a launch, want none", n)
	}
	if err := dev.Sync(ctx); err != nil {
		t.Fatal(err)
	}
}

// TestNegativeStrip: less than no bytes are an error, and no bytes mean the default.
func TestNegativeStrip(t *testing.T) {
	info := null.DefaultInfo()
	for bytes, want := range map[int64]error{-1: lathe.ErrInvalidArgument, math.MinInt64: lathe.ErrInvalidArgument, 0: nil, 1: nil} {
		dev, err := lathe.Open(t.Context(), lathe.WithStrip(bytes), lathe.WithGPU(null.NewRecorder(&info)), lathe.WithoutCache())
		if !errors.Is(err, want) || want != nil && !strings.Contains(err.Error(), "WithStrip") {
			t.Errorf("%d bytes: got %v, want %v", bytes, err, want)
		}
		if err == nil {
			dev.Close()
		}
	}
}

// TestTuneOptions refuses what it cannot read, and computes the same whatever the
// mode: choices differ in rounding at most.
func TestTuneOptions(t *testing.T) {
	ctx := context.Background()
	t.Setenv("LATHE_TUNE", "")
	for what, opts := range map[string][]lathe.Option{
		"mode":    {lathe.WithTuneMode("fast")},
		"choices": {lathe.WithTuning([]byte("not a line of JSON"))},
	} {
		info := null.DefaultInfo()
		if _, err := lathe.Open(ctx, append(opts, lathe.WithGPU(null.NewRecorder(&info)), lathe.WithoutCache())...); !errors.Is(err, lathe.ErrInvalidArgument) {
			t.Errorf("%s: %v", what, err)
		}
	}
	t.Setenv("LATHE_TUNE", "sometimes")
	if _, err := lathe.Open(ctx); !errors.Is(err, lathe.ErrInvalidArgument) || !strings.Contains(err.Error(), "(from LATHE_TUNE), want off, cached or full") {
		t.Errorf("LATHE_TUNE=sometimes: %v", err)
	}
	t.Setenv("LATHE_TUNE", "off")
	dir := t.TempDir()
	var first []float32
	for i, opts := range [][]lathe.Option{nil, {lathe.WithTuneMode("full")}, {lathe.WithTuneMode("cached")}} {
		open(t) // or skip
		dev, err := lathe.Open(ctx, append(opts, quiet, lathe.WithCacheDir(dir))...)
		if err != nil {
			t.Fatal(err)
		}
		defer dev.Close()
		x, err := lathe.FromSlice(ctx, dev, []float32{-1, 2, -3, 4, 5, -6}, 2, 3)
		if err != nil {
			t.Fatal(err)
		}
		y, err := dev.ReLU(x)
		if err != nil {
			t.Fatal(err)
		}
		got, err := lathe.ToSlice[float32](ctx, y)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = got
		}
		if n := len(tune.Stored(tune.Path(dir))); i > 0 && n == 0 && !dev.Info().Features.HostVectors { // it has one kernel for this there
			t.Error("nothing was remembered")
		} else if i == 0 && n > 0 {
			t.Errorf("off measured %d choices", n)
		}
		if d := cmp.Diff(first, got); d != "" {
			t.Error(d)
		}
	}
}
