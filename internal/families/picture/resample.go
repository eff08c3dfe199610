package picture

import (
	"math"
	"math/bits"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// Resampler is a filter that weighs the pixels around a point. Its number is that of
// shaders/image/resize_weights.comp.
type Resampler uint32

// Resamplers lists the names of the filters, in the order of their numbers.
var Resamplers = []string{"nearest", "box", "bilinear", "catmull-rom", "mitchell", "lanczos2", "lanczos3"}

const (
	nearest Resampler = iota
	area
	lanczos3 Resampler = 6
)

// radii are the distances beyond which the filters are 0, in pixels of the source or of the
// result, whichever are larger.
var radii = []float64{0, 0.5, 1, 2, 2, 2, 3}

// ResamplerOf returns the filter of a name.
// Errors: ErrInvalidArgument.
func ResamplerOf(name string) (Resampler, error) {
	for i, n := range Resamplers {
		if n == name {
			return Resampler(i), nil
		}
	}
	return 0, planner.Invalid("filter %q (want one of %v)", name, Resamplers)
}

// Resample says how a picture becomes one of another size.
type Resample struct {
	Filter Resampler
	// Down and Across are the rows and the columns.
	Down, Across Axis
	// Linear says that colours are summed in linear light.
	Linear bool
	// Opaque says that the picture is opaque. If it is not, colours are multiplied by alpha
	// first and divided by it afterwards.
	Opaque bool
}

// Axis says which part of the pixels along an axis becomes the result.
type Axis struct {
	In, Out int
	// Start and Length are the part of the source, in pixels.
	Start, Length float64
}

// sampling says where the pixels that are summed along an axis lie. The shader computes with
// the same numbers.
type sampling struct {
	axis              Axis
	kind              Resampler
	taps              int    // pixels to sum
	start, step       uint64 // in 2^-32 pixels of the source
	reach             float32
	perPixel, perStep float32
}

func (a Axis) sampling(kind Resampler) sampling {
	step := a.Length / float64(a.Out)
	wide := max(step, 1)
	support := radii[kind] * wide
	if kind == area {
		support = (step + 1) / 2
	}
	s := sampling{axis: a, kind: kind, reach: float32(0.5 - support), perPixel: float32(1 / wide), perStep: float32(step)}
	// No more pixels have their middle inside. One that is at the edge but for rounding has a
	// weight of almost 0.
	s.taps = max(1, min(int(math.Ceil(2*support)), a.In))
	s.start, s.step = fixed(a.Start+step/2), fixed(step)
	if a.Length == float64(a.In) {
		// A ratio of whole numbers. It is rounded up, so that a middle between two pixels is in
		// the second one.
		s.step = up(a.In, a.Out)
		s.start = up(a.In, 2*a.Out)
	}
	return s
}

// up returns a/b in 2^-32 pixels, rounded up.
func up(a, b int) uint64 {
	q, rest := bits.Div64(uint64(a)>>32, uint64(a)<<32, uint64(b))
	if rest > 0 {
		q++
	}
	return q
}

func fixed(v float64) uint64 { return uint64(math.Round(v * (1 << 32))) }

// first returns the first source pixel that is summed for pixel i of the result. The sum of
// floats is the one that the shader rounds.
func (s *sampling) first(i int) int {
	at := s.start + uint64(i)*s.step
	whole, rest := int(at>>32), float32(uint32(at)>>8)*(1.0/(1<<24))
	if s.kind != nearest {
		whole += int(math.Floor(float64(rest + s.reach)))
	}
	return max(min(whole, s.axis.In-s.taps), 0)
}

// sources returns the source pixels that are summed for pixels [from, to) of the result.
func (s *sampling) sources(from, to int) (first, end int) {
	return s.first(from), s.first(to-1) + s.taps
}

// Rows returns the rows of the source that rows of the result depend on.
func (r Resample) Rows(out spec.RowRange) spec.RowRange {
	if out.From >= out.To {
		return spec.RowRange{}
	}
	s := r.Down.sampling(r.Filter)
	first, end := s.sources(out.From, out.To)
	return spec.RowRange{From: first, To: end}
}
