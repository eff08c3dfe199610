package ops

import (
	"slices"
	"strings"

	"github.com/lathe-gpu/lathe/internal/families/contraction"
	"github.com/lathe-gpu/lathe/spec"
)

// Einsum multiplies tensors, and sums the products over labels of their dimensions, as Einsum of ONNX and einsum of NumPy do.
//
// The equation has the labels of each operand, separated by commas, and after "->" those of the result. Labels are letters, a–z
// and A–Z. Spaces are ignored. Each element of the result is a sum over all labels that the result does not have:
//
//	ij,jk->ik          the matrix product
//	bhqd,bhkd->bhqk    the scores of attention
//	bn,anm,bm->ba      a bilinear form
//	ij->ji             the transpose
//	ii->i              the diagonal
//	ii->               the trace
//	i,j->ij            the outer product
//
// Without "->", the result has the labels that occur once, upper-case letters first, in alphabetical order. An ellipsis,
// "...", stands for any number of dimensions, which are broadcast from the last one on. It may stand for another number in another operand.
// Without "->" these dimensions come first in the result. If the result after "->" has no ellipsis, they are summed, which NumPy
// refuses. A label of size 1 is broadcast to the size that it has in another operand. A label that one operand repeats is its diagonal:
// all its sizes must be equal there. An operand, and the result, have at most 8 labels of more than one element.
//
// Operands are multiplied two at a time. Those of the least cost come first, and of equal ones the first: the cost is the number of
// indices of all labels of both, and 32 for each element of their product. Before that, labels that only one operand has,
// and the result does not, are summed. A label of which an operand has size 1 counts as one that it does not have. This order
// matters for overflow, and for infinities, which may make NaN in another one. Sums of no elements are 0, whatever the other
// operands are. NaN and infinities are those of products and sums.
//
// Sums of F16 and BF16 are computed in F32, and so are the results between products. The result is rounded once. There are no integers.
type Einsum struct {
	Equation string `attr:"equation,required" onnx:"equation" doc:"the labels of the operands, separated by commas, and those of the result after ->"`
}

// Spec returns the declaration.
func (Einsum) Spec() *spec.Op { return einsumOp.Op() }

// Gradient declares the gradients: that of an operand is the einsum of dy and the other operands to its labels. There is none with an ellipsis, and with a
// label that an operand repeats.
func (c Einsum) Gradient(t *spec.Tape) {
	dy := t.Gradient(0)
	if dy == spec.NoValue {
		return
	}
	labels, result := c.labels()
	for i, own := range labels {
		if !t.Needs(i) {
			continue
		}
		if strings.Contains(c.Equation, ".") || repeats(own) || slices.ContainsFunc(labels, repeats) {
			t.Refuse("equation %s (want no ellipsis, and no label twice in an operand)", c.Equation)
			return
		}
		operands, lists := []spec.Value{dy}, []string{result}
		for k, other := range labels {
			if k != i {
				operands, lists = append(operands, t.In(k)), append(lists, other)
			}
		}
		// A label that nobody else has was summed: its elements have one gradient.
		known, shape := "", slices.Clone(t.Shape(t.In(i)))
		to, sizes := slices.Clone(shape), map[rune]int{}
		for k, list := range lists {
			for d, label := range list {
				sizes[label] = max(sizes[label], t.Shape(operands[k])[d])
			}
		}
		for d, label := range own {
			if n, ok := sizes[label]; ok {
				known, shape[d], to[d] = known+string(label), n, max(n, shape[d])
			} else {
				shape[d] = 1
			}
		}
		part := t.Call(Einsum{Equation: strings.Join(lists, ",") + "->" + known}, operands...)
		t.SetGradient(i, t.Expand(t.Reshape(part, shape...), to...))
	}
}

// labels are the labels of each operand and of the result. They have a letter for each dimension.
func (c Einsum) labels() (operands []string, result string) {
	left, result, given := strings.Cut(strings.ReplaceAll(c.Equation, " ", ""), "->")
	if !given {
		var once []rune
		for _, label := range left {
			if label != ',' && strings.Count(left, string(label)) == 1 {
				once = append(once, label)
			}
		}
		slices.Sort(once)
		result = string(once)
	}
	return strings.Split(left, ","), result
}

// repeats reports whether a label is twice in a list.
func repeats(labels string) bool {
	return strings.ContainsFunc(labels, func(label rune) bool { return strings.Count(labels, string(label)) > 1 })
}

var einsumOp = spec.Declaration{Define: func() *spec.Op {
	return contraction.Define(contraction.Einsum[*Einsum]{
		Name: "einsum", ONNX: []string{"Einsum"},
		Doc:      "Products of tensors, summed over labels of their dimensions that an equation names.",
		Call:     func(equation string) *Einsum { return &Einsum{equation} },
		Equation: func(a *Einsum) string { return a.Equation },
	})
}}
