package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// byType joins the element types of an operation that have the same text.
type byType struct {
	texts []string
	types map[string][]string
}

func (b *byType) add(text string, d tensor.DType) {
	if b.types == nil {
		b.types = map[string][]string{}
	}
	if b.types[text] == nil {
		b.texts = append(b.texts, text)
	}
	b.types[text] = append(b.types[text], d.String())
}

// precision is the line that says how far the results of an operation may be from the
// reference.
func precision(op *spec.Op) string {
	var all byType
	head := "**Precision"
	for _, d := range op.Cases.DTypes {
		in := op.TypicalInputs(d)
		tol, all32 := worst(op, d, in), worst(op, tensor.F32, op.TypicalInputs(tensor.F32))
		if tol.Law != "" && len(all.texts) == 0 {
			var shapes []string
			for _, i := range in {
				shapes = append(shapes, strings.ReplaceAll(fmt.Sprint(i.Shape), " ", ","))
			}
			head += "** for inputs " + strings.Join(shapes, ", ")
			if len(in) == 0 {
				head = "**Precision** for the call above"
			}
		}
		text := bound(d, tol, all32)
		if usual := bound(d, op.Tolerance(op.Defaults, d, in), all32); usual != text {
			text += " (" + usual + " with the defaults)"
		}
		all.add(text, d)
	}
	if strings.Contains(head, " for ") {
		head += ": "
	} else {
		head += ":** "
	}
	if len(all.texts) == 1 {
		return head + all.texts[0] + "."
	}
	var parts []string
	for _, text := range all.texts {
		if text == asF32 { // the page says so once
			continue
		}
		parts = append(parts, strings.Join(all.types[text], ", ")+" "+text)
	}
	return head + strings.Join(parts, "; ") + "."
}

// worst is the tolerance of the default call. If that is exact, it is the tolerance of the call
// that may be farthest from the reference, of those that the conformance suite tries on such
// inputs: a rotation by a quarter is exact, and others are not.
func worst(op *spec.Op, d tensor.DType, in []tensor.Desc) spec.Tolerance {
	most := op.Tolerance(op.Defaults, d, in)
	if most.Abs > room(d) || most.Rel != 0 {
		return most
	}
	for _, c := range op.Cases.Calls {
		if _, err := shapes(op, c, in); err != nil {
			continue
		}
		if t := op.Tolerance(c, d, in); t.Abs > most.Abs || t.Abs == most.Abs && (t.Rel > most.Rel || t.Rel == most.Rel && t.ByAlpha > most.ByAlpha) {
			most = t
		}
	}
	return most
}

// asF32 is the bound of 16-bit types whose results are those of f32.
const asF32 = "as f32, then rounded once more"

// room is the largest absolute error that counts as none. An error near the least number of the type is
// room for what is flushed to zero. With f16, whose least number is not so small, it is one unit in the
// last place.
func room(d tensor.DType) float64 {
	if d == tensor.F16 {
		return 1.01 * planner.Tiny(d)
	}
	return 1000 * planner.Tiny(d)
}

// bound says in words how far a result of dtype d may be from the reference. f32 is the
// tolerance of the same call for f32.
func bound(d tensor.DType, t, f32 spec.Tolerance) string {
	abs := t.Abs
	if abs <= room(d) {
		abs = 0
	}
	ulps := t.Rel / planner.Epsilon(d)
	s := ""
	switch {
	case abs == 0 && t.Rel == 0:
		s = "exact"
	case d == tensor.U8 && abs == 1 && t.Rel == 0:
		s = "within a level"
	case d.Size() == 2 && rounds(d, t, f32):
		s = asF32
	case abs == 0 && ulps == 1:
		s = "within one unit in the last place"
	case abs == 0 && ulps <= 8 && ulps == math.Trunc(ulps):
		s = fmt.Sprintf("within %g units in the last place", ulps)
	case t.Rel == 0:
		s = "absolute " + upper(abs)
	case abs == 0:
		s = "relative " + upper(t.Rel)
	default:
		s = "absolute " + upper(abs) + " plus relative " + upper(t.Rel)
	}
	if t.ByAlpha != 0 {
		s += ", of colours " + upper(t.ByAlpha) + "/alpha more"
	}
	if t.Flips != 0 {
		s += ", except for up to " + upper(100*t.Flips) + " % of the elements"
	}
	return s
}

// rounds reports whether t is the tolerance of f32 and one more rounding to d.
func rounds(d tensor.DType, t, f32 spec.Tolerance) bool {
	rel := f32.Rel + planner.StoreEpsilon(d)
	return f32.Abs+f32.Rel > 0 && t.Flips == f32.Flips &&
		math.Abs(t.Rel-rel) <= 1e-9*rel && t.Abs >= f32.Abs*(1-1e-9) && t.Abs <= f32.Abs+2.02*planner.Tiny(d)
}

// upper writes x with two digits, rounded up.
func upper(x float64) string {
	unit := math.Pow(10, math.Floor(math.Log10(x))-1)
	s := strconv.FormatFloat(math.Ceil(x/unit-1e-6)*unit, 'g', 2, 64)
	return strings.Replace(strings.Replace(s, "e-0", "e-", 1), "e+0", "e+", 1)
}

// divided is the reason of a bound by alpha, which the page says once.
const divided = "; colours are a sum divided by alpha"

// derivation says where the bounds come from, and how they depend on sizes.
func derivation(op *spec.Op) []string {
	var whys byType
	var laws []string
	for _, d := range op.Cases.DTypes {
		tol := worst(op, d, op.TypicalInputs(d))
		why := tol.Why
		if tol.ByAlpha != 0 {
			why = strings.TrimSuffix(why, divided)
		}
		if why != "" && why != picture.EitherLevel && (tol.Abs != 0 || tol.Rel != 0 || tol.Flips != 0) {
			whys.add(why, d)
		}
		for _, l := range growth(tol) {
			if !slices.Contains(laws, l) {
				laws = append(laws, l)
			}
		}
	}
	var lines []string
	for _, why := range whys.texts {
		types := " of " + strings.Join(whys.types[why], ", ")
		if len(whys.types[why]) == len(op.Cases.DTypes) {
			types = ""
		}
		lines = append(lines, "bound"+types+": "+why)
	}
	return append(lines, laws...)
}

// growth says how far results may be from the reference at any size, before they are
// rounded to 16 bits.
func growth(t spec.Tolerance) []string {
	var lines []string
	if t.Law != "" {
		lines = append(lines, "at any size: "+t.Law)
	}
	if t.RepeatedLaw != "" {
		lines = append(lines, "in addition, where rows repeat one element: "+t.RepeatedLaw)
	}
	if t.AnyLaw != "" {
		lines = append(lines, "for any values: "+t.AnyLaw)
	}
	return lines
}
