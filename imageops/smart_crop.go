package imageops

import (
	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// SmartCrop keeps the rectangle of an image that has the most edges: the sum of the differences
// of neighbouring pixels in luma, of which those in its middle count twice as much as those at its
// edges. It is measured in a grid of up to 64 by 64 cells, for up to 65
// places of the rectangle along each side. Of places with the same sum it is the one nearest to
// the middle, so an image of one colour keeps its middle. Of an image of more than 4096 columns or 2048
// rows, every second, third and so on is measured.
//
// As an operation on tensors, SmartCrop finds the rectangle: its first column, its first row, its
// width and its height. Device.FindCrops finds it for an image.
type SmartCrop struct {
	Width  int    `attr:"width" doc:"width in pixels; 0 means all columns"`
	Height int    `attr:"height" doc:"height in pixels; 0 means all rows"`
	Aspect string `attr:"aspect" doc:"width to height, such as 16:9: the largest rectangle of that shape, instead of width and height"`
}

// Spec returns the declaration.
func (SmartCrop) Spec() *spec.Op { return smartCropOp.Op() }

// size returns the height and width of the rectangle in an image of h by w pixels.
// Errors: ErrInvalidArgument.
func (c *SmartCrop) size(h, w int) (height, width int, err error) {
	_, _, width, height, err = Crop{Width: c.Width, Height: c.Height, Aspect: c.Aspect, Gravity: "top-left"}.rectangle(h, w)
	return height, width, err
}

var smartCropOp = spec.Declaration{Define: func() *spec.Op {
	return picture.DefineSearch(picture.Search[*SmartCrop]{
		Name: "smart_crop", Aliases: []string{"smartcrop"},
		Forms:    []string{"{width}x{height}"},
		Doc:      "Keeps the rectangle of an image that has the most edges. On tensors it finds this rectangle.",
		Defaults: &SmartCrop{},
		Kernels:  picture.EnergyKernels(),
		Check: func(c *SmartCrop) error {
			if min(c.Width, c.Height) < 0 || max(c.Width, c.Height) > picture.MaxSide {
				return planner.Invalid("size (got width %d, height %d, want 0 to %d)", c.Width, c.Height, picture.MaxSide)
			}
			if c.Aspect != "" && (c.Width != 0 || c.Height != 0) {
				return planner.Invalid("an aspect together with a width or a height (want one of them)")
			}
			_, _, err := (&SmartCrop{Aspect: c.Aspect}).size(1, 1)
			return err
		},
		Size: func(c *SmartCrop, h, w int) (int, int, error) { return c.size(h, w) },
		Plan: func(c *SmartCrop, t *spec.Target, in tensor.Desc) (*spec.Plan, error) {
			height, width, err := c.size(in.Shape[0], in.Shape[1])
			if err != nil {
				return nil, err
			}
			return picture.PlanEnergy(t, in, width, height)
		},
		Reference: func(c *SmartCrop, in *tensor.Host) [4]int {
			height, width, _ := c.size(in.Shape[0], in.Shape[1]) // Shape refuses others.
			return picture.EnergyReference(in, width, height)
		},
		Exact:   "sums of whole numbers",
		Flops:   24,
		Calls:   []*SmartCrop{{Aspect: "1:1"}, {Width: 5, Height: 3}, {Height: 40}, {}},
		Invalid: []*SmartCrop{{Width: -1}, {Aspect: "16x9"}, {Aspect: "1:1", Width: 3}, {Height: picture.MaxSide + 1}},
	})
}}
