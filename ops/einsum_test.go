package ops_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// counting returns the numbers from 1 to the number of elements of a shape.
func counting(shape ...int) *tensor.Host {
	h := tensor.NewHost(tensor.Contiguous(tensor.F32, shape...))
	v := make([]float64, h.Elems())
	for i := range v {
		v[i] = float64(i + 1)
	}
	h.SetFloats(v)
	return h
}

// TestEinsumExamples has results that were worked out by hand.
func TestEinsumExamples(t *testing.T) {
	f := func(shape []int, values ...float64) *tensor.Host { return host(tensor.F32, shape, values...) }
	eye := f([]int{2, 2}, 1, 0, 0, 1)
	onVariants(t, func(t *testing.T, dev gpu.Device, r *exec.Runner) {
		for _, c := range []struct {
			equation string
			in       []*tensor.Host
			want     *tensor.Host
		}{
			{"ij,jk->ik", []*tensor.Host{counting(2, 2), f([]int{2, 2}, 5, 6, 7, 8)}, f([]int{2, 2}, 19, 22, 43, 50)},
			{"ij,jk->ki", []*tensor.Host{counting(2, 2), f([]int{2, 2}, 5, 6, 7, 8)}, f([]int{2, 2}, 19, 43, 22, 50)},
			{" i j , jk ", []*tensor.Host{counting(2, 2), f([]int{2, 2}, 5, 6, 7, 8)}, f([]int{2, 2}, 19, 22, 43, 50)},
			{"bij,bjk->bik", []*tensor.Host{counting(2, 1, 2), f([]int{2, 2, 1}, 1, 1, 1, -1)}, f([]int{2, 1, 1}, 3, -1)},
			{"ij->ji", []*tensor.Host{counting(2, 3)}, f([]int{3, 2}, 1, 4, 2, 5, 3, 6)},
			{"ba", []*tensor.Host{counting(2, 3)}, f([]int{3, 2}, 1, 4, 2, 5, 3, 6)},
			{"bA", []*tensor.Host{counting(2, 3)}, f([]int{3, 2}, 1, 4, 2, 5, 3, 6)},
			{"ii->i", []*tensor.Host{counting(3, 3)}, f([]int{3}, 1, 5, 9)},
			{"ii", []*tensor.Host{counting(3, 3)}, f(nil, 15)},
			{"iij->ji", []*tensor.Host{counting(2, 2, 2)}, f([]int{2, 2}, 1, 7, 2, 8)},
			{"...ii->...i", []*tensor.Host{counting(2, 2, 2)}, f([]int{2, 2}, 1, 4, 5, 8)},
			{"ij->", []*tensor.Host{counting(2, 3)}, f(nil, 21)},
			{"ij->j", []*tensor.Host{counting(2, 3)}, f([]int{3}, 5, 7, 9)},
			{"i,i", []*tensor.Host{counting(3), counting(3)}, f(nil, 14)},
			{"i,j->ij", []*tensor.Host{counting(2), counting(3)}, f([]int{2, 3}, 1, 2, 3, 2, 4, 6)},
			{"ij,j->ij", []*tensor.Host{counting(2, 3), counting(3)}, f([]int{2, 3}, 1, 4, 9, 4, 10, 18)},
			// j of the first operand is broadcast: (1 + 3 + 5)·1 and so on.
			{"ij,jk->ik", []*tensor.Host{counting(2, 1), counting(3, 2)}, f([]int{2, 2}, 9, 12, 18, 24)},
			// Element [b,a] is the sum of x[b,n]·w[a,n,m]·y[b,m].
			{"bn,anm,bm->ba", []*tensor.Host{counting(1, 2), counting(2, 2, 2), counting(1, 2)}, f([]int{1, 2}, 27, 63)},
			{"bn,anm,bm->ba", []*tensor.Host{eye, counting(2, 2, 2), eye}, f([]int{2, 2}, 1, 5, 4, 8)},
			{"bhqd,bhkd->bhqk", []*tensor.Host{counting(1, 2, 1, 2), counting(1, 2, 2, 2)}, f([]int{1, 2, 1, 2}, 5, 11, 39, 53)},
			{"bqhd,bkhd->bhqk", []*tensor.Host{counting(1, 1, 2, 2), counting(1, 2, 2, 2)}, f([]int{1, 2, 1, 2}, 5, 17, 25, 53)},
			{"...ij,...jk->...ik", []*tensor.Host{counting(2, 1, 1, 2), counting(2, 2, 1)}, f([]int{2, 2, 1, 1}, 5, 11, 11, 25)},
			{"i...,...->i...", []*tensor.Host{counting(2, 2), counting(3, 1)}, f([]int{2, 3, 2}, 1, 2, 2, 4, 3, 6, 3, 4, 6, 8, 9, 12)},
			{"...->", []*tensor.Host{counting(2, 3)}, f(nil, 21)},
			{",ij,->ij", []*tensor.Host{f(nil, 2), counting(1, 2), f(nil, -3)}, f([]int{1, 2}, -6, -12)},
			{"ij,jk,kl,lm->im", []*tensor.Host{counting(2, 2), eye, counting(2, 2), f([]int{2, 1}, 1, 1)}, f([]int{2, 1}, 17, 37)},
			{"ij,jk->ik", []*tensor.Host{counting(1, 0), counting(0, 2)}, f([]int{1, 2}, 0, 0)},
			{"i,j->j", []*tensor.Host{counting(0), counting(2)}, f([]int{2}, 0, 0)},
		} {
			expectCall(t, r, dev, ops.Einsum{Equation: c.equation}, c.in, []*tensor.Host{c.want})
			if t.Failed() {
				t.Fatal(c.equation)
			}
		}
	})
}

// TestEinsumRefuses checks that errors name what is wrong.
func TestEinsumRefuses(t *testing.T) {
	nine := slices.Repeat([]int{2}, 9)
	for _, c := range []struct {
		equation string
		in       [][]int
		want     string
	}{
		{"i1,jk->ik", [][]int{{2, 2}, {2, 2}}, `"1"`},
		{"ij,jé->i", [][]int{{2, 2}, {2, 2}}, `"é"`},
		{"ij->i->j", [][]int{{2, 2}}, `"-"`},
		{"i..j", [][]int{{2, 2}}, `"."`},
		{"...i...", [][]int{{2, 2}}, "two ellipses"},
		{"ij,jk->il", [][]int{{2, 2}, {2, 2}}, "no operand has label l"},
		{"ij,jk->iki", [][]int{{2, 2}, {2, 2}}, "the result has label i twice"},
		{"ij,jk->ik", [][]int{{2, 2}, {2, 2, 3}}, `operand 1 is f32[2,2,3] of rank 3, and its subscripts "jk" have rank 2`},
		{"ij...,jk", [][]int{{2}, {2, 2}}, `operand 0 is f32[2] of rank 1, and its subscripts "ij..." have rank 2`},
		{"ij,jk->ik", [][]int{{2, 3}, {4, 2}}, "label j has size 3 in operand 0, and 4 in operand 1"},
		{"...,...", [][]int{{2, 3}, {4, 3}}, "dimension -2 of the ellipsis has size 2 in operand 0, and 4 in operand 1"},
		{"ii->i", [][]int{{2, 3}}, "label i has the sizes 2 and 3"},
		{"ii->i", [][]int{{1, 3}}, "label i has the sizes 1 and 3"},
		{"ij,jk->ik", [][]int{{2, 3}}, "has 2 operands, and the call 1"},
		{"abcdefghi->", [][]int{nine}, "9 labels of more than one element (at most 8)"},
		{"abcde,fghi->abcdefghi", [][]int{nine[:5], nine[:4]}, "the result [2 2 2 2 2 2 2 2 2]: 9 labels"},
	} {
		var in []tensor.Desc
		for _, s := range c.in {
			in = append(in, tensor.Contiguous(tensor.F32, s...))
		}
		call := ops.Einsum{Equation: c.equation}
		_, err := call.Spec().Shape(call, in)
		if !errors.Is(err, errs.ErrInvalidArgument) && !errors.Is(err, errs.ErrUnsupported) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of %v: %v, want %q", c.equation, in, err, c.want)
		}
	}
}
