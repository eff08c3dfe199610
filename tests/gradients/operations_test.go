package gradients_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	_ "github.com/lathe-gpu/lathe/ops/all"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// gradients builds the graph of the loss of a sample and of its gradients by some of the inputs, and runs it.
func (s *sample) gradients(ctx context.Context, dev *lathe.Device, of []int) ([][]float64, error) {
	g := graph.New()
	in, inputs := make([]*graph.Value, len(s.in)), map[string]*lathe.Tensor{}
	for i, d := range s.in {
		name := fmt.Sprint(i)
		in[i] = g.Input(name, d.DType, d.Shape...)
		h := tensor.NewHost(tensor.Contiguous(d.DType, d.Shape...))
		h.SetFloats(s.values[i])
		x, err := dev.NewTensor(h.Desc)
		if err != nil {
			return nil, err
		}
		defer dev.Free(x)
		if err := dev.Write(ctx, x, h.Data); err != nil {
			return nil, err
		}
		inputs[name] = x
	}
	var loss *graph.Value
	for i, out := range g.Call(s.call, in...) {
		if s.factors[i] == nil {
			continue
		}
		f, err := tensor.FromFloats(s.out[i].DType, s.out[i].Shape, s.factors[i])
		if err != nil {
			return nil, err
		}
		part := g.Cast(g.ReduceSum(g.Mul(out, g.Constant(f))), s.out[0].DType)
		if loss != nil {
			part = g.Add(loss, part)
		}
		loss = part
	}
	values := make([]*graph.Value, len(of))
	for k, i := range of {
		values[k] = in[i]
	}
	for k, d := range g.Gradients(loss, values...) {
		g.Output(fmt.Sprint(of[k]), d)
	}
	exe, err := dev.Compile(ctx, g, graph.Options{})
	if err != nil {
		return nil, err
	}
	defer exe.Free()
	results, err := exe.Run(ctx, inputs)
	if err != nil {
		return nil, err
	}
	list := make([][]float64, len(of))
	for k, i := range of {
		y := results[fmt.Sprint(i)]
		data, err := dev.Read(ctx, y)
		if err != nil {
			return nil, err
		}
		list[k] = (&tensor.Host{Desc: y.Desc(), Data: data}).Floats()
		if !slices.Equal(y.Shape(), s.in[i].Shape) || y.DType() != s.in[i].DType {
			return nil, fmt.Errorf("the gradient of input %d is %v, want %v", i, y, s.in[i])
		}
	}
	for _, y := range results {
		if err := dev.Free(y); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// tally counts what was compared.
type tally struct{ cases, elements, kinks int }

// check compares the gradients of a sample with slopes. Inputs of which there is no gradient are left out.
func (s *sample) check(t *testing.T, dev *lathe.Device, rng *rand.Rand, n *tally) {
	t.Helper()
	for i, d := range s.in {
		if !floating(d.DType) || d.Elems() == 0 {
			continue
		}
		got, err := s.gradients(t.Context(), dev, []int{i})
		unsupported := errors.Is(err, lathe.ErrUnsupported) && errors.Is(err, lathe.ErrGraph)
		if unsupported && len(s.out) > 1 { // further results without a gradient, such as statistics
			clear(s.factors[1:])
			got, err = s.gradients(t.Context(), dev, []int{i})
			unsupported = false
		}
		if unsupported {
			continue // a part of the operation without a gradient
		}
		if err != nil {
			t.Errorf("%s of %v, input %d: %v", spec.FormatCall(s.call), s.in, i, err)
			return
		}
		n.cases++
		most := 2e-7                                   // relative to the largest element of the gradient, and at least 1
		for _, d := range slices.Concat(s.in, s.out) { // gradients are rounded as inputs and results are
			most = max(most, map[tensor.DType]float64{tensor.F32: 2e-4, tensor.F16: 5e-3, tensor.BF16: 4e-2}[d.DType])
		}
		scale := 1.0
		for _, v := range got[0] {
			scale = max(scale, min(math.Abs(v), 1e3))
		}
		for range 24 {
			k := rng.IntN(d.Elems())
			want, smooth := s.slope(i, k)
			n.elements++
			if !smooth {
				n.kinks++
				continue
			}
			if off := math.Abs(got[0][k] - want); !(off <= most*max(scale, math.Abs(want))) {
				t.Errorf("%s of %v, input %d, element %d: gradient %v, slope %v", spec.FormatCall(s.call), s.in, i, k, got[0][k], want)
				return
			}
		}
	}
}

// differentiable are the operations that declare a gradient.
func differentiable() []*spec.Op {
	var list []*spec.Op
	for _, op := range spec.All() {
		if _, ok := op.Defaults.(spec.Differentiable); ok {
			list = append(list, op)
		}
	}
	return list
}

// TestOperations compares the gradient of every operation that declares one, for small cases of all its calls.
func TestOperations(t *testing.T) {
	for _, c := range []struct {
		backend string
		dtype   tensor.DType
	}{{"cpu", tensor.F64}, {"cpu", tensor.F16}, {"vk", tensor.F32}} {
		t.Run(fmt.Sprintf("%s/%v", c.backend, c.dtype), func(t *testing.T) {
			if c.dtype != tensor.F64 {
				testlevel.Need(t, testlevel.Full)
			}
			dev, err := lathe.Open(context.Background(), lathe.WithBackend(c.backend), lathe.WithLogger(nil))
			testkit.Opened(t, err)
			defer dev.Close()
			for _, op := range differentiable() {
				t.Run(op.Name, func(t *testing.T) {
					rng := rand.New(rand.NewPCG(testlevel.Seed(t), uint64(len(op.Name))))
					d := c.dtype
					if !slices.Contains(op.Cases.DTypes, d) {
						d = tensor.F32
					}
					var n tally
					for _, s := range samples(op, d, rng) {
						s.check(t, dev, rng, &n)
						if t.Failed() {
							return
						}
					}
					if n.cases == 0 {
						t.Fatal("nothing was compared")
					}
					if n.kinks*3 > n.elements {
						t.Errorf("%d of %d elements are near kinks", n.kinks, n.elements)
					}
				})
			}
		})
	}
}

// withoutGradient are operations of floating-point numbers that declare no gradient, with the reason.
var withoutGradient = map[string]string{
	"adam_update":             "it is what gradients are for",
	"gru":                     "its steps would have to be kept; write a network to train as calls",
	"lstm":                    "as gru",
	"rnn":                     "as gru",
	"batch_norm_grad":         "a gradient of a gradient that nothing has needed yet",
	"group_norm_grad":         "as batch_norm_grad",
	"instance_norm_grad":      "as batch_norm_grad",
	"layer_norm_grad":         "as batch_norm_grad",
	"col2im":                  "no operation takes the windows of images as columns",
	"roi_align":               "not written yet",
	"tensor_scatter":          "caches of a decoder are not trained",
	"dequantize_linear":       "integers have no gradient, and their scales are not trained",
	"dynamic_quantize_linear": "its results are integers, and numbers that follow from them",
}

// Every operation with a result and an input that have gradients declares one, or says why not.
func TestEveryOperationIsDifferentiable(t *testing.T) {
	table := differentiable()
	for _, op := range spec.All() {
		floats := func(args []spec.Arg) bool {
			return slices.ContainsFunc(args, func(a spec.Arg) bool {
				return len(a.DTypes) == 0 || slices.ContainsFunc(a.DTypes, floating)
			})
		}
		reason, listed := withoutGradient[op.Name]
		switch declares := slices.Contains(table, op); {
		case declares && listed:
			t.Errorf("%s declares a gradient, and is listed: %s", op.Name, reason)
		case declares || listed || !op.Offered() || op.Group == "image":
		case slices.ContainsFunc(samples(op, tensor.F32, rand.New(rand.NewPCG(1, 1))), func(s *sample) bool { return floating(s.in[0].DType) }) && floats(op.In):
			t.Errorf("%s has results with gradients and declares none: write its method Gradient, or list it with the reason", op.Name)
		}
	}
	for name := range withoutGradient {
		if spec.Lookup(name) == nil {
			t.Errorf("%s is listed, and is no operation", name)
		}
	}
}
