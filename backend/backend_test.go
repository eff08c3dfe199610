package backend_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"sync"
	"testing"

	"github.com/lathe-gpu/lathe/backend"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
	"github.com/lathe-gpu/lathe/value"
)

// open opens a backend on any device for a test: the backend that LATHE_BACKEND names, or
// that of the best device. backend.Open(ctx, "auto") might take one that a test has
// registered.
func open(t *testing.T) backend.Backend {
	t.Helper()
	infos, err := drivers.List(t.Context(), "")
	testkit.Opened(t, err)
	best, err := gpu.Choose(infos, "")
	testkit.Opened(t, err)
	b, err := backend.Open(t.Context(), infos[best].Backend)
	return testkit.Device(t, b, err)
}

type handle = backend.TensorHandle

// put makes a tensor of a host's.
func put(t *testing.T, b backend.Backend, h *tensor.Host) handle {
	t.Helper()
	x, err := b.AllocTensor(h.Shape, h.DType)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.WriteTensor(context.Background(), x, h.Data); err != nil {
		t.Fatal(err)
	}
	return x
}

// ramp is a tensor of values that all differ, in [low, high).
func ramp(d tensor.DType, low, high float64, shape ...int) *tensor.Host {
	h := tensor.NewHost(tensor.Contiguous(d, shape...))
	v := make([]float64, h.Elems())
	for i := range v {
		_, f := math.Modf(float64(i)*0.6180339887 + 0.17)
		v[i] = low + (high-low)*f
		if d == tensor.I32 || d == tensor.I64 {
			v[i] = math.Floor(v[i])
		}
	}
	h.SetFloats(v)
	return h
}

func f32(shape ...int) *tensor.Host { return ramp(tensor.F32, -2, 2, shape...) }

// method is a method of Backend and the operation it stands for.
type method struct {
	name string
	call spec.Call
	in   []*tensor.Host
	out  []int // which input each output is, or -1
	run  func(b backend.Backend, in, out []handle) error
}

func methods() []method {
	v := func(x float64) value.Value { f, _ := value.Float(x); return f }
	picture := ramp(tensor.F32, 0, 1, 9, 7, 3)
	list := []method{
		{"PointwiseAdd", ops.Add{}, []*tensor.Host{f32(3, 5), f32(3, 5)}, nil, func(b backend.Backend, i, o []handle) error { return b.PointwiseAdd(i[0], i[1], o[0]) }},
		{"MatMul", ops.MatMul{}, []*tensor.Host{f32(2, 3, 5), f32(5, 4)}, nil, func(b backend.Backend, i, o []handle) error { return b.MatMul(i[0], i[1], o[0]) }},
		{"MatMulBias", ops.MatMulBias{}, []*tensor.Host{f32(3, 5), f32(5, 4), f32(4)}, nil, func(b backend.Backend, i, o []handle) error { return b.MatMulBias(i[0], i[1], i[2], o[0]) }},
		{"ReduceSum", ops.ReduceSum{}, []*tensor.Host{f32(3, 5)}, nil, func(b backend.Backend, i, o []handle) error { return b.ReduceSum(i[0], o[0], nil) }},
		{"ReduceSum of a dimension", ops.ReduceSum{Dims: []int{-2}}, []*tensor.Host{f32(3, 5)}, nil, func(b backend.Backend, i, o []handle) error { d := -2; return b.ReduceSum(i[0], o[0], &d) }},
		{"ReduceSum that keeps it", ops.ReduceSum{Dims: []int{1}, KeepDims: true}, []*tensor.Host{f32(3, 5)}, nil, func(b backend.Backend, i, o []handle) error { d := 1; return b.ReduceSum(i[0], o[0], &d) }},
		{"Embedding", ops.Embedding{}, []*tensor.Host{ramp(tensor.I64, 0, 6, 4), f32(6, 3)}, nil, func(b backend.Backend, i, o []handle) error { return b.Embedding(i[0], i[1], o[0]) }},
		{"LayerNorm", ops.LayerNorm{Eps: 1e-5}, []*tensor.Host{f32(3, 5), f32(5), f32(5)}, nil, func(b backend.Backend, i, o []handle) error { return b.LayerNorm(i[0], i[1], i[2], o[0], 1e-5) }},
		{"RMSNorm", ops.RMSNorm{Dim: -1, Eps: 1e-5}, []*tensor.Host{f32(3, 5), f32(5)}, nil, func(b backend.Backend, i, o []handle) error { return b.RMSNorm(i[0], i[1], o[0], -1, 1e-5) }},
		{"Softmax", ops.Softmax{Dim: -1}, []*tensor.Host{f32(3, 5)}, nil, func(b backend.Backend, i, o []handle) error { return b.Softmax(i[0], o[0], -1) }},
		{"GELU", ops.GELU{}, []*tensor.Host{f32(3, 5)}, nil, func(b backend.Backend, i, o []handle) error { return b.GELU(i[0], o[0]) }},
		{"ReLU", ops.ReLU{}, []*tensor.Host{f32(3, 5)}, nil, func(b backend.Backend, i, o []handle) error { return b.ReLU(i[0], o[0]) }},
		{"Attention", ops.Attention{Scale: 0.5}, []*tensor.Host{f32(2, 3, 4), f32(2, 5, 4), f32(2, 5, 4)}, nil, func(b backend.Backend, i, o []handle) error { return b.Attention(i[0], i[1], i[2], o[0], nil, 0.5) }},
		{"Attention with a mask", ops.Attention{Scale: 0.5}, []*tensor.Host{f32(2, 3, 4), f32(2, 5, 4), f32(2, 5, 4), f32(3, 5)}, nil, func(b backend.Backend, i, o []handle) error {
			return b.Attention(i[0], i[1], i[2], o[0], &i[3], 0.5)
		}},
		{"CrossEntropy", ops.CrossEntropy{}, []*tensor.Host{f32(4, 6), ramp(tensor.I32, 0, 6, 4)}, nil, func(b backend.Backend, i, o []handle) error { return b.CrossEntropy(i[0], i[1], o[0], o[1]) }},
		{"AdamUpdate", ops.AdamUpdate{LR: 0.01, Beta1: 0.9, Beta2: 0.99, Eps: 1e-8, Step: 2}, []*tensor.Host{f32(9), f32(9), f32(9), ramp(tensor.F32, 0, 1, 9)}, []int{0, 2, 3}, func(b backend.Backend, i, _ []handle) error {
			return b.AdamUpdate(i[0], i[1], i[2], i[3], 0.01, 0.9, 0.99, 1e-8, 2)
		}},
	}
	image := func(name string, c spec.Call, run func(b backend.Backend, in, out handle) error) {
		list = append(list, method{name, c, []*tensor.Host{picture}, nil, func(b backend.Backend, i, o []handle) error { return run(b, i[0], o[0]) }})
	}
	image("GaussianBlur", imageops.GaussianBlur{Sigma: 2}, func(b backend.Backend, i, o handle) error { return b.GaussianBlur(i, o, value.Integer(2)) })
	image("SobelEdges", imageops.SobelEdges{Threshold: 0.4}, func(b backend.Backend, i, o handle) error { return b.SobelEdges(i, o, v(0.4)) })
	image("SobelMagnitude", imageops.SobelEdges{Magnitude: true}, backend.Backend.SobelMagnitude)
	image("Grayscale", imageops.Grayscale{}, backend.Backend.Grayscale)
	image("Threshold", imageops.Threshold{Value: 0.4}, func(b backend.Backend, i, o handle) error { return b.Threshold(i, o, v(0.4)) })
	image("Brightness", imageops.Brightness{Factor: 1.5}, func(b backend.Backend, i, o handle) error { return b.Brightness(i, o, v(1.5)) })
	image("Contrast", imageops.Contrast{Factor: 3}, func(b backend.Backend, i, o handle) error { return b.Contrast(i, o, value.Integer(3)) })
	image("InvertColors", imageops.InvertColors{}, backend.Backend.InvertColors)
	image("Sharpen", imageops.Sharpen{}, backend.Backend.Sharpen)
	return list
}

// prepare uploads the inputs of a method and makes its outputs, filled with 77.
func (m method) prepare(t *testing.T, b backend.Backend) (in, out []handle, want []*tensor.Host) {
	t.Helper()
	var descs []tensor.Desc
	for _, h := range m.in {
		in = append(in, put(t, b, h))
		descs = append(descs, h.Desc)
	}
	shapes, err := m.call.Spec().Shape(m.call, descs)
	if err != nil {
		t.Fatalf("%s: %v", m.name, err)
	}
	for i, d := range shapes {
		w := tensor.NewHost(d)
		want = append(want, w)
		if m.out != nil {
			copy(w.Data, m.in[m.out[i]].Data)
			out = append(out, in[m.out[i]])
			continue
		}
		full := tensor.NewHost(d)
		v := make([]float64, d.Elems())
		for k := range v {
			v[k] = 77
		}
		full.SetFloats(v)
		out = append(out, put(t, b, full))
	}
	m.call.Spec().Reference(m.call, m.in, want)
	return in, out, want
}

// TestMethods compares every method with the reference of its operation.
func TestMethods(t *testing.T) {
	b := open(t)
	for _, m := range methods() {
		in, out, want := m.prepare(t, b)
		if err := m.run(b, in, out); err != nil {
			t.Errorf("%s: %v", m.name, err)
			continue
		}
		for i, w := range want {
			data, err := b.ReadTensor(t.Context(), out[i])
			if err != nil {
				t.Errorf("%s: %v", m.name, err)
				break
			}
			got := (&tensor.Host{Desc: w.Desc, Data: data}).Floats()
			for k, x := range w.Floats() {
				if d := math.Abs(got[k] - x); !(d <= 1e-5+1e-5*math.Abs(x)) {
					t.Errorf("%s: output %d, element %d is %v, want %v", m.name, i, k, got[k], x)
					break
				}
			}
		}
	}
}

// TestHandlesEverywhere gives every method, in every place, a handle that is
// zero, stale, of another device and made up, and wants ErrInvalidHandle and
// nothing changed.
func TestHandlesEverywhere(t *testing.T) {
	ctx := t.Context()
	b := open(t)
	other, err := backend.New(null.New(nil))
	if err != nil {
		t.Fatal(err)
	}
	stale := put(t, b, f32(3, 5))
	if err := b.FreeTensor(stale); err != nil {
		t.Fatal(err)
	}
	bad := map[string]handle{"zero": 0, "stale": stale, "foreign": put(t, other, f32(3, 5)), "made up": 1 << 50}
	for what, h := range bad {
		check := func(name string, err error) {
			t.Helper()
			if !errors.Is(err, errs.ErrInvalidHandle) {
				t.Errorf("%s of a %s handle: got %v, want ErrInvalidHandle", name, what, err)
			}
		}
		check("FreeTensor", b.FreeTensor(h))
		_, err := b.TensorMeta(h)
		check("TensorMeta", err)
		check("WriteTensor", b.WriteTensor(ctx, h, make([]byte, 60)))
		_, err = b.ReadTensor(ctx, h)
		check("ReadTensor", err)
		check("DispatchCompute", b.DispatchCompute(nil, []handle{h}, nil, [3]uint32{1, 1, 1}))
	}
	for _, m := range methods() {
		in, out, _ := m.prepare(t, b)
		before := contents(t, b, append(append([]handle(nil), in...), out...))
		for what, h := range bad {
			for i := range len(in) + len(out) {
				badIn, badOut := append([]handle(nil), in...), append([]handle(nil), out...)
				if i < len(in) {
					badIn[i] = h
				} else if badOut[i-len(in)] = h; m.out != nil {
					continue // the method has no such argument
				}
				if err := m.run(b, badIn, badOut); !errors.Is(err, errs.ErrInvalidHandle) {
					t.Errorf("%s: %s handle in place %d: got %v, want ErrInvalidHandle", m.name, what, i, err)
				}
			}
		}
		if after := contents(t, b, append(append([]handle(nil), in...), out...)); !bytes.Equal(before, after) {
			t.Errorf("%s: refused calls changed a tensor", m.name)
		}
	}
}

// contents is the bytes of tensors, one after the other.
func contents(t *testing.T, b backend.Backend, hs []handle) []byte {
	t.Helper()
	var all []byte
	for _, h := range hs {
		data, err := b.ReadTensor(context.Background(), h)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data...)
	}
	return all
}

// TestRefuses makes calls that are wrong otherwise.
func TestRefuses(t *testing.T) {
	b := open(t)
	x, y, z := put(t, b, f32(3, 5)), put(t, b, f32(3, 5)), put(t, b, f32(3, 4))
	row, image := put(t, b, f32(5)), put(t, b, ramp(tensor.F32, 0, 1, 4, 4, 3))
	image2 := put(t, b, ramp(tensor.F32, 0, 1, 4, 4, 3))
	before := contents(t, b, []handle{x, y, z, row, image, image2})
	seven := 7
	text := value.String("2")
	for name, c := range map[string]struct {
		err  error
		want error
	}{
		"add of unequal shapes":    {b.PointwiseAdd(x, row, y), errs.ErrInvalidArgument},
		"add to another shape":     {b.PointwiseAdd(x, x, z), errs.ErrInvalidArgument},
		"matmul of unequal k":      {b.MatMul(x, y, z), errs.ErrInvalidArgument},
		"reduce of dimension 7":    {b.ReduceSum(x, row, &seven), errs.ErrInvalidArgument},
		"softmax of dimension 2":   {b.Softmax(x, y, 2), errs.ErrInvalidArgument},
		"softmax to another shape": {b.Softmax(x, z, 1), errs.ErrInvalidArgument},
		"matmul over its input":    {b.MatMulBias(x, y, row, x), errs.ErrInvalidArgument},
		"adam at step 0":           {b.AdamUpdate(x, y, x, y, 1, 0.9, 0.9, 1e-8, 0), errs.ErrInvalidArgument},
		"layer norm, negative eps": {b.LayerNorm(x, row, row, y, -1), errs.ErrInvalidArgument},
		"rms norm of dimension 2":  {b.RMSNorm(x, row, y, 2, 1e-5), errs.ErrInvalidArgument},
		"indices that are floats":  {b.Embedding(row, x, y), errs.ErrUnsupported},
		"attention, scale NaN":     {b.Attention(x, x, x, y, nil, math.NaN()), errs.ErrInvalidArgument},
		"relu over its input":      {b.ReLU(x, x), errs.ErrInvalidArgument},
		"adam, m is param":         {b.AdamUpdate(x, y, x, y, 1, 0.9, 0.9, 1e-8, 1), errs.ErrInvalidArgument},
		"blur by a string":         {b.GaussianBlur(image, image2, text), errs.ErrType},
		"blur by nothing":          {b.GaussianBlur(image, image2, value.Value{}), errs.ErrType},
		"threshold by a boolean":   {b.Threshold(image, image2, value.Boolean(true)), errs.ErrType},
		"blur by 0":                {b.GaussianBlur(image, image2, value.Integer(0)), errs.ErrInvalidArgument},
		"write of too much":        {b.WriteTensor(t.Context(), x, make([]byte, 61)), errs.ErrInvalidArgument},
		"write of too little":      {b.WriteTensor(t.Context(), x, make([]byte, 59)), errs.ErrInvalidArgument},
		"a shader that is none":    {b.DispatchCompute([]byte("no"), []handle{x}, nil, [3]uint32{1, 1, 1}), errs.ErrInvalidShader},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: got %v, want %v", name, c.err, c.want)
		}
	}
	for _, shape := range [][]int{{-1}, {math.MaxInt, math.MaxInt}} {
		if h, err := b.AllocTensor(shape, tensor.F32); !errors.Is(err, errs.ErrInvalidArgument) {
			t.Errorf("alloc of %v: got %v, %v", shape, h, err)
		}
	}
	if _, err := b.AllocTensor(nil, tensor.Invalid); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Errorf("alloc of no dtype: got %v", err)
	}
	if _, err := b.AllocTensor([]int{min(1<<44, math.MaxInt)}, tensor.F32); !errors.Is(err, errs.ErrLimit) && !errors.Is(err, errs.ErrOutOfMemory) {
		t.Errorf("alloc of 64 TiB: got %v", err)
	}
	if !bytes.Equal(before, contents(t, b, []handle{x, y, z, row, image, image2})) {
		t.Error("refused calls changed a tensor")
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.ReadTensor(stopped, x); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled read: got %v", err)
	}
	if err := b.Sync(t.Context()); err != nil {
		t.Errorf("sync after refusals: %v", err)
	}
}

// TestFaults gives indices that only the device can see.
func TestFaults(t *testing.T) {
	b := open(t)
	at, err := tensor.FromFloats(tensor.I32, []int{3}, []float64{0, 6, 1})
	if err != nil {
		t.Fatal(err)
	}
	indices, weight, out := put(t, b, at), put(t, b, f32(6, 3)), put(t, b, f32(3, 3))
	before := contents(t, b, []handle{out})
	if err := b.Embedding(indices, weight, out); err != nil {
		t.Fatal(err)
	}
	if err := b.Sync(t.Context()); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Errorf("an index out of range: sync gave %v, want ErrInvalidArgument", err)
	}
	if !bytes.Equal(before, contents(t, b, []handle{out})) {
		t.Error("a call with an index out of range changed its output")
	}
	logits, loss, probs := put(t, b, f32(3, 6)), put(t, b, f32(3)), put(t, b, f32(3, 6))
	before = contents(t, b, []handle{loss, probs})
	if err := b.CrossEntropy(logits, indices, loss, probs); err != nil {
		t.Fatal(err)
	}
	if _, err := b.ReadTensor(t.Context(), loss); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Errorf("a target out of range: read gave %v, want ErrInvalidArgument", err)
	}
	if !bytes.Equal(before, contents(t, b, []handle{loss, probs})) {
		t.Error("a call with a target out of range changed its outputs")
	}
}

// TestShapes goes through ranks and empty dimensions.
func TestShapes(t *testing.T) {
	b := open(t)
	for _, shape := range [][]int{{}, {3}, {2, 1, 2, 1, 2, 1, 2, 1}, {0}, {2, 0, 3}} {
		h, err := b.AllocTensor(shape, tensor.F32)
		if err != nil {
			t.Fatal(err)
		}
		meta, err := b.TensorMeta(h)
		if err != nil || len(meta.Shape) != len(shape) || meta.DType != tensor.F32 {
			t.Errorf("%v: meta %+v, %v", shape, meta, err)
		}
		data, err := b.ReadTensor(t.Context(), h)
		if err != nil || int64(len(data)) != meta.SizeBytes || !bytes.Equal(data, make([]byte, len(data))) {
			t.Errorf("%v: contents %v, %v, want %d zeros", shape, data, err, meta.SizeBytes)
		}
		out, err := b.AllocTensor(shape, tensor.F32)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(b.ReLU(h, out), b.PointwiseAdd(h, h, out), b.WriteTensor(t.Context(), h, data), b.Sync(t.Context())); err != nil {
			t.Errorf("%v: %v", shape, err)
		}
	}
}

// TestStaleUnderLoad frees and reuses tensors while others use their handles.
func TestStaleUnderLoad(t *testing.T) {
	b := open(t)
	var mu sync.Mutex
	var freed []handle
	var workers sync.WaitGroup
	for g := range 4 {
		workers.Go(func() {
			out := put(t, b, f32(3, 5))
			for i := range 200 {
				h := put(t, b, f32(3, 5))
				if err := b.ReLU(h, out); err != nil {
					t.Error(err)
				}
				if err := b.FreeTensor(h); err != nil {
					t.Error(err)
				}
				mu.Lock()
				freed = append(freed, h)
				old := freed[(i*7+g)%len(freed)]
				mu.Unlock()
				if err := b.ReLU(old, out); !errors.Is(err, errs.ErrInvalidHandle) {
					t.Errorf("a stale handle: got %v", err)
				}
				if err := b.FreeTensor(old); !errors.Is(err, errs.ErrInvalidHandle) {
					t.Errorf("freeing a stale handle: got %v", err)
				}
			}
		})
	}
	workers.Wait()
	// One tensor that all free: one succeeds.
	h := put(t, b, f32(1))
	won := make(chan bool, 8)
	for range cap(won) {
		workers.Go(func() { won <- b.FreeTensor(h) == nil })
	}
	workers.Wait()
	n := 0
	for range cap(won) {
		if <-won {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d of 8 frees of one tensor succeeded, want 1", n)
	}
}

func TestIdentity(t *testing.T) {
	dev := null.New(nil)
	b, err := backend.New(dev)
	if err != nil {
		t.Fatal(err)
	}
	if b.Name() != "null" || !b.IsAvailable() || b.ABIFingerprint() != spirv.Fingerprint() || b.ABIFingerprint() == 0 {
		t.Errorf("name %q, available %v, fingerprint %x", b.Name(), b.IsAvailable(), b.ABIFingerprint())
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if b.IsAvailable() {
		t.Error("available after Close")
	}
	if _, err := b.AllocTensor(nil, tensor.F32); !errors.Is(err, errs.ErrClosed) {
		t.Errorf("alloc after Close: got %v, want ErrClosed", err)
	}
	two, three := value.Integer(2), value.Integer(3)
	if v, err := b.ScalarPow(two, three); err != nil || !v.Equal(value.Integer(8)) {
		t.Errorf("2^3 = %v, %v", v, err)
	}
	if _, err := b.ScalarDiv(two, value.Integer(0)); !errors.Is(err, errs.ErrDivisionByZero) {
		t.Errorf("2/0: got %v", err)
	}
	if v, err := b.ScalarSqrt(value.Integer(4)); err != nil || !v.Equal(two) {
		t.Errorf("sqrt 4 = %v, %v", v, err)
	}
	if v, err := b.ScalarLt(two, three); err != nil || !v.Equal(value.Boolean(true)) {
		t.Errorf("2 < 3 = %v, %v", v, err)
	}
}
