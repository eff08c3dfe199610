package imageops

import (
	"image"

	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// LUT maps colours by a look-up table: by a curve of each colour, by a cube of colours, or by a curve
// and then a cube. Between the colours of the cube it interpolates in a tetrahedron. Colours outside
// of the range of the table become those at its ends. The results are clamped to 0..1, and alpha
// stays. In an image of one channel red, green and blue are equal, and the result is the luma of the
// new colour.
//
// Device.Apply takes the table from Table, which is a *Cube. Calls with tensors have it as their
// second input, and Table is nil. It is f32 [n·n,n,4] for a cube, in which red changes fastest, and
// [1,n,4] for a curve. The fourth number of a colour is not used. Its range is 0 to 1.
type LUT struct {
	Table  image.Image `attr:"table,required,main" doc:"the table, a *Cube; in text, the name of a .cube file"`
	Amount float64     `attr:"amount" doc:"the part that is new: 0 changes nothing, 1 everything"`

	// These are what the table of a Cube has: colours of the curve and along an edge of the cube,
	// and the lowest and highest colours of both. Zeros mean that the shape of the input says it.
	colours [2]int
	domain  [12]float64
}

// Spec returns the declaration.
func (LUT) Spec() *spec.Op { return lutOp.Op() }

// of returns what is in the table that d describes.
// Errors: ErrInvalidArgument.
func (l *LUT) of(d tensor.Desc) (t picture.LUT, err error) {
	if !(l.Amount >= 0 && l.Amount <= 1) {
		return t, planner.Invalid("amount (got %v, want 0 to 1)", l.Amount)
	}
	if d.DType != tensor.F32 {
		return t, planner.Invalid("table (got %v, want f32: a table of ParseCube, or in text the name of a .cube file)", d)
	}
	if l.colours == [2]int{} {
		t, err = picture.WholeLUT(d)
		t.Amount = l.Amount
		return t, err
	}
	t = picture.LUT{
		Curve: l.colours[0], Size: l.colours[1], Amount: l.Amount,
		CurveMin: [3]float64(l.domain[0:]), CurveMax: [3]float64(l.domain[3:]), CubeMin: [3]float64(l.domain[6:]), CubeMax: [3]float64(l.domain[9:]),
	}
	if len(d.Shape) != 3 || d.Shape[2] != 4 || d.Shape[0]*d.Shape[1] != t.Colours() {
		return t, planner.Invalid("table (got %v, want %d colours)", d, t.Colours())
	}
	return t, nil
}

var lutOp = spec.Declaration{Define: func() *spec.Op {
	return picture.DefineTable(picture.Table[*LUT]{
		Name:     "lut",
		Aliases:  []string{"lut3d"},
		Doc:      "Maps colours by the look-up table of a .cube file: by a curve of each colour, a cube of colours with tetrahedral interpolation, or both.",
		Source:   "Adobe, Cube LUT Specification 1.0, 2013; J. Sakamoto and H. Itooka, US patent 4275413, 1981 (expired)",
		Defaults: &LUT{Amount: 1},
		Of:       (*LUT).of,
		Calls: []*LUT{
			{Amount: 1},
			{Amount: 0.4, colours: [2]int{5, 0}, domain: [12]float64{0.1, 0, -0.5, 0.8, 2, 1, 0, 0, 0, 1, 1, 1}},
			{Amount: 1, colours: [2]int{3, 4}, domain: [12]float64{0, 0, 0, 1, 0.5, 1, 0.2, -1, 0, 0.9, 1, 3}},
		},
		Invalid: []*LUT{{Amount: 1.5}, {Amount: -0.5}, {Amount: nan}, {Amount: 1, Table: &image.NRGBA{}}},
	})
}}
