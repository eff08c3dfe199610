// Package pooling plans operations over the windows of tensors [N,C,spatial...]: pooling, its
// gradients and its inverse. It also has the operations that pool whole planes.
package pooling

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/tensor"
)

// Windows are the attributes of an operation over windows. Lists hold a number for each spatial
// dimension, and Pads holds two: all at the beginning, and then all at the end.
type Windows struct {
	// Kernel is the number of taps.
	Kernel []int
	// Strides and Dilations are 1, and Pads are 0, if the lists are empty.
	Strides, Pads, Dilations []int
	// CeilMode rounds the number of windows up.
	CeilMode bool
}

// maxSize is the largest size of a dimension and the largest attribute. Coordinates have 31
// bits in the kernels, and strides are added to them.
const maxSize = 1 << 29

// geometry is how windows lie in planes. It has three dimensions: missing ones come first and
// have size 1.
type geometry struct {
	planes                   int
	in, out                  [3]int
	kernel, strides, spacing [3]int
	before, after            [3]int
}

// Output returns the shape of the output for an input [N,C,spatial...].
// Errors: ErrInvalidArgument, ErrUnsupported.
func (w Windows) Output(in tensor.Desc) ([]int, error) {
	g, err := w.geometry(in.Shape)
	if err != nil {
		return nil, err
	}
	return append([]int{in.Shape[0], in.Shape[1]}, g.out[5-len(in.Shape):]...), nil
}

// geometry checks the attributes for an input of that shape.
// Errors: ErrInvalidArgument, ErrUnsupported.
func (w Windows) geometry(shape []int) (geometry, error) {
	one := [3]int{1, 1, 1}
	g := geometry{in: one, out: one, kernel: one, strides: one, spacing: one}
	rank := len(shape) - 2
	if rank < 1 || rank > 3 {
		return g, planner.Invalid("shape %v (want [N,C,spatial...] with 1 to 3 spatial dimensions)", shape)
	}
	for _, l := range []struct {
		name string
		list []int
		want int
	}{{"kernel", w.Kernel, rank}, {"strides", w.Strides, rank}, {"dilations", w.Dilations, rank}, {"pads", w.Pads, 2 * rank}} {
		if len(l.list) != l.want && (len(l.list) > 0 || l.name == "kernel") {
			return g, planner.Invalid("%s %v for shape %v (want %d numbers)", l.name, l.list, shape, l.want)
		}
		for _, n := range l.list {
			if least := 1; n < 0 || n < least && l.name != "pads" {
				return g, planner.Invalid("%s %v (want at least %d)", l.name, l.list, least)
			}
			if n > maxSize {
				return g, planner.Unsupported("%s %v (at most %d)", l.name, l.list, maxSize)
			}
		}
	}
	taps := 1.0
	for _, k := range w.Kernel {
		taps *= float64(k)
	}
	if taps >= 1<<31 {
		return g, planner.Unsupported("kernel %v (windows of less than 2^31 elements are supported)", w.Kernel)
	}
	g.planes = shape[0] * shape[1]
	for i := range rank {
		k := 3 - rank + i
		g.in[k], g.kernel[k] = shape[2+i], w.Kernel[i]
		if len(w.Strides) > 0 {
			g.strides[k] = w.Strides[i]
		}
		if len(w.Dilations) > 0 {
			g.spacing[k] = w.Dilations[i]
		}
		if len(w.Pads) > 0 {
			g.before[k], g.after[k] = w.Pads[i], w.Pads[rank+i]
		}
		reach := int64(g.kernel[k]-1)*int64(g.spacing[k]) + 1
		switch room := int64(g.in[k]) + int64(g.before[k]+g.after[k]); {
		case g.in[k] < 1:
			return g, planner.Invalid("shape %v (want spatial dimensions of at least 1)", shape)
		case int64(g.before[k]) >= reach || int64(g.after[k]) >= reach:
			return g, planner.Invalid("pads %v (want less than the extent of a window, %d in dimension %d)", w.Pads, reach, 2+i)
		case reach > room:
			return g, planner.Invalid("a window of %d in dimension %d of %v, which has %d with its pads", reach, 2+i, shape, room)
		case room > maxSize:
			return g, planner.Unsupported("dimension %d of %v with its pads (at most %d)", 2+i, shape, maxSize)
		default:
			steps := int(room-reach) / g.strides[k]
			if w.CeilMode && int(room-reach)%g.strides[k] != 0 && (steps+1)*g.strides[k] < g.in[k]+g.before[k] {
				steps++ // A window that begins in the pad at the end is left out.
			}
			g.out[k] = steps + 1
		}
	}
	return g, nil
}

// Unpooled returns the shape of a tensor whose pooling gives the shape in, [N,C,spatial...]. If size
// is not empty, it has the spatial sizes, which pooling must take to those of in, rounded down or up.
// Errors: ErrInvalidArgument, ErrUnsupported.
func (w Windows) Unpooled(in, size []int) ([]int, error) {
	rank := len(in) - 2
	if rank < 1 || rank > 3 || len(w.Kernel) != rank {
		return nil, planner.Invalid("kernel %v for shape %v (want [N,C,spatial...] with 1 to 3 spatial dimensions, and a number for each)", w.Kernel, in)
	}
	if len(w.Strides) != rank && len(w.Strides) > 0 || len(w.Pads) != 2*rank && len(w.Pads) > 0 || len(size) != rank && len(size) > 0 {
		return nil, planner.Invalid("strides %v, pads %v or size %v for shape %v (want a number for each spatial dimension, and two pads)", w.Strides, w.Pads, size, in)
	}
	shape := append([]int{in[0], in[1]}, size...)
	for k, n := range in[2:] {
		if len(size) > 0 {
			break
		}
		stride, pads := 1, 0
		if len(w.Strides) > 0 {
			stride = w.Strides[k]
		}
		if len(w.Pads) > 0 {
			pads = w.Pads[k] + w.Pads[rank+k]
		}
		if n < 1 || max(n, stride, w.Kernel[k], pads) > maxSize || (n-1)*stride+w.Kernel[k]-pads > maxSize {
			return nil, planner.Invalid("dimension %d of shape %v (want an unpooled size from 1 to %d)", 2+k, in, maxSize)
		}
		shape = append(shape, (n-1)*stride+w.Kernel[k]-pads)
	}
	for _, w.CeilMode = range []bool{false, true} {
		g, err := w.geometry(shape)
		if err != nil {
			return nil, err
		}
		if slices.Equal(g.out[3-rank:], in[2:]) {
			return shape, nil
		}
	}
	return nil, planner.Invalid("spatial sizes %v (pooling does not take them to those of %v)", shape[2:], in)
}

// taps returns the number of taps of a window.
func (g geometry) taps() int { return g.kernel[0] * g.kernel[1] * g.kernel[2] }

// area returns the number of elements of a plane.
func area(n [3]int) int { return n[0] * n[1] * n[2] }

// chain is the largest number of additions that an element takes part in. Rows are added
// first, then their sums, and parts of a window that launches add one after the other.
func (g geometry) chain() float64 {
	h := 2.0
	for d, k := range g.kernel {
		h += float64(min(k, g.in[d]))
	}
	return h + math.Ceil(float64(g.taps())/minTaps)
}

// minTaps is the least number of taps that a launch adds where a window has more.
const minTaps = 4096

// inside returns how many taps of a window lie in the input at most, along each dimension.
func (g geometry) inside() [3]int {
	var n [3]int
	for k := range n {
		n[k] = min(g.kernel[k], (g.in[k]+g.spacing[k]-1)/g.spacing[k])
	}
	return n
}
