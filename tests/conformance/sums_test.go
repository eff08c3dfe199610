package conformance_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/gpu/guard"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestLongSums checks the tolerances of operations that add many terms. Values like those
// of the suite, and values of one sign, must be within Abs and Rel. Values of very
// different sizes, and values that cancel, must be within Any. The reference of the
// inputs without signs gives Σ|t|.
func TestLongSums(t *testing.T) {
	testlevel.Turn(t, 5)
	const n = 65537
	shapes := func(shapes ...[]int) [][]int { return shapes }
	cases := []struct {
		call spec.Call
		in   [][]int
		long int // the dimension of the first input along which terms are added
	}{
		{ops.MatMul{}, shapes([]int{3, n}, []int{n, 5}), 1},
		{ops.MatMul{}, shapes([]int{20, n}, []int{n, 40}), 1},
		{ops.MatMul{TransA: true, TransB: true}, shapes([]int{n, 9}, []int{12, n}), 0},
		{ops.MatMulBias{}, shapes([]int{4, 100_003}, []int{100_003, 12}, []int{12}), 1},
		{ops.ReduceSum{}, shapes([]int{n}), 0},
		{ops.ReduceSum{Dims: []int{1}}, shapes([]int{3, 400_009}), 1},
		{ops.ReduceSum{Dims: []int{0}}, shapes([]int{512, 3000}), 0},
		{ops.ReduceSum{Dims: []int{0, 2}}, shapes([]int{300, 3, 700}), 2},
		{ops.ReduceMean{Dims: []int{0}}, shapes([]int{n, 9}), 0},
		{ops.ReduceMean{Dims: []int{1}}, shapes([]int{5, n}), 1},
		{ops.ReduceProd{Dims: []int{1}}, shapes([]int{3, n}), 1},
		{ops.Softmax{Dim: -1}, shapes([]int{3, n}), 1},
		{ops.Softmax{Dim: 0}, shapes([]int{n, 3}), 0},
		{ops.Softmax{Dim: -1}, shapes([]int{40, 4096}), 1},
		{ops.SoftmaxGrad{Dim: -1}, shapes([]int{3, n}, []int{3, n}), 1},
		{ops.RMSNorm{Dim: -1, Eps: 1e-5}, shapes([]int{3, n}), 1},
		{ops.RMSNorm{Dim: -1, Eps: 1e-5}, shapes([]int{40, 4096}), 1},
		{ops.LayerNorm{Eps: 1e-5}, shapes([]int{3, n}), 1},
		{ops.LayerNorm{Eps: 1e-5}, shapes([]int{40, 16384}), 1},
		{ops.LayerNormGrad{Eps: 1e-5}, shapes([]int{3, n}, []int{n}, []int{3, n}), 1},
		{ops.LayerNormGrad{Eps: 1e-5}, shapes([]int{n, 5}, []int{5}, []int{n, 5}), 0},
		{ops.Attention{Scale: 1 / 256.0}, shapes([]int{2, n}, []int{3, n}, []int{3, 4}), 1},
		{ops.Attention{Scale: .5}, shapes([]int{2, 4}, []int{n, 4}, []int{n, 3}), 0},
	}
	devices(t, func(t *testing.T, dev gpu.Device) {
		x, err := exec.New(dev)
		testkit.Device(t, x, err)
		for i, c := range cases {
			if !testlevel.Sampled(i, 4) {
				continue
			}
			for _, d := range []tensor.DType{tensor.F32, tensor.F16} {
				if d == tensor.F16 && (!testlevel.IsFull() || dev.Info().Backend == "wgpu") {
					continue // The sums are computed in F32.
				}
				for _, kind := range []string{"random", "positive", "apart", "cancel"} {
					if d != tensor.F32 && kind != "random" || c.call.Spec().Name == "reduce_prod" && kind == "cancel" {
						continue
					}
					l := long{call: c.call, dtype: d, shapes: c.in, along: c.long, kind: kind}
					if err := l.check(t, x, dev); err != nil {
						t.Errorf("%s %v %v %s: %v", spec.FormatCall(c.call), d, c.in, kind, err)
					}
				}
			}
		}
	})
}

// TestSmallBindings runs calls whose plans were wrong or missing when texel buffers or
// bindings are small. 65 536 texels are the least that Vulkan allows.
func TestSmallBindings(t *testing.T) {
	testlevel.Turn(t, 5)
	shapes := func(shapes ...[]int) [][]int { return shapes }
	devices(t, func(t *testing.T, dev gpu.Device) {
		for i, c := range []struct {
			what          string
			align, texels int64
			call          spec.Call
			dtype         tensor.DType
			in            [][]int
		}{
			{"parts of the values cut in two met the weights of others", 16, 1 << 12, ops.Attention{Scale: -1}, tensor.F32, shapes([]int{2, 3, 1, 2}, []int{2, 3, 20_000, 2}, []int{2, 3, 20_000, 3}, []int{1, 20_000})},
			{"64 parts of eight rows were more than a binding holds", 256, 1 << 16, ops.MatMul{}, tensor.F16, shapes([]int{1, 16_384}, []int{16_384, 4096})},
			{"columns left over by packs had no kernel", 256, 1 << 16, imageops.GaussianBlur{Sigma: 2}, tensor.U8, shapes([]int{2, 70_000, 4})},
			{"kernels without texels were not taken", 256, 1 << 16, imageops.Sharpen{}, tensor.F32, shapes([]int{4, 30_000, 4})},
			{"nor here", 64, 1 << 16, imageops.SobelEdges{Magnitude: true}, tensor.U8, shapes([]int{5, 100_000, 4})},
		} {
			if dev.Info().Backend == "wgpu" && !testlevel.Sampled(i, 2) {
				continue // The kernels are those of the other backend.
			}
			l := dev.Info().Limits
			l.OffsetAlign, l.TexelAlign, l.MaxTexels = max(l.OffsetAlign, c.align), max(l.TexelAlign, c.align), min(l.MaxTexels, c.texels)
			small := guard.Restrict(dev, l)
			x, err := exec.New(small)
			if err != nil {
				t.Fatal(err)
			}
			one := long{call: c.call, dtype: c.dtype, shapes: c.in, kind: "random"}
			if err := one.check(t, x, small); err != nil {
				t.Errorf("%s %v %v: %v (%s)", spec.FormatCall(c.call), c.dtype, c.in, err, c.what)
			}
			if err := x.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// long is one case of TestLongSums.
type long struct {
	call   spec.Call
	dtype  tensor.DType
	shapes [][]int
	along  int
	kind   string
}

// inputs returns values of the kind. For "cancel", large values are followed by the same
// values with the other sign, along the long dimension of the first input.
func (l *long) inputs() []*tensor.Host {
	rng := rand.New(rand.NewPCG(7, uint64(len(l.kind))))
	op, descs := l.call.Spec(), []tensor.Desc{}
	for _, s := range l.shapes {
		descs = append(descs, tensor.Contiguous(l.dtype, s...))
	}
	var in []*tensor.Host
	for i, d := range descs {
		low, high := op.Cases.Low, op.Cases.High
		if d.DType == tensor.U8 {
			low, high = 0, 255
		}
		if op.Cases.Range != nil {
			low, high = op.Cases.Range(l.call, i, descs)
		}
		v := make([]float64, d.Elems())
		inner := 1
		for _, n := range d.Shape[min(l.along+1, len(d.Shape)):] {
			inner *= n
		}
		for k := range v {
			switch u := rng.Float64(); l.kind {
			case "random":
				v[k] = low + u*(high-low)
			case "positive":
				v[k] = max(low, 0) + u*(high-max(low, 0))
			case "apart":
				v[k] = high * math.Exp2(-24*u) * float64(1-2*rng.IntN(2))
				if low > 0 {
					v[k] = low + u*(high-low)
				}
			case "cancel":
				if v[k] = high * (1 - u/8); i > 0 {
					break
				}
				if n := l.shapes[0][l.along]; k/inner%n >= n/2 {
					v[k] = -v[k]
				}
			}
		}
		h := tensor.NewHost(d)
		h.SetFloats(v)
		in = append(in, h)
	}
	return in
}

// check runs the case and compares the result.
func (l *long) check(t *testing.T, x *exec.Runner, dev gpu.Device) error {
	op, in := l.call.Spec(), l.inputs()
	descs := make([]tensor.Desc, len(in))
	plain := make([]*tensor.Host, len(in)) // These are the inputs without signs.
	for i, h := range in {
		descs[i] = h.Desc
		v := h.Floats()
		for k := range v {
			v[k] = math.Abs(v[k])
		}
		plain[i] = tensor.NewHost(h.Desc)
		plain[i].SetFloats(v)
	}
	outs, err := op.Shape(l.call, descs)
	if err != nil {
		return err
	}
	// The reference has F64 outputs, so that they are not rounded to the dtype.
	reference := func(in []*tensor.Host) []*tensor.Host {
		var want []*tensor.Host
		for _, o := range outs {
			d := tensor.F64
			if o.DType == tensor.U8 {
				d = o.DType
			}
			want = append(want, tensor.NewHost(tensor.Contiguous(d, o.Shape...)))
		}
		op.Reference(l.call, in, want)
		return want
	}
	usual, want := l.kind == "random" || l.kind == "positive", reference(in)
	terms := want
	if !usual {
		terms = reference(plain)
	}
	got, err := l.run(t, x, dev, in, outs)
	if err != nil {
		return err
	}
	var values [][]float64
	for _, h := range plain {
		values = append(values, h.Floats())
	}
	for i, o := range outs {
		tol := op.Tolerance(l.call, o.DType, descs)
		if tol.Law == "" && op.Group != "image" {
			return fmt.Errorf("the tolerance says nothing of how it grows")
		}
		store := 0.0
		if o.DType == tensor.F16 {
			store = 0x1p-11
		}
		w, all, have := want[i].Floats(), terms[i].Floats(), got[i].Floats()
		worst, at, wrong := 0.0, 0, 0
		for k, g := range have {
			allowed := tol.Bound(o, w, k)
			if !usual {
				sum := all[k]
				switch op.Name {
				case "softmax", "rms_norm":
					sum = math.Abs(w[k]) // Nothing cancels.
				case "softmax_grad":
					// The bound is |y|·(|dy| + Σ|y·dy|). The reference computes y·(dy − Σ
					// y·dy).
					y, dy := values[0][k], values[1][k]
					if sum = 0; y > 0 {
						sum = y*dy + math.Abs(all[k]-y*dy)
					}
				}
				allowed = tol.Any*sum + store*math.Abs(w[k]) + 0x1p-126
			}
			used := math.Abs(g-w[k]) / allowed
			if !(used <= 1) {
				wrong++
			}
			if !(used <= worst) {
				worst, at = used, k
			}
		}
		if !usual && tol.Any == 0 {
			continue
		}
		t.Logf("%s %v %v %s: %.3g of the tolerance", spec.FormatCall(l.call), o.DType, l.shapes, l.kind, worst)
		if wrong > int(tol.Flips*float64(len(w))) {
			return fmt.Errorf("output %d: element %d is %v, want %v: %.3g times what is allowed", i, at, have[at], w[at], worst)
		}
	}
	return nil
}

func (l *long) run(t *testing.T, x *exec.Runner, dev gpu.Device, in []*tensor.Host, outs []tensor.Desc) ([]*tensor.Host, error) {
	var all []exec.Operand
	var hosts []*tensor.Host
	for _, o := range outs {
		hosts = append(hosts, tensor.NewHost(o))
	}
	for _, h := range slices.Concat(in, hosts) {
		b, err := dev.Alloc(int64(len(h.Data)))
		if err != nil {
			return nil, err
		}
		defer dev.Free(b)
		if err := dev.Write(t.Context(), b, 0, h.Data); err != nil {
			return nil, err
		}
		all = append(all, exec.Operand{Buffer: b, Desc: h.Desc})
	}
	if err := x.Run(t.Context(), l.call, all[:len(in)], all[len(in):]); err != nil {
		return nil, err
	}
	for i, h := range hosts {
		if err := x.Read(t.Context(), all[len(in)+i].Buffer, 0, h.Data); err != nil {
			return nil, err
		}
	}
	return hosts, nil
}
