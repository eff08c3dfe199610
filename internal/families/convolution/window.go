package convolution

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/tensor"
)

// Values of the attribute auto_pad.
const (
	NotSet    = "NOTSET"
	SameUpper = "SAME_UPPER"
	SameLower = "SAME_LOWER"
	Valid     = "VALID"
)

// Largest values of attributes and sizes. Kernels keep two steps in a word, and positions in
// 31 bits.
const (
	mostStep = 1<<16 - 1
	mostSize = 1 << 30
)

// Attributes are those of a convolution. Empty lists mean strides and dilations of 1 and no pads.
type Attributes struct {
	Strides, Pads, Dilations []int
	Group                    int
	AutoPad                  string
}

// axes returns a list of the attributes for rank axes, in an extent. An empty list means that many
// of the number empty.
func axes(name string, list []int, rank, empty, low, high int) (extent, error) {
	e := extent{empty, empty, empty}
	if len(list) == 0 {
		list = slices.Repeat([]int{empty}, rank)
	}
	if len(list) != rank {
		return e, planner.Invalid("%s %v (want %d numbers)", name, list, rank)
	}
	for i, n := range list {
		if n < low || n > high {
			return e, planner.Invalid("%s %v (want numbers from %d to %d)", name, list, low, high)
		}
		e[3-rank+i] = n
	}
	return e, nil
}

// spatial returns the sizes after the first two dimensions of a shape.
func spatial(shape []int) extent {
	e := extent{1, 1, 1}
	copy(e[5-len(shape):], shape[2:])
	return e
}

// moves returns the window of the attributes but for pads and sizes. rank is the number of spatial
// axes.
func (a Attributes) moves(rank int) (v window, end extent, err error) {
	if a.Group < 1 {
		return v, end, planner.Invalid("group %d (want at least 1)", a.Group)
	}
	v.group = a.Group
	if v.strides, err = axes("strides", a.Strides, rank, 1, 1, mostStep); err != nil {
		return v, end, err
	}
	for i := range 3 - rank {
		v.strides[i] = 1
	}
	if v.dilations, err = axes("dilations", a.Dilations, rank, 1, 1, mostStep); err != nil {
		return v, end, err
	}
	pads := a.Pads
	if len(pads) == 0 {
		pads = make([]int, 2*rank)
	}
	if len(pads) != 2*rank {
		return v, end, planner.Invalid("pads %v (want %d numbers)", pads, 2*rank)
	}
	if v.begin, err = axes("pads", pads[:rank], rank, 0, 0, mostSize); err == nil {
		end, err = axes("pads", pads[rank:], rank, 0, 0, mostSize)
	}
	switch a.AutoPad {
	case NotSet, "":
	case SameUpper, SameLower, Valid:
		if slices.ContainsFunc(pads, func(n int) bool { return n != 0 }) {
			return v, end, planner.Invalid("auto_pad %s and pads %v (want one of both)", a.AutoPad, pads)
		}
	default:
		return v, end, planner.Invalid("auto_pad %q (want %s, %s, %s or %s)", a.AutoPad, NotSet, SameUpper, SameLower, Valid)
	}
	return v, end, err
}

// reachOf returns the length of the taps along an axis, from the first to the last one.
func (v window) reachOf(a int) int { return (v.taps[a]-1)*v.dilations[a] + 1 }

// over returns the window over a tensor of the size in.
func (a Attributes) over(in, taps extent, rank int) (window, error) {
	v, end, err := a.moves(rank)
	if err != nil {
		return v, err
	}
	v.in, v.taps = in, taps
	for i := range in {
		if in[i] < 1 || taps[i] < 1 || in[i] > mostSize || taps[i] > mostSize/v.dilations[i] {
			return v, planner.Invalid("spatial sizes %v, taps %v (want from 1 to %d)", in, taps, mostSize)
		}
		reach := v.reachOf(i)
		if a.AutoPad == SameUpper || a.AutoPad == SameLower {
			total := max((planner.CeilDiv(in[i], v.strides[i])-1)*v.strides[i]+reach-in[i], 0)
			v.begin[i], end[i] = total/2, total-total/2
			if a.AutoPad == SameLower {
				v.begin[i], end[i] = end[i], v.begin[i]
			}
		}
		all := in[i] + v.begin[i] + end[i]
		if all < reach || all > mostSize {
			return v, planner.Invalid("spatial sizes %v with pads %v and %v, taps that reach %d (want %d to %d)", in, v.begin, end, reach, reach, mostSize)
		}
		v.out[i] = (all-reach)/v.strides[i] + 1
	}
	return v, nil
}

// transposed returns the window whose gradient is a transposed convolution of a tensor of the size
// out. The size in of the window is that of the result.
func (a Attributes) transposed(out, taps extent, rank int, padding, shape []int) (window, error) {
	v, end, err := a.moves(rank)
	if err != nil {
		return v, err
	}
	more, err := axes("output_padding", padding, rank, 0, 0, mostStep)
	if err != nil {
		return v, err
	}
	want, err := axes("output_shape", shape, rank, 0, min(len(shape), 1), mostSize)
	if err != nil {
		return v, err
	}
	v.out, v.taps = out, taps
	for i := range out {
		switch {
		case out[i] < 1 || taps[i] < 1 || out[i] > mostSize/v.strides[i] || taps[i] > mostSize/v.dilations[i]:
			return v, planner.Invalid("spatial sizes %v, taps %v (want from 1 to %d)", out, taps, mostSize)
		case more[i] > 0 && more[i] >= max(v.strides[i], v.dilations[i]):
			return v, planner.Invalid("output_padding %v (want less than strides or dilations)", padding)
		}
		if i < 3-rank {
			v.in[i] = 1
			continue
		}
		full := (out[i]-1)*v.strides[i] + v.reachOf(i) + more[i]
		size := want[i]
		if a.AutoPad == SameUpper || a.AutoPad == SameLower {
			size = max(size, 0)
			if size == 0 {
				size = out[i] * v.strides[i]
			}
		}
		if size > 0 {
			total := max(full-size, 0)
			v.begin[i], end[i] = total-total/2, total/2
			if a.AutoPad == SameUpper {
				v.begin[i], end[i] = end[i], v.begin[i]
			}
			v.in[i] = size
		} else if v.in[i] = full - v.begin[i] - end[i]; v.in[i] < 1 || full > mostSize {
			return v, planner.Invalid("a result of %d elements along an axis before pads %v and %v (want at least 1 element after)", full, v.begin, end)
		}
	}
	return v, nil
}

// shapeOf returns the shape of a tensor: two sizes and the last rank axes of an extent.
func shapeOf(d tensor.DType, n, c int, e extent, rank int) tensor.Desc {
	return tensor.Contiguous(d, append([]int{n, c}, e[3-rank:]...)...)
}

// Padding returns the pads of a convolution of a tensor with such spatial sizes, at the beginning of each axis and then at the end, as AutoPad
// says. They are such that nothing is left over at the end.
// Errors: ErrInvalidArgument.
func (a Attributes) Padding(in, taps []int) ([]int, error) {
	rank := len(in)
	v, err := a.over(padded(in), padded(taps), rank)
	if err != nil || rank == 0 {
		return nil, err
	}
	if a.AutoPad == "" || a.AutoPad == NotSet {
		return a.Pads, nil
	}
	pads := append(slices.Clone(v.begin[3-rank:]), make([]int, rank)...)
	for i := range rank {
		k := 3 - rank + i
		pads[rank+i] = max((v.out[k]-1)*v.strides[k]+v.reachOf(k)-in[i]-pads[i], 0)
	}
	return pads, nil
}

// TransposedPadding returns the elements that a transposed convolution of a tensor with such spatial sizes leaves out at the beginning of each axis.
// Errors: ErrInvalidArgument.
func (a Attributes) TransposedPadding(in, taps, outputPadding, outputShape []int) ([]int, error) {
	rank := len(in)
	v, err := a.transposed(padded(in), padded(taps), rank, outputPadding, outputShape)
	if err != nil {
		return nil, err
	}
	return slices.Clone(v.begin[3-rank:]), nil
}

// padded are up to three numbers as an extent.
func padded(list []int) extent {
	e := extent{1, 1, 1}
	if n := len(list); n <= 3 {
		copy(e[3-n:], list)
	}
	return e
}
