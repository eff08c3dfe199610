package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"image"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/abi"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/testkit"
	_ "github.com/lathe-gpu/lathe/ops/all" // registers the operations
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
	_ "github.com/lathe-gpu/lathe/wgpu" // a backend to try
)

//go:generate glslc --target-env=vulkan1.1 -O testdata/swap.comp -o testdata/swap.spv

//go:embed testdata/swap.spv
var swapCode []byte

var swapModule = module("swap", swapCode)

// swap swaps red and blue. It has no halo and does not work in place.
type swap struct{}

func (swap) Spec() *spec.Op { return swapOp }

type swapParams struct{ N uint32 }

var swapOp = defineSwap[swap]("swap", 1) // not registered, which must work too

// defineSwap declares an operation with attributes A that swaps red and blue of the first
// 1/part of the pixels, and leaves the others unwritten.
func defineSwap[A spec.Call](name string, part int) *spec.Op {
	return spec.Define(spec.Definition[A]{
		Name: name,
		In:   []spec.Arg{{Name: "in", DTypes: []tensor.DType{tensor.U8}}},
		Out:  []spec.Arg{{Name: "out"}},
		Shape: func(_ A, in []tensor.Desc) ([]tensor.Desc, error) {
			return []tensor.Desc{tensor.Contiguous(tensor.U8, in[0].Shape...)}, nil
		},
		Plan: func(_ A, _ *spec.Target, in, _ []tensor.Desc) (*spec.Plan, error) {
			n := uint32(in[0].Elems() / 4 / part)
			return &spec.Plan{Steps: []spec.Step{{
				Module: swapModule,
				Bind:   []spec.Bind{{Buf: spec.In(0)}, {Buf: spec.Out(0)}},
				Params: swapParams{N: n},
				Groups: [3]uint32{(n + 63) / 64, 1, 1},
			}}}, nil
		},
	})
}

// onBackends runs f once for each backend that has a device.
func onBackends(t *testing.T, f func(t *testing.T, open func(...lathe.Option) *lathe.Device)) {
	for _, name := range drivers.Built() {
		t.Run(name, func(t *testing.T) {
			f(t, func(opts ...lathe.Option) *lathe.Device {
				t.Helper()
				opts = append(opts, lathe.WithBackend(name), lathe.WithoutCache(), lathe.WithLogger(nil))
				dev, err := lathe.Open(t.Context(), opts...)
				return testkit.Device(t, dev, err)
			})
		})
	}
}

// Operations of a program's own are no part of Lathe's ABI.
func TestFingerprint(t *testing.T) {
	if spec.Lookup("example_difference") != differenceOp || spec.Lookup("example_box_blur") != boxBlurOp {
		t.Fatal("the operations are not registered")
	}
	table, err := spec.Table(spec.All(), spirv.Names(), spirv.Declared)
	if err != nil {
		t.Fatal(err)
	}
	if have := abi.Fingerprint(table.Text()); have != spirv.Fingerprint() {
		t.Errorf("the fingerprint is %016x, and that of the shaders %016x", have, spirv.Fingerprint())
	}
}

func TestDifference(t *testing.T) {
	onBackends(t, func(t *testing.T, open func(...lathe.Option) *lathe.Device) {
		dev, ctx := open(), context.Background()
		const rows, columns = 37, 29
		r := rand.New(rand.NewPCG(1, 2))
		x, y, want := make([]float32, rows*columns), make([]float32, rows*columns), make([]float32, rows*columns)
		for i := range x {
			x[i], y[i] = r.Float32()-0.5, r.Float32()-0.5
			want[i] = max(x[i]-y[i], y[i]-x[i])
		}
		upload := func(v []float32) *lathe.Tensor {
			t.Helper()
			a, err := lathe.FromSlice(ctx, dev, v, rows, columns)
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		check := func(what string, got *lathe.Tensor, err error) {
			t.Helper()
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			v, err := lathe.ToSlice[float32](ctx, got)
			if err != nil || !slices.Equal(v, want) {
				t.Errorf("%s: wrong values, error %v", what, err)
			}
		}
		a, b := upload(x), upload(y)
		for name, call := range map[string]spec.Call{"value": Difference{}, "pointer": &Difference{}} {
			out, err := dev.Call(ctx, call, a, b)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			check("Call by "+name, out[0], nil)
			into := upload(make([]float32, rows*columns))
			check("Run by "+name, into, dev.Run(ctx, call, []*lathe.Tensor{a, b}, []*lathe.Tensor{into}))
			over := upload(x)
			check("Run in place by "+name, over, dev.Run(ctx, call, []*lathe.Tensor{over, b}, []*lathe.Tensor{over}))
		}
		if err := dev.Run(ctx, Difference{}, []*lathe.Tensor{a, b}, []*lathe.Tensor{b}); !errors.Is(err, lathe.ErrInvalidArgument) {
			t.Errorf("over the input b: %v, want ErrInvalidArgument", err)
		}
		// The operation takes contiguous tensors. Views are copied for it.
		at, err := a.Transpose()
		if err != nil {
			t.Fatal(err)
		}
		bt, err := b.Transpose()
		if err != nil {
			t.Fatal(err)
		}
		out, err := dev.Call(t.Context(), Difference{}, at, bt)
		if err != nil {
			t.Fatal(err)
		}
		back, err := out[0].Transpose()
		check("views", back, err)
		short, err := lathe.FromSlice(ctx, dev, x[:5], 5)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := dev.Call(t.Context(), Difference{}, a, short); !errors.Is(err, lathe.ErrInvalidArgument) {
			t.Errorf("other shapes: %v, want ErrInvalidArgument", err)
		}
		whole, err := lathe.FromSlice(ctx, dev, []int32{1}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := dev.Call(t.Context(), Difference{}, whole, whole); !errors.Is(err, lathe.ErrUnsupported) {
			t.Errorf("integers: %v, want ErrUnsupported", err)
		}
	})
}

// boxed is what BoxBlur makes of a picture, rounded.
func boxed(src []byte, w, h, radius int) []byte {
	out, side := make([]byte, len(src)), 2*radius+1
	for i := range out {
		x, y, sum := i/4%w, i/4/w, 0
		for dy := -radius; dy <= radius; dy++ {
			for dx := -radius; dx <= radius; dx++ {
				sum += int(src[4*(min(max(y+dy, 0), h-1)*w+min(max(x+dx, 0), w-1))+i%4])
			}
		}
		out[i] = byte((sum + side*side/2) / (side * side))
	}
	return out
}

// swapped is what swap makes of a picture.
func swapped(src []byte) []byte {
	out := bytes.Clone(src)
	for i := 0; i < len(out); i += 4 {
		out[i], out[i+2] = out[i+2], out[i]
	}
	return out
}

// reference is the picture that the chain of TestChain makes, blurred in float64.
func reference(src []byte, w, h int) []byte {
	in := &tensor.Host{Desc: tensor.Contiguous(tensor.U8, h, w, 4), Data: boxed(src, w, h, 2)}
	out := &tensor.Host{Desc: in.Desc, Data: make([]byte, len(src))}
	blur := imageops.GaussianBlur{Sigma: 1.5}
	blur.Spec().Reference(blur, []*tensor.Host{in}, []*tensor.Host{out})
	return swapped(out.Data)
}

// TestChain runs a filter with a halo, one of Lathe, and a pointwise operation that does
// not work in place, over strips. There must be no seams.
func TestChain(t *testing.T) {
	onBackends(t, func(t *testing.T, open func(...lathe.Option) *lathe.Device) {
		ctx := context.Background()
		whole, strips := open(), open(lathe.WithStrip(1)) // as few rows as there can be
		// The last one is large enough to be computed in the memory of the caller.
		for _, size := range []image.Point{{61, 97}, {64, 50}, {1, 40}, {256, 130}} {
			src := image.NewNRGBA(image.Rectangle{Max: size})
			rand.NewChaCha8([32]byte{1}).Read(src.Pix)
			box := boxed(src.Pix, size.X, size.Y, 2)
			for _, c := range []struct {
				name    string
				calls   []spec.Call
				want    []byte
				tol     int // levels
				pointer []spec.Call
			}{
				{"chain", []spec.Call{BoxBlur{Radius: 2}, imageops.GaussianBlur{Sigma: 1.5}, swap{}}, reference(src.Pix, size.X, size.Y), 1,
					[]spec.Call{&BoxBlur{Radius: 2}, &imageops.GaussianBlur{Sigma: 1.5}, &swap{}}},
				{"filter", []spec.Call{BoxBlur{Radius: 2}}, box, 0, []spec.Call{&BoxBlur{Radius: 2}}},
				{"pointwise", []spec.Call{swap{}}, swapped(src.Pix), 0, []spec.Call{&swap{}}},
				{"pointwise twice", []spec.Call{swap{}, swap{}}, src.Pix, 0, []spec.Call{&swap{}, &swap{}}},
			} {
				for k, calls := range [][]spec.Call{c.calls, c.pointer} {
					for i, dev := range []*lathe.Device{whole, strips} {
						got, err := dev.Apply(ctx, src, calls...)
						if err != nil {
							t.Fatalf("%v, %s: %v", size, c.name, err)
						}
						same := &image.NRGBA{Pix: bytes.Clone(src.Pix), Stride: src.Stride, Rect: src.Rect}
						if err := dev.ApplyTo(ctx, same, same, calls...); err != nil {
							t.Fatalf("%v, %s, into the source: %v", size, c.name, err)
						}
						if !bytes.Equal(got.Pix, same.Pix) {
							t.Errorf("%v, %s: another picture into the source (device %d, calls %d)", size, c.name, i, k)
						}
						if off := apart(got.Pix, c.want); off > c.tol {
							t.Errorf("%v, %s: %d levels from the reference (device %d, calls %d)", size, c.name, off, i, k)
						}
						if c.want = got.Pix; i+k == 0 {
							c.tol = 0 // the others give the same bits
						}
					}
				}
			}
		}
	})
}

// TestNoCopies wants the filter, which takes contiguous pictures only, to be handed such,
// whatever the width. Otherwise its operands would be copied.
func TestNoCopies(t *testing.T) {
	testkit.Built(t, drivers.Built(), "vk") // which alone traces
	var trace bytes.Buffer
	dev, err := lathe.Open(t.Context(), lathe.WithBackend("vk"), lathe.WithTrace(&trace), lathe.WithoutCache(), lathe.WithLogger(nil))
	testkit.Opened(t, err)
	_, err = dev.Apply(t.Context(), image.NewNRGBA(image.Rect(0, 0, 61, 40)), BoxBlur{Radius: 2})
	if err = errors.Join(err, dev.Close()); err != nil {
		t.Fatal(err)
	}
	if text := trace.String(); !strings.Contains(text, "example_box_blur") || strings.Contains(text, "move/copy") {
		t.Errorf("the trace lacks example_box_blur, or has copies:\n%s", text)
	}
}

// apart is how many levels the most different components of two pictures are apart.
func apart(a, b []byte) int {
	most := 0
	for i := range a {
		most = max(most, int(a[i])-int(b[i]), int(b[i])-int(a[i]))
	}
	return most
}
