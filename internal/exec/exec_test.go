package exec

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// recorder returns a Runner on a device that records what is submitted.
func recorder(t *testing.T, opts ...Option) (*Runner, *null.Device) {
	t.Helper()
	dev := null.NewRecorder(nil)
	r, err := New(dev, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(r.Close(), dev.Close()); err != nil {
			t.Error(err)
		}
	})
	return r, dev
}

func picture(t *testing.T, dev gpu.Device, h, w int) Operand {
	t.Helper()
	d := tensor.Contiguous(tensor.U8, h, w, 4)
	b, err := dev.Alloc(2*d.Bytes() + 4096)
	if err != nil {
		t.Fatal(err)
	}
	return Operand{Buffer: b, Desc: d}
}

func TestRunRefuses(t *testing.T) {
	r, dev := recorder(t)
	a, b := picture(t, dev, 8, 8), picture(t, dev, 8, 8)
	moved := func(o Operand, by int64) Operand { o.Offset += by; return o }
	float := b
	float.Desc = tensor.Contiguous(tensor.F32, 8, 8, 4)
	halves := []Operand{a, b}
	for i := range halves {
		halves[i].Desc = tensor.Contiguous(tensor.F16, 16)
	}
	for name, c := range map[string]struct {
		call    spec.Call
		out, in []Operand
		want    error
	}{
		"no call":           {nil, []Operand{b}, []Operand{a}, gpu.ErrInvalidArgument},
		"no output":         {imageops.Sharpen{}, nil, []Operand{a}, gpu.ErrInvalidArgument},
		"two inputs":        {imageops.Sharpen{}, []Operand{b}, []Operand{a, a}, gpu.ErrInvalidArgument},
		"dtype of output":   {imageops.Sharpen{}, []Operand{float}, []Operand{a}, gpu.ErrInvalidArgument},
		"shape of output":   {imageops.Sharpen{}, []Operand{picture(t, dev, 8, 9)}, []Operand{a}, gpu.ErrInvalidArgument},
		"not in place":      {imageops.Sharpen{}, []Operand{a}, []Operand{a}, gpu.ErrInvalidArgument},
		"partial overlap":   {imageops.InvertColors{}, []Operand{moved(a, 128)}, []Operand{a}, gpu.ErrInvalidArgument},
		"alignment":         {ops.ReLU{}, []Operand{moved(halves[1], 1)}, []Operand{halves[0]}, gpu.ErrInvalidArgument},
		"negative offset":   {imageops.InvertColors{}, []Operand{moved(b, -256)}, []Operand{a}, gpu.ErrInvalidArgument},
		"unknown buffer":    {imageops.Sharpen{}, []Operand{{Buffer: 99, Desc: a.Desc}}, []Operand{a}, gpu.ErrInvalidHandle},
		"beyond the buffer": {imageops.Sharpen{}, []Operand{moved(b, 1<<20)}, []Operand{a}, gpu.ErrInvalidArgument},
		"attribute":         {imageops.GaussianBlur{Sigma: -1}, []Operand{b}, []Operand{a}, gpu.ErrInvalidArgument},
	} {
		if err := r.Run(context.Background(), c.call, c.in, c.out); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
	if n := len(dev.Recorded()); n != 0 {
		t.Errorf("%d dispatches were run by refused calls", n)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := r.Run(ctx, imageops.Sharpen{}, []Operand{a}, []Operand{b}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}

// TestPlaces checks that operands are accepted that do not overlap, and outputs in place.
func TestPlaces(t *testing.T) {
	r, dev := recorder(t)
	a := picture(t, dev, 8, 8)
	second := a
	second.Offset = 256
	for name, out := range map[string]Operand{"behind the input": second, "in place": a} {
		if err := r.Run(context.Background(), imageops.InvertColors{}, []Operand{a}, []Operand{out}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	var got []int64
	for _, d := range dev.Recorded() {
		got = append(got, d.Bindings[0].Offset, d.Bindings[1].Offset)
	}
	if len(got) != 4 || got[0] != 0 || got[2] != 0 || got[1]+got[3] != 256 {
		t.Errorf("offsets of the bindings: %v", got)
	}
}

// TestEmpty checks that nothing is run on images without pixels.
func TestEmpty(t *testing.T) {
	r, dev := recorder(t)
	for _, call := range []spec.Call{imageops.GaussianBlur{Sigma: 3}, imageops.Sharpen{}, imageops.InvertColors{}} {
		for _, size := range [][2]int{{0, 0}, {0, 7}, {7, 0}} {
			o, i := picture(t, dev, size[0], size[1]), picture(t, dev, size[0], size[1])
			if err := r.Run(context.Background(), call, []Operand{i}, []Operand{o}); err != nil {
				t.Errorf("%T of %v: %v", call, size, err)
			}
		}
	}
	if n := len(dev.Recorded()); n != 0 {
		t.Errorf("%d dispatches for nothing", n)
	}
}

// TestTarget checks that calls are planned for the device, or for the target of
// WithTarget.
func TestTarget(t *testing.T) {
	r, dev := recorder(t, WithTarget(func(t *spec.Target) { t.CPU, t.TexelBuffers, t.MaxTexels, t.MaxInvocations = true, true, 1<<20, 256 }))
	o, i := picture(t, dev, 8, 8), picture(t, dev, 8, 8)
	plan, err := r.Plan(imageops.InvertColors{}, []Operand{i}, []Operand{o})
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Steps) != 1 || plan.Steps[0].Name() != "image/pointwise_byte.invert" {
		t.Errorf("plan: %+v", plan.Steps)
	}
}

// TestScratch checks that buffers are lent again, that not too many are kept, and that
// all are freed at the end.
func TestScratch(t *testing.T) {
	dev := null.NewRecorder(nil)
	p := scratch{dev: dev}
	first, err := p.borrow(nil, []int64{1000, 0, 5000})
	if err != nil {
		t.Fatal(err)
	}
	if first[0] == 0 || first[1] != 0 || first[2] == 0 || first[0] == first[2] {
		t.Fatalf("took %v", first)
	}
	p.release(first)
	again, err := p.borrow(nil, []int64{5100, 900})
	if err != nil {
		t.Fatal(err)
	}
	if again[0] != first[2] || again[1] != first[0] {
		t.Errorf("took %v, want %v and %v again", again, first[2], first[0])
	}
	p.release(again)
	for range 5 {
		big, err := p.borrow(nil, []int64{p.most() / 2, p.most()/2 + 1<<20})
		if err != nil {
			t.Fatal(err)
		}
		p.release(big)
		if p.held > p.most() {
			t.Fatalf("%d bytes idle, at most %d", p.held, p.most())
		}
	}
	if err := p.trim(0); err != nil {
		t.Fatal(err)
	}
	if p.held != 0 || len(p.idle) != 0 || len(p.out) != 0 {
		t.Errorf("left: %d bytes in %d buffers, %d lent", p.held, len(p.idle), len(p.out))
	}
	if err := dev.Free(first[0]); !errors.Is(err, gpu.ErrInvalidHandle) {
		t.Errorf("a dropped buffer is still there: %v", err)
	}
}

func TestRoundUp(t *testing.T) {
	var got []int64
	for _, n := range []int64{1, 4096, 4097, 5000, 6000, 8192, 1 << 20, 1<<20 + 1} {
		r := roundUp(n)
		if r < n || r > n+n/4+4096 {
			t.Errorf("roundUp(%d) = %d", n, r)
		}
		got = append(got, r)
	}
	if diff := cmp.Diff([]int64{4096, 4096, 5120, 5120, 6144, 8192, 1 << 20, 1<<20 + 1<<18}, got); diff != "" {
		t.Error(diff)
	}
}
