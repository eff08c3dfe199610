package imageops

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// calls is one call of every operation.
var calls = []spec.Call{
	GaussianBlur{Sigma: 3}, GaussianBlur{Sigma: MaxSigma}, SobelEdges{Threshold: 0.4}, Grayscale{}, Threshold{Value: 0.5},
	Brightness{Factor: 1.2}, Contrast{Factor: 1.2}, InvertColors{}, Sharpen{}, Gamma{Gamma: 2.2}, Saturation{Factor: 2}, Vibrance{Amount: 1},
	Median{Radius: 1}, Median{Radius: 4},
	Erode{Radius: 1}, Dilate{Radius: 5, Disc: true}, Opening{Radius: 20}, Closing{Radius: 2, Disc: true}, BoxBlur{Radius: 9}, Unsharp{Sigma: 2, Amount: 1},
	Convolve{Kernel: make([]float64, 31*31), Scale: 1},
	AutoContrast{Clip: 1}, Equalize{Each: true}, CLAHE{ClipLimit: 2, TilesX: 8, TilesY: 8}, Bilateral{SigmaSpace: 4, SigmaColor: 0.1}, NonLocalMeans{H: 0.1, Patch: 7, Search: 21},
	Pointwise{Calls: []spec.Call{Grayscale{}, InvertColors{}, Contrast{Factor: 2}, Brightness{Factor: 2}, Grayscale{}, Contrast{Factor: 2}, InvertColors{}}},
}

// TestPlansKeepLimits plans for random targets and images up to 16k×16k, which
// costs no memory, and wants every launch within the target's limits.
func TestPlansKeepLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		target := &spec.Target{
			CPU:            rapid.Bool().Draw(t, "cpu"),
			HostVectors:    rapid.Bool().Draw(t, "host vectors"),
			TexelBuffers:   rapid.Bool().Draw(t, "texel buffers"),
			MaxBinding:     rapid.SampledFrom([]int64{1 << 20, 1 << 24, 128 << 20, 1<<32 - 16}).Draw(t, "binding"),
			MaxTexels:      rapid.SampledFrom([]int64{1 << 16, 1 << 27}).Draw(t, "texels"),
			OffsetAlign:    rapid.SampledFrom([]int64{4, 16, 64, 256}).Draw(t, "align"),
			TexelAlign:     rapid.SampledFrom([]int64{1, 16, 256}).Draw(t, "texel align"),
			MaxInvocations: rapid.SampledFrom([]uint32{64, 128, 256, 1024}).Draw(t, "invocations"),
			MaxGroups:      rapid.SampledFrom([][3]uint32{{256, 256, 256}, {65535, 65535, 65535}}).Draw(t, "groups"),
		}
		side := rapid.OneOf(rapid.IntRange(0, 70), rapid.IntRange(1, 5000), rapid.SampledFrom([]int{1, 255, 256, 257, 4096, 16384}))
		h, w := side.Draw(t, "h"), side.Draw(t, "w")
		d := tensor.Contiguous(tensor.U8, h, w, 4)
		if rapid.Bool().Draw(t, "f32") {
			d = tensor.Contiguous(tensor.F32, h, w, rapid.SampledFrom([]int{1, 3, 4}).Draw(t, "channels"))
		}
		if pad := rapid.SampledFrom([]int{0, 0, 1, 4}).Draw(t, "pad"); pad > 0 {
			c := d.Shape[2]
			d.Strides = []int{(w + pad) * c, c, 1}
		}
		call := rapid.SampledFrom(calls).Draw(t, "call")
		if Halo(call) > 100 && int64(h)*int64(w)*16 > 32*target.MaxBinding {
			t.Skip("another case: the plan is right, but has millions of launches")
		}
		out, err := call.Spec().Shape(call, []tensor.Desc{d})
		if err != nil {
			t.Fatal(err)
		}
		plan, err := call.Spec().Plan(call, target, []tensor.Desc{d}, out)
		if errors.Is(err, errs.ErrLimit) {
			// Only where a few rows of the image exceed a binding.
			room := min(target.MaxBinding, target.MaxTexels*16)
			if int64(w+4)*int64(d.Shape[2]*d.DType.Size())*8 < room-4096 && int64(h)*4*16 < room-4096 {
				t.Fatalf("%T of %v: %v", call, d, err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		sizes := func(r spec.Ref) int64 {
			switch i := r.Index; r.Kind {
			case spec.RefIn:
				return d.Bytes()
			case spec.RefOut:
				return out[i].Bytes()
			default:
				return plan.Scratch[i]
			}
		}
		if h*w > 0 && len(plan.Steps) == 0 {
			t.Fatal("a plan without steps")
		}
		for i, s := range plan.Steps {
			if n := s.Groups; n[0] == 0 || n[1] == 0 || n[0] > target.MaxGroups[0] || n[1] > target.MaxGroups[1] || n[2] != 1 {
				t.Fatalf("step %d of %T, %s: groups %v", i, call, s.Name(), n)
			}
			for j, b := range s.Bind {
				whole := sizes(b.Buf)
				size := b.Size
				if size == 0 {
					size = whole - b.Offset
				}
				if b.Offset < 0 || size <= 0 || b.Offset+size > whole || size > target.MaxBinding || b.Offset%max(target.OffsetAlign, target.TexelAlign) != 0 {
					t.Fatalf("step %d of %T, %s: binding %d: %d+%d of %d bytes", i, call, s.Name(), j, b.Offset, size, whole)
				}
			}
		}
	})
}

func TestFuse(t *testing.T) {
	gray, inv, blur := Grayscale{}, InvertColors{}, GaussianBlur{Sigma: 1}
	gamma, sepia, odd := Gamma{Gamma: 2}, Sepia{Amount: 1}, ColorMatrix{Matrix: make([]float64, 7)}
	for _, c := range []struct{ in, want []spec.Call }{
		{nil, nil},
		{[]spec.Call{gray}, []spec.Call{gray}},
		{[]spec.Call{gray, inv}, []spec.Call{Pointwise{[]spec.Call{gray, inv}}}},
		{[]spec.Call{gray, inv, blur, inv}, []spec.Call{Pointwise{[]spec.Call{gray, inv}}, blur, inv}},
		{[]spec.Call{gamma, sepia}, []spec.Call{Pointwise{[]spec.Call{gamma, sepia}}}},
		{[]spec.Call{gamma, odd, inv, Curves{Points: []float64{1}}, inv}, []spec.Call{gamma, odd, inv, Curves{Points: []float64{1}}, inv}},
		{[]spec.Call{blur, blur, inv, gray}, []spec.Call{blur, blur, Pointwise{[]spec.Call{inv, gray}}}},
	} {
		if diff := cmp.Diff(c.want, Fuse(c.in), cmpopts.IgnoreUnexported(GaussianBlur{})); diff != "" {
			t.Errorf("%v: %s", c.in, diff)
		}
	}
}

func TestHalo(t *testing.T) {
	for _, c := range []struct {
		call spec.Call
		want int
	}{{InvertColors{}, 0}, {Sharpen{}, 1}, {SobelEdges{}, 1}, {GaussianBlur{Sigma: 3}, 9}, {GaussianBlur{Sigma: 0.1}, 1}, {GaussianBlur{Sigma: 8}, 26}, {GaussianBlur{Sigma: 256}, 1024}, {Median{Radius: 5}, 5}, {Erode{Radius: 3}, 3}, {Closing{Radius: 3}, 6}, {Unsharp{Sigma: 2, Amount: 1}, 6}, {Convolve{Kernel: []float64{1, 2, 3, 4, 5}, Width: 1, Scale: 1}, 2}, {Laplacian{}, 1}, {Emboss{Amount: 1}, 1}, {Bilateral{SigmaSpace: 3, SigmaColor: 1}, 4}, {Bilateral{SigmaSpace: 0.1, SigmaColor: 1}, 1}, {NonLocalMeans{H: 1, Patch: 7, Search: 21}, 13}, {Bilateral{SigmaSpace: 90, SigmaColor: 1, Radius: 7}, 7}} {
		if got := Halo(c.call); got != c.want {
			t.Errorf("%#v: got %d, want %d", c.call, got, c.want)
		}
	}
}
