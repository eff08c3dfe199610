package contraction

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// view is an operand as the labels walk it. Labels of size 1 are left out: the operand does not vary with them. Those that an
// operand repeats are one label, whose stride is the sum of theirs.
type view struct {
	ref     spec.Ref
	dtype   tensor.DType
	labels  []label
	strides []int
}

// space is the index space of a call.
type space struct {
	sizes map[label]int
	// in are the operands.
	in []view
	// out has the labels of the result, all of them.
	out []label
}

// newSpace checks the operands of a call. A size of 1 is broadcast.
// Errors: ErrInvalidArgument, ErrUnsupported.
func newSpace(text string, in []tensor.Desc) (*space, error) {
	e, err := parse(text)
	if err != nil {
		return nil, err
	}
	if len(in) != len(e.in) {
		return nil, planner.Invalid("equation %q has %d operands, and the call %d", text, len(e.in), len(in))
	}
	x := &space{sizes: map[label]int{}}
	first := map[label]int{} // the operand from which a size is
	most := 0                // the dimensions of the ellipsis
	for i, d := range in {
		s := e.in[i]
		more := len(d.Shape) - len(s.letters)
		if d.DType != in[0].DType {
			return nil, planner.Invalid("operand %d is %v, and operand 0 %v (want one dtype)", i, d, in[0])
		}
		if more < 0 || more > 0 && s.ellipsis < 0 {
			return nil, planner.Invalid("operand %d is %v of rank %d, and its subscripts %q have rank %d", i, d, len(d.Shape), s, len(s.letters))
		}
		most = max(most, more)
		v := view{ref: spec.In(i), dtype: d.DType}
		own, strides := map[label]int{}, d.ElementStrides()
		for k, l := range s.labels(more) {
			n := d.Shape[k]
			if size, ok := own[l]; ok && size != n {
				return nil, planner.Invalid("operand %d is %v: %v has the sizes %d and %d", i, d, l, size, n)
			}
			own[l] = n
			size, ok := x.sizes[l]
			if ok && n != 1 && size != 1 && n != size {
				return nil, planner.Invalid("%v has size %d in operand %d, and %d in operand %d", l, size, first[l], n, i)
			}
			if !ok || size == 1 {
				x.sizes[l], first[l] = n, i
			}
			if n == 1 {
				continue
			}
			at := slices.Index(v.labels, l)
			if at < 0 {
				at = len(v.labels)
				v.labels, v.strides = append(v.labels, l), append(v.strides, 0)
			}
			v.strides[at] += strides[k]
		}
		if n := len(v.labels); n > planner.MaxRank {
			return nil, planner.Unsupported("operand %d is %v: %d labels of more than one element (at most %d)", i, d, n, planner.MaxRank)
		}
		x.in = append(x.in, v)
	}
	x.out = e.out.labels(most)
	if n := len(x.varying(x.out)); n > planner.MaxRank {
		return nil, planner.Unsupported("the result %v: %d labels of more than one element (at most %d)", x.shape(x.out), n, planner.MaxRank)
	}
	return x, nil
}

// varying returns those labels whose size is not 1.
func (x *space) varying(labels []label) []label {
	return slices.DeleteFunc(slices.Clone(labels), func(l label) bool { return x.sizes[l] == 1 })
}

// shape returns the sizes of labels.
func (x *space) shape(labels []label) []int {
	shape := make([]int, len(labels))
	for i, l := range labels {
		shape[i] = x.sizes[l]
	}
	return shape
}

// isEmpty reports whether a label has no indices, so that all sums are 0.
func (x *space) isEmpty() bool {
	for _, n := range x.sizes {
		if n == 0 {
			return true
		}
	}
	return false
}

// count returns the number of indices of labels. Such numbers may be larger than integers.
func (x *space) count(labels []label) float64 {
	n := 1.0
	for _, l := range labels {
		n *= float64(x.sizes[l])
	}
	return n
}

// union returns the labels of a, and then those of b that a does not have.
func union(a, b []label) []label {
	list := slices.Clone(a)
	for _, l := range b {
		if !slices.Contains(list, l) {
			list = append(list, l)
		}
	}
	return list
}

// common returns the labels of a that b has too, and apart those that it does not have.
func common(a, b []label) []label {
	return filter(a, func(l label) bool { return slices.Contains(b, l) })
}
func apart(a, b []label) []label {
	return filter(a, func(l label) bool { return !slices.Contains(b, l) })
}

func filter(a []label, keep func(label) bool) []label {
	var list []label
	for _, l := range a {
		if keep(l) {
			list = append(list, l)
		}
	}
	return list
}

// step is a step of a call: a sum over labels that only operand x has, or a product of the operands x and y. The result of a sum
// is operand x. That of a product is the last operand, in place of x and y.
type step struct {
	x, y int // x < y, and y is -1 for a sum
	// kept are the labels of the result.
	kept []label
	// summed are those over which the step adds.
	summed []label
	// flops is the number of multiplications and additions.
	flops float64
}

// storeCost is how many multiplications take as long as to write an element of an intermediate result, and to read it again.
const storeCost = 32

// steps returns the steps of a call. Labels that only one operand has, and the result does not, are summed first. Then two
// operands are multiplied at a time: those of the least cost, and of equal ones the first. The cost is the number of
// indices of all labels of both, and storeCost for each element of the result.
func (x *space) steps() []step {
	out := x.varying(x.out)
	users := map[label]int{} // of the operands and the result, how many have a label
	for _, l := range out {
		users[l]++
	}
	var operands [][]label
	for _, v := range x.in {
		operands = append(operands, v.labels)
		for _, l := range v.labels {
			users[l]++
		}
	}
	// split returns those of labels that others need too, apart from n of their users, and the other ones.
	split := func(labels []label, n func(label) int) (kept, summed []label) {
		for _, l := range labels {
			if users[l] > n(l) {
				kept = append(kept, l)
			} else {
				summed = append(summed, l)
			}
		}
		return kept, summed
	}
	var steps []step
	for i, labels := range operands {
		kept, summed := split(labels, func(label) int { return 1 })
		if len(summed) > 0 {
			steps = append(steps, step{x: i, y: -1, kept: kept, summed: summed, flops: x.count(labels)})
			operands[i] = kept
		}
	}
	// own returns how many of operands a and b have a label.
	own := func(a, b int) func(label) int {
		return func(l label) (n int) {
			for _, labels := range [][]label{operands[a], operands[b]} {
				if slices.Contains(labels, l) {
					n++
				}
			}
			return n
		}
	}
	// costs[b][a] is the cost of the product of operands a and b, for a < b. It stays the same when others are multiplied.
	var costs [][]float64
	row := func(b int) (list []float64) {
		for a := range b {
			both := union(operands[a], operands[b])
			kept, _ := split(both, own(a, b))
			list = append(list, x.count(both)+storeCost*x.count(kept))
		}
		return list
	}
	for b := range operands {
		costs = append(costs, row(b))
	}
	for len(operands) > 1 {
		a, b := 0, 1
		for i := range operands {
			for j := i + 1; j < len(operands); j++ {
				if costs[j][i] < costs[b][a] {
					a, b = i, j
				}
			}
		}
		both, have := union(operands[a], operands[b]), own(a, b)
		kept, summed := split(both, have)
		s := step{x: a, y: b, kept: kept, summed: summed, flops: x.count(both)}
		if len(summed) > 0 {
			s.flops *= 2
		}
		steps = append(steps, s)
		for _, l := range kept {
			users[l] += 1 - have(l)
		}
		for _, gone := range []int{b, a} {
			operands, costs = slices.Delete(operands, gone, gone+1), slices.Delete(costs, gone, gone+1)
			for i := gone; i < len(costs); i++ {
				costs[i] = slices.Delete(costs[i], gone, gone+1)
			}
		}
		operands = append(operands, kept)
		costs = append(costs, row(len(operands)-1))
	}
	return steps
}

// check returns an error if an intermediate result is too large to be a tensor.
// Errors: ErrInvalidArgument.
func (x *space) check() error {
	for _, s := range x.steps() {
		if err := tensor.Contiguous(tensor.F64, x.shape(s.kept)...).Check(); err != nil {
			return err
		}
	}
	return nil
}
