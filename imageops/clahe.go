package imageops

import (
	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// CLAHE raises the contrast of each part of an image: contrast limited adaptive histogram
// equalization. The image is divided into tiles. The luma of a pixel becomes the part of the pixels
// of a tile that have no more luma, mixed from the four tiles around the pixel. Hue stays, and
// colours lose saturation only where they would exceed the range. Alpha stays, and pixels whose
// alpha is 0 do not count. In f32, luma is counted in 1024 levels.
//
// ClipLimit bounds how steep the contrast becomes. It is the largest count of a level, where the
// mean count is 1. What is above is spread over all levels. So an area of one colour keeps its
// noise. 1 leaves the image nearly as it is, and 256 sets no limit for bytes. It counts in steps of
// 1/64. It is clipLimit of OpenCV's createCLAHE, and the clip limit of ImageMagick's -clahe.
//
// A picture of more than 1 431 655 765 pixels is ErrUnsupported. If a device cannot bind all tables
// at once, that is a *LimitError: a tile takes 1 KiB for u8 and 4 KiB for f32.
type CLAHE struct {
	ClipLimit float64 `attr:"clip_limit,main" doc:"the largest contrast: how often a level may count, where the mean is 1; 1 to 256"`
	TilesX    int     `attr:"tiles_x" doc:"tiles across, 1 to 64; at most one a column"`
	TilesY    int     `attr:"tiles_y" doc:"tiles down, 1 to 64; at most one a row"`
}

// Spec returns the declaration.
func (CLAHE) Spec() *spec.Op { return claheOp.Op() }

func (c CLAHE) local() picture.Local {
	return picture.Local{TilesX: c.TilesX, TilesY: c.TilesY, Clip: c.ClipLimit}
}

var claheOp = spec.Declaration{Define: func() *spec.Op {
	return picture.Define(picture.Filter[*CLAHE]{
		Name: "clahe", Aliases: []string{"local_contrast"},
		Doc:      "Raises the contrast of each part of an image, by the histograms of tiles and within a limit. Hue and alpha stay.",
		Source:   "K. Zuiderveld, Contrast limited adaptive histogram equalization, Graphics Gems IV, 1994",
		Defaults: &CLAHE{ClipLimit: 2, TilesX: 8, TilesY: 8},
		Kernels:  picture.ClaheKernels(),
		InPlace:  true,
		Check: func(c *CLAHE) error {
			if err := within("clip_limit", c.ClipLimit, 1, 256); err != nil {
				return err
			}
			if err := within("tiles_x", float64(c.TilesX), 1, 64); err != nil {
				return err
			}
			return within("tiles_y", float64(c.TilesY), 1, 64)
		},
		Plan: func(c *CLAHE, t *spec.Target, in, out tensor.Desc) (*spec.Plan, error) {
			return picture.PlanClahe(t, in, out, c.local())
		},
		Strips:    wholeStrips[*CLAHE](),
		ForOpaque: func(c *CLAHE) *CLAHE { return c },
		Reference: func(c *CLAHE, in, out *tensor.Host) { picture.ClaheReference(c.local(), in, out) },
		Tolerance: func(_ *CLAHE, d tensor.DType, _ []tensor.Desc) spec.Tolerance {
			return picture.Level(d, 1e-5, "tables, their mix, and a quotient in f32")
		},
		Flops:   func(*CLAHE) int64 { return 40 },
		Calls:   []*CLAHE{{ClipLimit: 2, TilesX: 8, TilesY: 8}, {ClipLimit: 40, TilesX: 3, TilesY: 1}},
		Invalid: []*CLAHE{{}, {ClipLimit: 0.5, TilesX: 8, TilesY: 8}, {ClipLimit: nan, TilesX: 8, TilesY: 8}, {ClipLimit: 2, TilesX: 65, TilesY: 8}, {ClipLimit: 2, TilesX: 8, TilesY: -1}},
	})
}}
