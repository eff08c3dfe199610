package picture

import (
	"math"
	"strings"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Composite says how a picture, the source, is laid over an image, the backdrop.
type Composite struct {
	// Mode is one of Modes.
	Mode string
	// Gravity is one of Gravities, and X and Y are distances from there, as those of Align.
	Gravity string
	X, Y    int
	Tile    bool // The source is repeated in all directions.
	Opacity float64
	// Scale, if not 0, is the width of the source in percent of the width of the image.
	Scale float64
	// Backdrop is the part of the image, and Source that of the source, which a call has.
	Backdrop, Source Part
}

// factors are those of Porter and Duff. The source counts with source + sourceBackdrop·ab, and the
// backdrop with backdrop + backdropSource·as, where ab and as are their alphas.
type factors struct{ source, sourceBackdrop, backdrop, backdropSource float32 }

// operators are those of Porter and Duff.
var operators = map[string]factors{
	"clear": {}, "src": {source: 1}, "dst": {backdrop: 1}, "over": {1, 0, 1, -1}, "dst-over": {1, -1, 1, 0},
	"in": {sourceBackdrop: 1}, "dst-in": {backdropSource: 1}, "out": {1, -1, 0, 0}, "dst-out": {0, 0, 1, -1},
	"atop": {0, 1, 1, -1}, "dst-atop": {1, -1, 0, 1}, "xor": {1, -1, 1, -1}, "plus": {1, 0, 1, 0},
}

// Blends are the blend modes, by their numbers in shaders/lib/blend.glsl. The modes from
// firstMix on mix colours.
var Blends = []string{
	"normal", "multiply", "screen", "overlay", "darken", "lighten", "color-dodge", "color-burn", "hard-light",
	"soft-light", "difference", "exclusion", "hue", "saturation", "color", "luminosity",
}

const firstMix = 12

// Modes lists the modes of a Composite: the operators of Porter and Duff, mask, and the blend
// modes. The backdrop of a mask keeps its colours, and its alpha is multiplied with the luma and
// the alpha of the source.
var Modes = append([]string{
	"over", "dst-over", "in", "dst-in", "out", "dst-out", "atop", "dst-atop", "xor", "plus", "src", "dst", "clear", "mask",
}, Blends...)

// Check checks the attributes.
// Errors: ErrInvalidArgument.
func (c Composite) Check() error {
	_, _, _, err := c.mode()
	switch {
	case err != nil:
		return err
	case max(c.X, c.Y) > MaxSide || min(c.X, c.Y) < -MaxSide:
		return planner.Invalid("offset (got x %d, y %d, want at most %d from 0)", c.X, c.Y, MaxSide)
	case !(c.Opacity >= 0 && c.Opacity <= 1):
		return planner.Invalid("opacity (got %v, want 0 to 1)", c.Opacity)
	case !(c.Scale >= 0 && c.Scale <= 1e4):
		return planner.Invalid("scale (got %v, want above 0 and up to 10000, or 0 for the picture's own size)", c.Scale)
	}
	_, _, err = Gravity(c.Gravity)
	return err
}

// mode returns the factors of the mode, the number of its blend mode, and whether it is mask.
// Errors: ErrInvalidArgument.
func (c Composite) mode() (f factors, blend int, mask bool, err error) {
	if c.Mode == "mask" {
		return operators["dst-in"], 0, true, nil
	}
	if f, ok := operators[c.Mode]; ok {
		return f, 0, false, nil
	}
	for i, name := range Blends {
		if name == c.Mode {
			return operators["over"], i, false, nil
		}
	}
	return f, 0, false, planner.Invalid("mode %q (want one of %s)", c.Mode, strings.Join(Modes, ", "))
}

// kernelPhase returns the variant of the kernel that has a blend mode.
func kernelPhase(blend int) string {
	switch {
	case blend == 0:
		return ""
	case blend < firstMix:
		return ".blend"
	}
	return ".mix"
}

// CompositeKernels lists the kernels that PlanComposite launches.
func CompositeKernels() []spec.Kernel {
	list := append(ResampleKernels(), remapKernels()...)
	for _, name := range []string{"image/pointwise_byte.invert", "image/pointwise_byte.invert.word"} {
		list = append(list, spec.Kernel{Name: name, Params: pointwiseByteParams{}})
	}
	for _, d := range dtypes {
		for _, texel := range []bool{false, true} {
			list = append(list, spec.Kernel{Name: kernelName("pointwise", d, "", texel), Params: pointwiseParams{}})
		}
		for _, blend := range []int{0, 1, firstMix} {
			list = append(list, spec.Kernel{Name: kernelName("composite", d, kernelPhase(blend), false), Params: compositeParams{}})
		}
	}
	return list
}

// compositeParams is the push-constant block of composite.comp.
type compositeParams struct {
	Columns      uint32
	Rows         uint32
	SrcBase      uint32
	SrcPitch     uint32
	DstBase      uint32
	DstPitch     uint32
	Channels     uint32
	OverBase     uint32
	OverPitch    uint32
	OverChannels uint32
	OverRow      uint32
	TileHeight   uint32
	Opacity      float32
	Fa           float32
	FaBackdrop   float32
	Fb           float32
	FbSource     float32
	Blend        uint32
	Luma         uint32
}

// compositeRows is SPAN in the variants of composite.comp that have no blend mode.
const compositeRows = 4

// placed is where the source lies in an image.
type placed struct {
	x, y, w, h int // its first pixel, and its size
	tile       bool
}

// place returns where a source of h by w pixels lies in an image, and how it is scaled. The sizes are
// those of the whole pictures.
// Errors: ErrInvalidArgument if one of its sides is too long.
func (c Composite) place(imageH, imageW, h, w int) (p placed, scaling Resample, err error) {
	scaling = Resample{Filter: lanczos3, Down: Axis{In: h, Out: h, Length: float64(h)}, Across: Axis{In: w, Out: w, Length: float64(w)}}
	if c.Scale > 0 {
		wide := float64(imageW) * c.Scale / 100
		high := math.Round(wide * float64(h) / float64(w))
		if wide = math.Round(wide); wide > MaxSide || high > MaxSide {
			return p, scaling, planner.Invalid("scale (got %v, which makes a picture of %.0f×%.0f, want at most %d)", c.Scale, wide, high, MaxSide)
		}
		scaling.Down.Out, scaling.Across.Out = max(1, int(high)), max(1, int(wide))
	}
	across, down, err := Gravity(c.Gravity)
	p = placed{w: scaling.Across.Out, h: scaling.Down.Out, tile: c.Tile}
	p.x, p.y = Align(across, c.X, p.w, imageW), Align(down, c.Y, p.h, imageH)
	if p.tile {
		p.x -= p.w * -floorDiv(-p.x, p.w) // so that no pixel of the image lies before it
		p.y -= p.h * -floorDiv(-p.y, p.h)
	}
	return p, scaling, err
}

// CheckPlace checks that the source can lie in the image.
// Errors: ErrInvalidArgument.
func (c Composite) CheckPlace(in, over tensor.Desc) error {
	if over.Shape[0] == 0 || over.Shape[1] == 0 {
		return planner.Invalid("a picture without pixels (%d×%d) cannot be laid over an image", over.Shape[1], over.Shape[0])
	}
	_, _, err := c.place(c.Backdrop.Height(in.Shape[0]), in.Shape[1], c.Source.Height(over.Shape[0]), over.Shape[1])
	return err
}

// span returns the part of the pixels 0 to n−1 of the source that lie in [from, to) of the image,
// where pixel 0 lies at at. found is false if there are none. Then it returns the nearest pixel.
func (p placed) span(from, to, at, n int) (low, high int, found bool) {
	low, high = from-at, to-at
	if p.tile {
		if low, high = low%n, low%n+high-low; high > n {
			return 0, n, true
		}
		return low, high, true
	}
	low, high = max(low, 0), min(high, n)
	if low >= high {
		low = min(max(low, 0), n-1)
		return low, low + 1, false
	}
	return low, high, true
}

// rows returns the rows of the source that rows of the image depend on. There is one at least.
func (p placed) rows(r spec.RowRange) spec.RowRange {
	low, high, _ := p.span(r.From, r.To, p.y, p.h)
	return spec.RowRange{From: low, To: high}
}

// SourceRows returns the rows of the source that rows of the image depend on.
func (c Composite) SourceRows(in, over tensor.Desc, r spec.RowRange) spec.RowRange {
	p, scaling, err := c.place(in.Shape[0], in.Shape[1], over.Shape[0], over.Shape[1])
	if err != nil {
		return spec.RowRange{To: over.Shape[0]}
	}
	if r = p.rows(r); c.Scale > 0 {
		r = scaling.Rows(r)
	}
	return r
}
