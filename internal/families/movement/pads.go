package movement

import (
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// segment is a range of indices of a dimension of the output of a pad, whose elements lie in
// a row in the input.
type segment struct {
	// to and n are the first index of the output, and the number of indices.
	to, n int
	// from and step are the index of the input for the first one, and the step from each to
	// the next: 1, -1 or 0.
	from, step int
	// reps and pitch say that the segment comes reps times, pitch indices apart.
	reps, pitch int
	// isNew says that the elements are not from the input.
	isNew bool
}

// Pads lists the copies that pad a tensor. before and after are the pads of each dimension.
// mode is one of those of pad_tensor. New elements of mode constant come from
// spec.Scratch(0).
func Pads(mode string, before, after []int, in, out tensor.Desc) []Copy {
	src, dst := planner.Operand{Ref: spec.In(0)}, planner.Operand{Ref: spec.Out(0)}
	var list []Copy
	from, to := in.ElementStrides(), out.ElementStrides()
	var add func(d int, c Copy)
	add = func(d int, c Copy) {
		if d == len(in.Shape) {
			list = append(list, Unroll(in.DType, c)...)
			return
		}
		for _, s := range segments(mode, in.Shape[d], before[d], after[d]) {
			if s.n == 0 {
				continue
			}
			next := Copy{Shape: append(c.Shape[:d*2:d*2], s.reps, s.n), Src: c.Src, Dst: c.Dst}
			next.Src.Base += s.from * from[d]
			next.Dst.Base += s.to * to[d]
			next.Src.Strides = append(c.Src.Strides[:d*2:d*2], 0, s.step*from[d])
			next.Dst.Strides = append(c.Dst.Strides[:d*2:d*2], s.pitch*to[d], to[d])
			if !s.isNew {
				add(d+1, next)
				continue
			}
			// The other dimensions are whole.
			for k := d + 1; k < len(out.Shape); k++ {
				next.Shape = append(next.Shape, out.Shape[k])
				next.Dst.Strides = append(next.Dst.Strides, to[k])
			}
			next.Src = planner.Operand{Ref: spec.Scratch(0), Strides: make([]int, len(next.Shape))}
			list = append(list, Unroll(in.DType, next)...)
		}
	}
	add(0, Copy{Src: src, Dst: dst})
	return list
}

// segments divides a dimension of n elements with its pads.
func segments(mode string, n, before, after int) []segment {
	low, high := -before, n+after // the indices that the output would have in an endless input
	list := []segment{one(max(low, 0), min(high, n), max(low, 0), 1)}
	left, right := [2]int{low, min(high, 0)}, [2]int{max(low, n), high}
	for _, r := range [][2]int{left, right} {
		if r[0] >= r[1] {
			continue
		}
		switch {
		case mode == "edge" || mode == "reflect" && n == 1:
			list = append(list, one(r[0], r[1], min(max(r[0], 0), n-1), 0))
		case mode == "wrap":
			list = append(list, periods(r[0], r[1], n, func(int) (int, int) { return 0, 1 })...)
		case mode == "reflect":
			list = append(list, periods(r[0], r[1], n-1, func(k int) (int, int) {
				if k%2 == 0 {
					return 0, 1
				}
				return n - 1, -1
			})...)
		default:
			s := one(r[0], r[1], 0, 0)
			s.isNew = true
			list = append(list, s)
		}
	}
	for i := range list {
		list[i].to -= low
	}
	return list
}

// one returns the segment of the indices from low to high, which is not one of them.
func one(low, high, from, step int) segment {
	return segment{to: low, n: max(high-low, 0), from: from, step: step, reps: 1, pitch: 0}
}

// periods divides the indices from low to high into segments of size each, of which two that
// follow each other may differ. place returns the first index of the input and the step of
// segment k, which begins at index k·size. Equal ones are one segment.
func periods(low, high, size int, place func(k int) (from, step int)) []segment {
	var list []segment
	add := func(k, a, b int) {
		from, step := place(k)
		list = append(list, one(a, b, from+(a-k*size)*step, step))
	}
	first := low / size
	if low < first*size {
		first--
	}
	if low > first*size { // a part of a segment
		end := min(high, (first+1)*size)
		add(first, low, end)
		first, low = first+1, end
	}
	whole := (high - low) / size
	for k := range min(whole, 2) {
		at := low + k*size
		add(first+k, at, at+size)
		s := &list[len(list)-1]
		s.reps, s.pitch = (whole-k+1)/2, 2*size
	}
	if at := low + whole*size; at < high {
		add(first+whole, at, high)
	}
	return list
}
