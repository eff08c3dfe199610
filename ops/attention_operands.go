package ops

import (
	"slices"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// replace adds the call of attention. Heads of keys that are repeated for groups of queries become a dimension for the heads and one for the groups, along which the
// keys are broadcast.
func (a *spelledAttention) replace(v spec.Value, transV bool) {
	rank := len(a.shape)
	lead, dv := a.shape[:rank-2], 0
	all := [3]spec.Source{a.operand(a.q, a.transQ, true), a.operand(a.k, a.transK, true), a.operand(v, transV, false)}
	for i, s := range all {
		if len(s.Dims) > rank {
			a.m.Miss("the values have more dimensions than the scores")
			return
		}
		for len(s.Dims) < rank {
			s.Dims = slices.Insert(s.Dims, 0, []spec.Axis{{Size: 1}})
		}
		for k, n := range lead {
			if size := sizeOf(s.Dims[k]); size != 1 && size != n {
				a.m.Miss("the scores are broadcast to the dimensions of the values")
				return
			}
		}
		all[i], dv = s, sizeOf(s.Dims[rank-1])
	}
	parts := make([][]int, len(lead)) // the sizes into which each dimension is divided
	for k, n := range lead {
		var ok bool
		if parts[k], ok = divisions(n, all[0].Dims[k], all[1].Dims[k], all[2].Dims[k]); !ok {
			a.m.Miss("keys and values are repeated in ways that differ")
			return
		}
	}
	in := make([]spec.Value, 3, 4)
	for i, s := range all {
		in[i] = a.view(s, parts, i == 0)
	}
	if mask := a.mask(parts); mask != spec.NoValue {
		in = append(in, mask)
	}
	out := a.m.Call(Attention{Scale: spec.Given(a.scale), Causal: a.causal}, in...)
	a.m.Replace(a.m.Reshape(out, append(slices.Clone(lead), a.shape[rank-2], dv)...))
}

func sizeOf(axes []spec.Axis) int {
	n := 1
	for _, a := range axes {
		n *= a.Size
	}
	return n
}

// operand is where the rows of q, k or v come from. A factor of all its elements becomes a part of the scale, if scaled.
func (a *spelledAttention) operand(v spec.Value, trans, scaled bool) spec.Source {
	s := a.m.Source(v)
	rank := len(s.Dims)
	if len(s.Dims[rank-1]) > 1 || len(s.Dims[rank-2]) > 1 { // no strides say where these elements are
		d := a.m.Desc(v)
		s = spec.Source{Of: v, Dims: make([][]spec.Axis, rank)}
		for i, stride := range d.ElementStrides() {
			s.Dims[i] = []spec.Axis{{Size: d.Shape[i], Stride: stride}}
		}
	}
	for scaled {
		of, by := a.factor(s.Of)
		if of == spec.NoValue {
			break
		}
		s.Of = of
		a.scale *= by
	}
	s.Dims = slices.Clone(s.Dims)
	if trans {
		s.Dims[rank-1], s.Dims[rank-2] = s.Dims[rank-2], s.Dims[rank-1]
	}
	return s
}

// factor returns what a value is the product of with a number, and the number, or NoValue. Both values have their elements at the same places.
func (a *spelledAttention) factor(v spec.Value) (spec.Value, float64) {
	c, in := a.m.Maker(v)
	same := func(w spec.Value) bool {
		d := a.m.Desc(w)
		return d.IsContiguous() && slices.Equal(d.Shape, a.m.Desc(v).Shape)
	}
	switch c.(type) {
	case Mul:
		for i, w := range in {
			if x, ok := a.m.Number(in[1-i]); ok && same(w) {
				return w, x
			}
		}
	case Div:
		if x, ok := a.m.Number(in[1]); ok && same(in[0]) {
			return in[0], 1 / x
		}
	}
	return spec.NoValue, 0
}

// divisions returns the sizes, the outermost first, into which a dimension of n indices is divided so that each of the operands walks each part
// with one stride.
func divisions(n int, operands ...[]spec.Axis) ([]int, bool) {
	var ends []int // how many indices the inner parts have together
	for _, axes := range operands {
		size := 1
		for _, a := range slices.Backward(axes) {
			if size *= a.Size; size > 1 && size < n {
				ends = append(ends, size)
			}
		}
	}
	slices.Sort(ends)
	var parts []int
	last := 1
	for _, end := range append(slices.Compact(ends), n) {
		if last == 0 || end%last != 0 {
			return nil, false
		}
		parts = append(parts, end/last)
		last = end
	}
	slices.Reverse(parts)
	return parts, true
}

// view is an operand with the dimensions before the last two divided into parts. Those along which it is broadcast have size 1, except for q, which
// says how many results there are.
func (a *spelledAttention) view(s spec.Source, parts [][]int, q bool) spec.Value {
	d := tensor.Desc{DType: a.m.Desc(s.Of).DType, Shape: []int{}, Strides: []int{}}
	for k, sizes := range parts {
		axes := slices.Clone(s.Dims[k])
		shape, strides := make([]int, len(sizes)), make([]int, len(sizes))
		for i, size := range slices.Backward(sizes) {
			for len(axes) > 1 && axes[len(axes)-1].Size == 1 {
				axes = axes[:len(axes)-1]
			}
			last := &axes[len(axes)-1]
			shape[i], strides[i] = size, last.Stride
			if last.Size == 1 && size != 1 {
				strides[i] = 0
			}
			if last.Size >= size && size > 0 {
				last.Size, last.Stride = last.Size/size, last.Stride*size
			}
			if strides[i] == 0 && !q && size > 0 {
				shape[i] = 1
			}
		}
		d.Shape, d.Strides = append(d.Shape, shape...), append(d.Strides, strides...)
	}
	for _, axes := range s.Dims[len(parts):] {
		d.Shape, d.Strides = append(d.Shape, axes[0].Size), append(d.Strides, axes[0].Stride)
	}
	return a.m.View(s.Of, d, s.Offset)
}

// mask is the sum of all masks with its dimensions divided into parts, or NoValue.
func (a *spelledAttention) mask(parts [][]int) spec.Value {
	if len(a.masks) == 0 {
		return spec.NoValue
	}
	sum, dtype := spec.NoValue, a.m.Desc(a.q).DType
	for _, m := range a.masks {
		v := m.v
		if own := a.m.Desc(v).DType; own != dtype {
			if !m.exact {
				a.m.Miss("a mask of %v is added to scores of %v", own, dtype)
			}
			v = a.m.Call(Cast{To: dtype}, v)
		}
		if sum != spec.NoValue {
			v = a.m.Call(Add{}, sum, v)
		}
		sum = v
	}
	own := a.m.Desc(sum).Shape
	var shape []int
	for i, n := range own {
		k := i + len(a.shape) - len(own)
		switch {
		case k >= len(parts):
			shape = append(shape, n)
		case n == 1:
			shape = append(shape, slices.Repeat([]int{1}, len(parts[k]))...)
		default:
			shape = append(shape, parts[k]...)
		}
	}
	if len(own) == 0 {
		return sum
	}
	return a.m.Reshape(sum, shape...)
}
