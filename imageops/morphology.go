package imageops

import (
	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// MaxRadius is the largest radius that Erode, Dilate, Opening, Closing and BoxBlur accept, in pixels.
const MaxRadius = 128

func checkRadius(radius int) error {
	if radius < 1 || radius > MaxRadius {
		return planner.Invalid("radius (got %d, want 1 to %d)", radius, MaxRadius)
	}
	return nil
}

// morphology describes Erode, Dilate, Opening and Closing. Their attributes have the type A.
type morphology[A spec.Call] struct {
	name, doc string
	aliases   []string
	defaults  A
	// attrs returns the attributes, and opaque the call that ignores alpha.
	attrs  func(A) (radius int, disc, ignoreAlpha bool)
	opaque func(A) A
	// folds are what is done, one after the other.
	folds          []picture.Fold
	calls, invalid []A
}

// morphologyDoc ends the docs of these operations.
const morphologyDoc = " Each colour is chosen on its own, in a square or a disc. Alpha is chosen too, and weighs colours, which become 0 where it does."

func defineMorphology[A spec.Call](m morphology[A]) *spec.Op {
	windows := func(a A) []picture.Window {
		var list []picture.Window
		radius, disc, ignore := m.attrs(a)
		for _, f := range m.folds {
			list = append(list, picture.Window{Fold: f, Radius: radius, Disc: disc, Weigh: !ignore})
		}
		return list
	}
	return picture.Define(picture.Filter[A]{
		Name: m.name, Aliases: m.aliases, Doc: m.doc + morphologyDoc, Defaults: m.defaults,
		Source:  "J. Serra, Image analysis and mathematical morphology, 1982",
		Kernels: picture.WindowKernels(true, m.folds...),
		Check: func(a A) error {
			radius, _, _ := m.attrs(a)
			return checkRadius(radius)
		},
		Plan: func(a A, t *spec.Target, in, out tensor.Desc) (*spec.Plan, error) {
			return picture.PlanWindows(t, in, out, windows(a)...)
		},
		Halo: func(a A) int {
			radius, _, _ := m.attrs(a)
			return radius * len(m.folds)
		},
		ForOpaque: m.opaque,
		Reference: func(a A, in, out *tensor.Host) { picture.WindowsReference(in, out, windows(a)...) },
		Tolerance: func(a A, d tensor.DType, in []tensor.Desc) spec.Tolerance {
			_, _, ignore := m.attrs(a)
			t := rankTolerance(!ignore, d, in)
			t.Abs *= float64(len(m.folds))
			return t
		},
		Flops: func(a A) int64 {
			radius, disc, _ := m.attrs(a)
			if disc {
				return int64(4 * len(m.folds) * radius * radius * 3)
			}
			return int64(4 * len(m.folds) * 2 * 3)
		},
		Calls: m.calls, Invalid: m.invalid,
	})
}
