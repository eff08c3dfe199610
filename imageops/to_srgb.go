package imageops

import (
	"fmt"
	"image"
	"image/color"
	"sync"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/internal/icc"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// ToSRGB makes sRGB of the colours of a profile, by relative colorimetry: white becomes white, and
// colours that sRGB does not have become the nearest value of red, green and blue. Alpha stays. An
// image of one channel gets the luma of the new colour.
//
// Device.Apply takes the profile from Profile, which is a *Profile. Calls with tensors have its curves
// as their second input, f32 [1,n,4], for colours from 0 to 1; Profile is nil, and the primary
// colours are those of sRGB.
type ToSRGB struct {
	Profile image.Image `attr:"profile,required,main" doc:"the profile, a *Profile; in text, the name of an .icc or .icm file"`

	from converter
}

// Spec returns the declaration.
func (ToSRGB) Spec() *spec.Op { return toSRGBOp.Op() }

// of returns what is in the curves that d describes.
// Errors: ErrInvalidArgument.
func (s *ToSRGB) of(d tensor.Desc) (picture.LUT, error) {
	l, err := picture.WholeLUT(d)
	if s.from.curve == 0 && (err != nil || l.Curve == 0) || d.DType != tensor.F32 {
		return l, planner.Invalid("profile (got %v, want f32 [1,n,4]: a profile of ParseProfile, or in text the name of an .icc file)", d)
	}
	if s.from.curve == 0 {
		l.Matrix = &[9]float64{1, 0, 0, 0, 1, 0, 0, 0, 1}
		return l, nil
	}
	return s.from.of(d)
}

var toSRGBOp = spec.Declaration{Define: func() *spec.Op {
	return picture.DefineTable(picture.Table[*ToSRGB]{
		Name:     "to_srgb",
		Aliases:  []string{"icc_transform"},
		Doc:      "Makes sRGB of the colours of an ICC profile for RGB or grey, such as Display P3, Adobe RGB, ProPhoto, or one of a scanner with tables.",
		Source:   "International Color Consortium, ICC.1:2022, annex F; IEC 61966-2-1:1999",
		Defaults: &ToSRGB{},
		Matrix:   true,
		Of:       (*ToSRGB).of,
		Calls: []*ToSRGB{
			{},
			{from: converter{matrixed: true, matrix: [9]float64{1.4, -0.4, 0, -0.125, 1.1, 0.02, -0.02, -0.15, 1.2}, curve: 37}},
			{from: converter{matrixed: true, matrix: [9]float64{0.9, 0.2, -0.1, 0.1, 0.8, 0.1, -0.05, 0, 1}, curve: 5, cube: 4}},
		},
		Invalid: []*ToSRGB{{Profile: &image.NRGBA{}}},
	})
}}

// Profile is a colour profile. ParseProfile makes one. It is a spec.Numbers, so that ToSRGB.Profile
// may have it.
type Profile struct {
	profile *icc.Profile
	isSRGB  func() bool
	toSRGB  func() *conversion
	target  func() (*icc.Target, error)
}

// ParseProfile reads an ICC profile of version 2 or 4 for RGB or grey, such as imageio.Metadata has it, of at
// most 16 MiB. If it has tables (A2B1, or else A2B0), they are used, and otherwise its curves and matrix.
// A profile with tables takes about a fifth of a second of one processor when it is used first, and 4 MiB.
// Errors: ErrInvalidArgument for data that are no profile or damaged, ErrUnsupported for profiles of
// other kinds, such as one for CMYK.
func ParseProfile(data []byte) (*Profile, error) {
	p, err := icc.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("imageops: profile: %w", err)
	}
	return &Profile{p, sync.OnceValue(p.IsSRGB), sync.OnceValue(func() *conversion { return newConversion(p.ToSRGB()) }), sync.OnceValues(p.Target)}, nil
}

// IsSRGB reports whether the colours of the profile are those of sRGB, so that ToSRGB would change no
// more than how they are rounded.
func (p *Profile) IsSRGB() bool { return p != nil && p.isSRGB != nil && p.isSRGB() }

// Tensor returns the numbers as ToSRGB takes them, f32 [1,n,4]: the colours of a curve, and after them those of a
// cube if the profile has tables. It is nil for a Profile that ParseProfile has not made.
func (p *Profile) Tensor() *tensor.Host {
	if p == nil || p.toSRGB == nil {
		return nil
	}
	return p.toSRGB().table
}

// Complete implements spec.Numbers.
// Errors: ErrInvalidArgument if call is not a ToSRGB.
func (p *Profile) Complete(call spec.Call) (spec.Call, error) {
	s, err := spec.As[*ToSRGB](call)
	if _, wrong := spec.As[*ToProfile](call); wrong == nil {
		return nil, fmt.Errorf("%w: a profile alone (want a conversion of Profile.From)", errs.ErrInvalidArgument)
	}
	if err != nil || p == nil || p.profile == nil {
		return nil, fmt.Errorf("%w: a colour profile is no picture (want the operation to_srgb)", errs.ErrInvalidArgument)
	}
	s.from = p.toSRGB().converter
	return *s, nil
}

// ColorModel implements image.Image.
func (p *Profile) ColorModel() color.Model { return color.NRGBA64Model }

// Bounds implements image.Image.
func (p *Profile) Bounds() image.Rectangle { return tableBounds(p.Tensor()) }

// At implements image.Image.
func (p *Profile) At(x, y int) color.Color { return tableAt(p.Tensor(), x, y) }
