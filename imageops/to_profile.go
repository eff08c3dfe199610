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

// ToProfile makes colours of a profile, by relative colorimetry: white becomes white, and colours that the
// profile does not have become the nearest value of each channel, or what its tables say. Alpha stays. Of a
// profile for grey red, green and blue are equal. An image of one channel gets the luma of the new colour.
//
// Device.Apply takes the conversion from Profile, which is a *Conversion. Calls with tensors have a table as
// their second input, as LUT has it, and Profile is nil.
type ToProfile struct {
	Profile image.Image `attr:"profile,required,main" doc:"a *Conversion; in text, the name of an .icc or .icm file, and colours are sRGB"`

	from converter
}

// Spec returns the declaration.
func (ToProfile) Spec() *spec.Op { return toProfileOp.Op() }

// of returns what is in the table that d describes.
// Errors: ErrInvalidArgument.
func (s *ToProfile) of(d tensor.Desc) (picture.LUT, error) {
	if d.DType != tensor.F32 {
		return picture.LUT{}, planner.Invalid("profile (got %v, want f32: a conversion of Profile.From, or in text the name of an .icc file)", d)
	}
	if s.from.curve == 0 {
		return picture.WholeLUT(d)
	}
	return s.from.of(d)
}

var toProfileOp = spec.Declaration{Define: func() *spec.Op {
	return picture.DefineTable(picture.Table[*ToProfile]{
		Name:     "to_profile",
		Doc:      "Makes colours of an ICC profile for RGB or grey. The command's --profile also puts the profile into the file.",
		Source:   "International Color Consortium, ICC.1:2022, annex F",
		Defaults: &ToProfile{},
		Matrix:   true,
		Of:       (*ToProfile).of,
		Calls: []*ToProfile{
			{},
			{from: converter{matrixed: true, matrix: [9]float64{0.8, 0.2, 0, 0.05, 0.9, 0.05, 0, 0.1, 0.9}, curve: 9, last: 4}},
			{from: converter{matrixed: true, matrix: [9]float64{1.2, -0.2, 0, -0.1, 1.2, -0.1, 0.1, 0, 0.9}, curve: 5, cube: 3, last: 3}},
			{from: converter{curve: 4, cube: 3}},
		},
		Invalid: []*ToProfile{{Profile: &image.NRGBA{}}},
	})
}}

// Conversion makes colours of one profile of those of another. Profile.From makes one. It is a spec.Numbers, so
// that ToProfile.Profile may have it.
type Conversion struct {
	numbers func() *conversion
}

// From returns the conversion of the colours of source to those of p. If source is nil, they are sRGB. p has a
// matrix and curves that can be inverted, a curve of grey, or tables for this direction (B2A1, or else B2A0). With
// tables on either side the first use of the conversion takes about a fifth of a second of one processor, and 4 MiB.
// Errors: ErrInvalidArgument (a Profile that ParseProfile has not made, damaged tables), ErrUnsupported (a
// profile that says what colours mean but not which to choose, such as that of a scanner, or a curve that rises and falls).
func (p *Profile) From(source *Profile) (*Conversion, error) {
	if p == nil || p.profile == nil || source != nil && source.profile == nil {
		return nil, fmt.Errorf("imageops: profile: from: %w: a profile that ParseProfile has not made", errs.ErrInvalidArgument)
	}
	to, err := p.target()
	if err != nil {
		return nil, fmt.Errorf("imageops: profile: from: %w", err)
	}
	var from *icc.Profile
	if source != nil {
		from = source.profile
	}
	return &Conversion{sync.OnceValue(func() *conversion { return newConversion(from.To(to)) })}, nil
}

// IsGrey reports whether the profile is for grey.
func (p *Profile) IsGrey() bool { return p != nil && p.profile != nil && p.profile.Grey }

// Tensor returns the numbers as ToProfile takes them, f32 [1,n,4]. It is nil for a Conversion that From has
// not made.
func (c *Conversion) Tensor() *tensor.Host {
	if c == nil || c.numbers == nil {
		return nil
	}
	return c.numbers().table
}

// Complete implements spec.Numbers.
// Errors: ErrInvalidArgument if call is not a ToProfile.
func (c *Conversion) Complete(call spec.Call) (spec.Call, error) {
	s, err := spec.As[*ToProfile](call)
	if err != nil || c == nil || c.numbers == nil {
		return nil, fmt.Errorf("%w: a conversion of colours is no picture (want the operation to_profile)", errs.ErrInvalidArgument)
	}
	s.from = c.numbers().converter
	return *s, nil
}

// ColorModel implements image.Image.
func (c *Conversion) ColorModel() color.Model { return color.NRGBA64Model }

// Bounds implements image.Image.
func (c *Conversion) Bounds() image.Rectangle { return tableBounds(c.Tensor()) }

// At implements image.Image.
func (c *Conversion) At(x, y int) color.Color { return tableAt(c.Tensor(), x, y) }
