package imageops

import (
	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// AutoContrast stretches the range of the colours to 0..1, by the histogram of the picture.
// Pixels whose alpha is 0 do not count. A picture of one colour stays as it is. In f32, the range is
// found to one of 1023 parts.
//
// A picture of more than 1 431 655 765 pixels is ErrUnsupported.
type AutoContrast struct {
	// Clip is a number of percent. Spec.Given(0) keeps all colours apart.
	Clip float64 `attr:"clip" doc:"percent of the colours, at either end, that may become black or white, in 0..49"`
	Each bool    `attr:"each" doc:"stretch each colour by itself, which also takes a colour cast away"`
}

// Spec returns the declaration.
func (AutoContrast) Spec() *spec.Op { return autoContrastOp.Op() }

var autoContrastOp = spec.Declaration{Define: func() *spec.Op {
	return defineTone(toneOp[*AutoContrast]{
		Name: "auto_contrast", Aliases: []string{"autocontrast", "normalize", "auto_level"},
		Doc:      "Stretches the range of the colours of an image to 0..1.",
		Defaults: &AutoContrast{Clip: 0.5},
		Check: func(a *AutoContrast) error {
			if !(a.Clip >= 0 && a.Clip <= 49) {
				return planner.Invalid("clip (got %v, want 0 to 49 percent)", a.Clip)
			}
			return nil
		},
		Tone:    func(a *AutoContrast) picture.Tone { return picture.Tone{Each: a.Each, Clip: a.Clip / 100} },
		Calls:   []*AutoContrast{{Clip: 0.5}, {Clip: spec.Given(0.0), Each: true}, {Clip: 12, Each: true}},
		Invalid: []*AutoContrast{{Clip: -1}, {Clip: 50}, {Clip: nan}},
	})
}}

// toneOp is what the operations by histogram differ in.
type toneOp[A spec.Call] struct {
	Name, Doc, Source string
	Aliases           []string
	Defaults          A
	Check             func(a A) error
	Tone              func(a A) picture.Tone
	Calls, Invalid    []A
}

// defineTone declares an operation that maps colours by the histogram of the picture.
func defineTone[A spec.Call](o toneOp[A]) *spec.Op {
	return picture.Define(picture.Filter[A]{
		Name: o.Name, Aliases: o.Aliases, Doc: o.Doc, Source: o.Source, Defaults: o.Defaults,
		Kernels: picture.ToneKernels(), Check: o.Check, InPlace: true,
		Plan: func(a A, t *spec.Target, in, out tensor.Desc) (*spec.Plan, error) {
			return picture.PlanTone(t, in, out, o.Tone(a))
		},
		Strips:    wholeStrips[A](),
		ForOpaque: func(a A) A { return a },
		Reference: func(a A, in, out *tensor.Host) { picture.ToneReference(o.Tone(a), in, out) },
		Tolerance: func(_ A, d tensor.DType, _ []tensor.Desc) spec.Tolerance {
			if d == tensor.U8 {
				return spec.Tolerance{Why: "counts and levels are whole numbers"}
			}
			return spec.Tolerance{Abs: 2e-4, Why: "a factor up to 1023 of a difference of floats"}
		},
		Flops: func(A) int64 { return 12 },
		Calls: o.Calls, Invalid: o.Invalid,
	})
}

// wholeStrips says that each row of the result depends on the whole picture.
func wholeStrips[A spec.Call]() *spec.StripsOf[A] {
	return &spec.StripsOf[A]{
		Need: func(_ A, in []tensor.Desc, _ int, _ spec.RowRange) spec.RowRange {
			return spec.RowRange{To: in[0].Shape[0]}
		},
		Part: func(a A, in []tensor.Desc, _ []spec.RowRange, _ spec.RowRange) (A, spec.RowRange) {
			return a, spec.RowRange{To: in[0].Shape[0]}
		},
	}
}
