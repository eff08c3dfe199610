package fusion

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// gpu is a target with the limits of most devices.
func gpu() *spec.Target {
	return &spec.Target{
		MaxBinding: 1 << 30, MaxTexels: 1 << 26, OffsetAlign: 16, TexelAlign: 16, MaxGroups: [3]uint32{65535, 65535, 65535},
		MaxInvocations: 256, MaxParamBytes: 128, MaxBindings: 16,
	}
}

func f32(shape ...int) tensor.Desc { return tensor.Contiguous(tensor.F32, shape...) }

// TestCheck checks what can be fused, and what the errors say of the rest.
func TestCheck(t *testing.T) {
	few, none := gpu(), gpu()
	few.MaxBindings, none.MaxBinding = 3, 1<<12
	add, gelu := spec.Call(ops.Add{}), spec.Call(ops.GELU{})
	many := Fused{Outs: []int{41}}
	for i := range 41 {
		many.Calls, many.Args = append(many.Calls, ops.Clip{Min: -1, Max: float64(i + 1)}), append(many.Args, []int{i})
	}
	for _, c := range []struct {
		what string
		f    Fused
		t    *spec.Target
		in   []tensor.Desc
		err  error
		text string
	}{
		{"a sum", Fused{Calls: []spec.Call{add, gelu}, Args: [][]int{{0, 1}, {2}}, Outs: []int{3}}, few, []tensor.Desc{f32(4, 5), f32(5)}, nil, ""},
		{"two outputs", Fused{Calls: []spec.Call{add, gelu}, Args: [][]int{{0, 1}, {2}}, Outs: []int{3, 2}}, few, []tensor.Desc{f32(4, 5), f32(5)}, errs.ErrLimit, "MaxBindings"},
		{"no outputs", Fused{Calls: []spec.Call{gelu}, Args: [][]int{{0}}}, gpu(), []tensor.Desc{f32(4)}, errs.ErrInvalidArgument, "no outputs"},
		{"an input as output", Fused{Calls: []spec.Call{gelu}, Args: [][]int{{0}}, Outs: []int{0}}, gpu(), []tensor.Desc{f32(4)}, errs.ErrInvalidArgument, "output 0"},
		{"a later value", Fused{Calls: []spec.Call{gelu}, Args: [][]int{{1}}, Outs: []int{1}}, gpu(), []tensor.Desc{f32(4)}, errs.ErrInvalidArgument, "takes value 1"},
		{"a sum over rows", Fused{Calls: []spec.Call{ops.Softmax{}}, Args: [][]int{{0}}, Outs: []int{1}}, gpu(), []tensor.Desc{f32(4)}, errs.ErrUnsupported, "softmax of"},
		{"shapes", Fused{Calls: []spec.Call{add, gelu}, Args: [][]int{{0, 1}, {0}}, Outs: []int{2, 3}}, gpu(), []tensor.Desc{f32(4), f32(3, 4)}, errs.ErrUnsupported, "several shapes"},
		{"f64", Fused{Calls: []spec.Call{gelu}, Args: [][]int{{0}}, Outs: []int{1}}, gpu(), []tensor.Desc{tensor.Contiguous(tensor.F64, 4)}, errs.ErrUnsupported, "double precision"},
		{"a large operand that comes again", Fused{Calls: []spec.Call{add}, Args: [][]int{{0, 1}}, Outs: []int{2}}, none, []tensor.Desc{f32(4, 5000), f32(5000)}, errs.ErrLimit, "MaxBinding"},
		{"many numbers", many, gpu(), []tensor.Desc{f32(4)}, errs.ErrUnsupported, "32 words"},
	} {
		err := c.f.Check(c.t, c.in)
		if !errors.Is(err, c.err) || c.err != nil && !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: error %v, want %v with %q", c.what, err, c.err, c.text)
		}
	}
	if err := many.Check(nil, nil); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Errorf("no target: %v", err)
	}
	if err := (Fused{Calls: []spec.Call{nil}, Args: [][]int{nil}, Outs: []int{1}}).Check(gpu(), []tensor.Desc{f32(3)}); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Errorf("no call: %v", err)
	}
	if err := Fusible(add, gpu(), []tensor.Desc{f32(3), f32(2, 3)}); err != nil {
		t.Errorf("a sum: %v", err)
	}
	if err := Fusible(ops.MatMul{}, gpu(), []tensor.Desc{f32(3, 3), f32(3, 3)}); !errors.Is(err, errs.ErrUnsupported) {
		t.Errorf("a product of matrices: %v", err)
	}
}

// chainOf is some operations on two inputs.
func chainOf(max float64) Fused {
	return Fused{
		Calls: []spec.Call{ops.Add{}, ops.Mul{}, ops.Clip{Min: -1, Max: max}, ops.GELU{}, ops.Sub{}, ops.Tanh{}, ops.Maximum{}, ops.Sigmoid{}},
		Args:  [][]int{{0, 1}, {2, 0}, {3}, {4}, {5, 1}, {6}, {7, 0}, {8}}, Outs: []int{9},
	}
}

// TestModulesAreShared checks that calls which differ in sizes and numbers launch one module, and that others do not.
func TestModulesAreShared(t *testing.T) {
	module := func(f Fused, in ...tensor.Desc) string {
		t.Helper()
		out, err := f.Spec().Shape(f, in)
		if err != nil {
			t.Fatal(err)
		}
		p, err := f.Spec().Plan(f, gpu(), in, out)
		if err != nil {
			t.Fatal(err)
		}
		return string(p.Steps[0].Module.Hash[:])
	}
	one := module(chainOf(2), f32(8, 64), f32(64))
	if module(chainOf(3), f32(40, 128), f32(128)) != one {
		t.Error("other sizes and numbers: another module")
	}
	if module(chainOf(2), f32(8, 64), f32(8, 64)) == one || module(chainOf(2), f32(8, 63), f32(63)) == one {
		t.Error("other loads: the same module")
	}
	f := chainOf(2)
	f.Calls[7] = ops.Tanh{}
	if module(f, f32(8, 64), f32(64)) == one {
		t.Error("other operations: the same module")
	}
}

// BenchmarkLink measures how long it takes to link eight operations, and to plan a call whose module is known.
func BenchmarkLink(b *testing.B) {
	f, in := chainOf(2), []tensor.Desc{f32(8, 64), f32(64)}
	out, err := f.Spec().Shape(f, in)
	if err != nil {
		b.Fatal(err)
	}
	l, err := layOut(&f, gpu(), in, out)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("link", func(b *testing.B) {
		for b.Loop() {
			if _, err := l.link(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("plan", func(b *testing.B) {
		for b.Loop() {
			if _, err := f.Spec().Plan(f, gpu(), in, out); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// TestReciprocal compares quotients by products with quotients.
func TestReciprocal(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 20000 {
		d := uint32(2 + i)
		if i >= 10000 {
			d = max(2, rng.Uint32()>>(1+rng.IntN(31)))
		}
		m, s := reciprocal(d)
		for _, n := range []uint32{0, 1, d - 1, d, 1<<31 - 1, (1<<31 - 1) / d * d, max((1<<31-1)/d*d, 1) - 1, rng.Uint32() >> 1, rng.Uint32() >> (1 + rng.IntN(31))} {
			if got := uint32(uint64(n) * uint64(m) >> (32 + s)); n < 1<<31 && got != n/d {
				t.Fatalf("%d / %d is %d by a product (want %d)", n, d, got, n/d)
			}
		}
	}
}
