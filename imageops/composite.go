package imageops

import (
	"image"

	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Composite lays a picture over an image. Outside of the picture there is transparency, so most
// modes leave the image as it is there, and some such as in and dst-in make it transparent.
//
// Device.Apply takes the picture from Image. Calls with tensors have it as their second input, and
// Image is nil.
type Composite struct {
	Image   image.Image `attr:"image,required,main" doc:"the picture; in text, its file"`
	Mode    string      `attr:"mode" doc:"over, dst-over, in, dst-in, out, dst-out, atop, dst-atop, xor, plus, src, dst, clear (Porter-Duff); mask (luma becomes alpha); normal (over), multiply, screen, overlay, darken, lighten, color-dodge, color-burn, hard-light, soft-light, difference, exclusion, hue, saturation, color, luminosity"`
	Opacity float64     `attr:"opacity" doc:"multiplies the alpha of the picture; 0 to 1"`
	// Gravity is one of Gravities.
	Gravity string  `attr:"gravity" doc:"where the picture lies: top-left, top, top-right, left, center, right, bottom-left, bottom or bottom-right"`
	X       int     `attr:"x" doc:"columns from the edge that gravity names; negative ones lie outside"`
	Y       int     `attr:"y" doc:"rows from the edge that gravity names; negative ones lie outside"`
	Scale   float64 `attr:"scale" doc:"width of the picture in percent of that of the image, up to 10000; 0 means its own size"`
	Tile    bool    `attr:"tile" doc:"repeat the picture over the whole image"`

	backdrop, source picture.Part
}

// Spec returns the declaration.
func (Composite) Spec() *spec.Op { return compositeOp.Op() }

func (c *Composite) composite() picture.Composite {
	return picture.Composite{
		Mode: c.Mode, Gravity: c.Gravity, X: c.X, Y: c.Y, Tile: c.Tile, Opacity: c.Opacity, Scale: c.Scale,
		Backdrop: c.backdrop, Source: c.source,
	}
}

// compositeCall returns a call with an opacity of 1 at the top left.
func compositeCall(mode string) *Composite {
	return &Composite{Mode: mode, Opacity: 1, Gravity: "top-left"}
}

var compositeOp = spec.Declaration{Define: func() *spec.Op {
	return picture.DefineOver(picture.Over[*Composite]{
		Name:     "composite",
		Aliases:  []string{"watermark"},
		Doc:      "Lays a picture over an image: Porter-Duff operators and blend modes, with opacity, place, scale and tiling. Colours are not premultiplied, and an image without alpha lies on black. Where the picture is transparent and the mode keeps the image, it stays as it is.",
		Source:   "T. Porter and T. Duff, Compositing digital images, 1984; W3C, Compositing and Blending Level 1, 2015",
		Defaults: compositeCall("over"),
		Of:       (*Composite).composite,
		Part: func(c *Composite, backdrop, source picture.Part) *Composite {
			own := *c
			own.backdrop, own.source = backdrop, source
			return &own
		},
		Tolerance: func(c *Composite, d tensor.DType) spec.Tolerance {
			tol := picture.Level(d, 3e-6, "a dozen operations in f32")
			if c.Scale > 0 {
				tol.Abs, tol.Flips, tol.Why = tol.Abs+2e-5, 0.002, tol.Why+"; where alpha is near 0, the hidden colour of the scaled picture may be any"
				if d == tensor.U8 {
					tol.Abs, tol.Why = 2, "the scaled picture has whole levels, one off at most; where its alpha is near 0, its hidden colour may be any"
				}
			}
			return tol
		},
		Calls: []*Composite{
			compositeCall("over"),
			{Mode: "over", Opacity: 0.6, Gravity: "bottom-right", X: 5, Y: -2},
			{Mode: "xor", Opacity: 0.8, Gravity: "center", Tile: true, X: -7, Y: 3},
			{Mode: "over", Opacity: 0.7, Gravity: "top-right", X: 1, Scale: 40},
			{Mode: "over", Opacity: 1, Gravity: "left", Scale: 9, Tile: true},
			{Mode: "mask", Opacity: 1, Gravity: "top", Y: 1},
			compositeCall("dst-atop"), compositeCall("plus"), compositeCall("color-dodge"), compositeCall("color-burn"), compositeCall("hard-light"),
			compositeCall("soft-light"), compositeCall("hue"), compositeCall("saturation"), compositeCall("luminosity"),
		},
		Invalid: []*Composite{
			{Mode: "blend", Opacity: 1, Gravity: "top-left"}, {Mode: "over", Opacity: 1.5, Gravity: "top-left"},
			{Mode: "over", Opacity: nan, Gravity: "top-left"}, {Mode: "over", Opacity: 1, Gravity: "middle"},
			{Mode: "over", Opacity: 1, Gravity: "top-left", Scale: -1}, {Mode: "over", Opacity: 1, Gravity: "top-left", X: -1 << 30},
			{Image: &image.NRGBA{}, Mode: "over", Opacity: 1, Gravity: "top-left"},
		},
	})
}}
