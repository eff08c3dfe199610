package contraction

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// equations are those that the suite tries, besides that of matmul.
var equations = []string{
	"ij,kj->ki", "Ij, jK", "ij->ji", "iij->j", "bji->ib", "ij,ij->", "ij,ji->ij", "ij,kb->ikjb", "ij,bk->ik", ",ij->ij",
	"bij,bkj->ikb", "ibhj,kbhj->bhik", "bhij,jbhk->ibhk", "...ij,...jk->...ik", "ijk,bkj->ib", "iij,jkk->ik", "bi,jik,bk->bj", "ij,ik,ib->jkb",
}

// cases returns the cases of the operation.
func cases[A spec.Call](m Einsum[A]) spec.CasesOf[A] {
	calls := []A{m.Call("ij,jk->ik")}
	for _, text := range equations {
		calls = append(calls, m.Call(text))
	}
	var invalid []A
	for _, text := range []string{"", "ij,jk->il", "ij,jk->iik", "ij,jk->ik->i", "ij;jk->ik", "ij,jk,kl->il", "ij", "i.j,jk->ik", "......,jk", "é,jk", "ij,jk->ik,"} {
		invalid = append(invalid, m.Call(text))
	}
	inputs := func(a A, d tensor.DType, dims []int) []tensor.Desc { return inputsOf(m.Equation(a), d, dims) }
	f32 := func(shapes ...[]int) (in []tensor.Desc) {
		for _, s := range shapes {
			in = append(in, tensor.Contiguous(tensor.F32, s...))
		}
		return in
	}
	return spec.CasesOf[A]{
		DTypes: planner.Floats, Calls: calls, Invalid: invalid,
		Dims: []spec.Dim{
			{Name: "form", Only: []int{1, 2, 3}}, {Name: "i", Tiles: []int{8}}, {Name: "j", Tiles: []int{8}}, {Name: "k", Tiles: []int{4}}, {Name: "b"},
		},
		Sizes: [][]int{
			{1, 3, 65536, 2, 1}, {1, 2, 100000, 3, 1}, {1, 65536, 2, 3, 1}, {1, 2, 3, 65535, 1}, {1, 100000, 1, 1, 1}, {1, 257, 131, 261, 1},
			{1, 40, 1000, 36, 3}, {1, 1500, 40, 33, 2}, {1, 5, 4, 3, 65536}, {2, 70000, 3, 2, 2}, {1, 3, 2, 70000, 5},
		},
		Inputs: inputs,
		Bench: func(d tensor.DType) []spec.BenchCase {
			var list []spec.BenchCase
			add := func(text string, shapes ...[]int) {
				var in []tensor.Desc
				for _, s := range shapes {
					in = append(in, tensor.Contiguous(d, s...))
				}
				list = append(list, spec.BenchCase{Call: m.Call(text), In: in})
			}
			for _, n := range []int{128, 512, 1024} {
				add("ij,jk->ik", []int{n, n}, []int{n, n})
			}
			add("bhqd,bhkd->bhqk", []int{2, 8, 256, 64}, []int{2, 8, 256, 64})
			add("bqhd,bkhd->bhqk", []int{2, 256, 8, 64}, []int{2, 256, 8, 64})
			add("bhqk,bkhd->bqhd", []int{2, 8, 256, 256}, []int{2, 256, 8, 64})
			add("bn,anm,bm->ba", []int{64, 128}, []int{64, 128, 128}, []int{64, 128})
			add("ij,kj->ki", []int{1024, 1024}, []int{1024, 1024})
			return list
		},
		Low: -1, High: 1, Specials: true,
		Refused: [][]tensor.Desc{
			f32([]int{2, 3}, []int{4, 5}), f32([]int{2, 3, 1}, []int{3, 5}), f32([]int{2, 3}), f32([]int{2, 3}, []int{3, 5}, []int{5}),
			{tensor.Contiguous(tensor.F32, 2, 3), tensor.Contiguous(tensor.F16, 3, 5)}, {tensor.Contiguous(tensor.I32, 2, 3), tensor.Contiguous(tensor.I32, 3, 5)},
		},
	}
}

// inputsOf returns the operands of an equation. dims are the form and the sizes of i, j, k and b; other labels have small sizes. In
// form 2, j of the first operand has size 1, and in form 3, b and i of the last one. The ellipsis of the first operand stands for as many dimensions as
// the form, and that of the last one for one less.
func inputsOf(text string, d tensor.DType, dims []int) []tensor.Desc {
	e, err := parse(text)
	if err != nil {
		return nil
	}
	sizes := map[label]int{'i': dims[1], 'I': dims[1], 'j': dims[2], 'k': dims[3], 'K': dims[3], 'b': dims[4], 'h': 3, -1: 2, -2: 3, -3: 2}
	var in []tensor.Desc
	for at, s := range e.in {
		first, last := at == 0, at == len(e.in)-1
		more := dims[0]
		if !first {
			more--
		}
		var shape []int
		for _, l := range s.labels(more) {
			n := sizes[l]
			if dims[0] == 2 && first && (l == 'j' || l == -2) || dims[0] == 3 && last && (l == 'i' || l == 'b' || l == -1) {
				n = 1
			}
			shape = append(shape, n)
		}
		in = append(in, tensor.Contiguous(d, shape...))
	}
	if dims[0] > 1 && slices.EqualFunc(in, inputsOf(text, d, slices.Concat([]int{1}, dims[1:])), func(a, b tensor.Desc) bool { return slices.Equal(a.Shape, b.Shape) }) {
		return nil // The form makes no difference.
	}
	return in
}
