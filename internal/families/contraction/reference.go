package contraction

import (
	"slices"
	"strings"

	"github.com/lathe-gpu/lathe/tensor"
)

// This file computes calls in float64. It has a parser of its own, and shares nothing with the plan but the order in which
// the doc of the operation says that operands are multiplied. That order matters for infinities.

// named is a tensor whose dimensions have names: letters, and others for those of an ellipsis. It is row-major.
type named struct {
	names  []rune
	sizes  []int
	values []float64
}

// reference computes a call that the shape rule has accepted.
func reference(text string, in []*tensor.Host, out *tensor.Host) {
	left, right, arrow := strings.Cut(strings.ReplaceAll(text, " ", ""), "->")
	most, empty := 0, false
	var tensors []named
	for i, s := range strings.Split(left, ",") {
		more := len(in[i].Shape) - len(strings.ReplaceAll(s, ".", ""))
		most, empty = max(most, more), empty || in[i].Elems() == 0
		tensors = append(tensors, diagonal(in[i], expanded(s, more)))
	}
	if empty {
		out.SetFloats(make([]float64, out.Elems()))
		return
	}
	result := expanded(right, most)
	if !arrow {
		result = expanded("...", most)
		for c := 'A'; c <= 'z'; c++ {
			if strings.Count(left, string(c)) == 1 {
				result = append(result, c)
			}
		}
	}
	for i, x := range tensors { // what only one operand has is summed first
		rest := slices.Clone(result)
		for j, y := range tensors {
			if j != i {
				rest = append(rest, y.names...)
			}
		}
		tensors[i] = summed([]named{x}, shared(x.names, rest))
	}
	for len(tensors) > 2 {
		a, b, least := 0, 0, 0.0
		for i := range tensors {
			for j := i + 1; j < len(tensors); j++ {
				rest := slices.Clone(result)
				for k, x := range tensors {
					if k != i && k != j {
						rest = append(rest, x.names...)
					}
				}
				n, stored := 1.0, 1.0
				for name, size := range extents(tensors[i], tensors[j]) {
					n *= float64(size)
					if slices.Contains(rest, name) {
						stored *= float64(size)
					}
				}
				if cost := n + 32*stored; b == 0 || cost < least {
					a, b, least = i, j, cost
				}
			}
		}
		pair := []named{tensors[a], tensors[b]}
		tensors = slices.Delete(slices.Delete(tensors, b, b+1), a, a+1)
		rest := slices.Clone(result)
		for _, x := range tensors {
			rest = append(rest, x.names...)
		}
		tensors = append(tensors, summed(pair, shared(slices.Concat(pair[0].names, pair[1].names), rest)))
	}
	out.SetFloats(summed(tensors, result).values)
}

// expanded returns the names of an operand whose ellipsis stands for n dimensions. They count from the last one.
func expanded(s string, n int) (names []rune) {
	for _, c := range strings.Replace(s, "...", ".", 1) {
		if c != '.' {
			names = append(names, c)
			continue
		}
		for i := range n {
			names = append(names, rune(1000+n-i))
		}
	}
	return names
}

// shared returns the names of s that rest has too, each once.
func shared(s, rest []rune) (list []rune) {
	for _, c := range s {
		if slices.Contains(rest, c) && !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	return list
}

// extents returns the sizes of all names of the tensors.
func extents(list ...named) map[rune]int {
	sizes := map[rune]int{}
	for _, x := range list {
		for i, n := range x.sizes {
			sizes[x.names[i]] = n
		}
	}
	return sizes
}

// diagonal returns the elements of h at equal indices of equal names. Dimensions of size 1 are broadcast, so they have no name.
func diagonal(h *tensor.Host, names []rune) named {
	var x named
	for i, n := range h.Shape {
		if n != 1 && !slices.Contains(x.names, names[i]) {
			x.names, x.sizes = append(x.names, names[i]), append(x.sizes, n)
		}
	}
	all := h.Floats()
	index := make([]int, len(x.sizes))
	for range tensor.Contiguous(tensor.F64, x.sizes...).Elems() {
		at := 0
		for i, n := range h.Shape {
			at *= n
			if n != 1 {
				at += index[slices.Index(x.names, names[i])]
			}
		}
		x.values = append(x.values, all[at])
		advance(index, x.sizes)
	}
	return x
}

// advance counts an index up by one element, in row-major order.
func advance(index, sizes []int) {
	for d := len(sizes) - 1; d >= 0; d-- {
		if index[d]++; index[d] < sizes[d] {
			return
		}
		index[d] = 0
	}
}

// summed returns the product of one or two tensors, whose dimensions are the names of result. All other names are summed.
func summed(list []named, result []rune) named {
	sizes := extents(list...)
	x := named{names: result}
	for _, c := range result {
		x.sizes = append(x.sizes, max(sizes[c], 1)) // A name that no tensor has is that of a dimension of size 1.
	}
	var terms []rune
	var ends []int
	for _, t := range list {
		for _, c := range t.names {
			if !slices.Contains(result, c) && !slices.Contains(terms, c) {
				terms, ends = append(terms, c), append(ends, sizes[c])
			}
		}
	}
	// A loop over the last of the terms is the inner one.
	inner := 1
	if n := len(ends); n > 0 {
		inner = ends[n-1]
		ends = ends[:n-1]
	}
	// steps returns the strides of a tensor for names.
	steps := func(t named, names []rune) []int {
		own := tensor.Desc{Shape: t.sizes}.ElementStrides()
		list := make([]int, len(names))
		for i, c := range names {
			if at := slices.Index(t.names, c); at >= 0 {
				list[i] = own[at]
			}
		}
		return list
	}
	dot := func(a, b []int) (sum int) {
		for i := range b {
			sum += a[i] * b[i]
		}
		return sum
	}
	a, b := list[0], named{values: []float64{1}}
	if len(list) > 1 {
		b = list[1]
	}
	outerA, outerB, termsA, termsB := steps(a, result), steps(b, result), steps(a, terms), steps(b, terms)
	stepA, stepB := 0, 0
	if n := len(terms); n > 0 {
		stepA, stepB = termsA[n-1], termsB[n-1]
	}
	index, term := make([]int, len(result)), make([]int, len(ends))
	rounds := tensor.Contiguous(tensor.F64, ends...).Elems()
	for range tensor.Contiguous(tensor.F64, x.sizes...).Elems() {
		sum := 0.0
		atA, atB := dot(outerA, index), dot(outerB, index)
		for range rounds {
			i, j := atA+dot(termsA, term), atB+dot(termsB, term)
			for range inner {
				sum += a.values[i] * b.values[j]
				i, j = i+stepA, j+stepB
			}
			advance(term, ends)
		}
		x.values = append(x.values, sum)
		advance(index, x.sizes)
	}
	return x
}
