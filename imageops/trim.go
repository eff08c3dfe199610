package imageops

import (
	"slices"
	"strings"

	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Trim cuts off the rows and columns at the edges of an image that have one colour. An image that
// has no other colour stays as it is.
//
// The size of the result depends on the pixels. Size has the largest one, and Device.FindCrops
// the one for an image. As an operation on tensors, Trim finds the rectangle that remains: its
// first column, its first row, its width and its height.
type Trim struct {
	Fuzz float64 `attr:"fuzz,main" doc:"how far colours times alpha, and alpha, may be from that colour, in percent of white, 0 to 100"`
	// Color is a colour, or one of the corners.
	Color string `attr:"color" doc:"the colour of the border: that at top-left, top-right, bottom-left or bottom-right, or #rgb, #rrggbb, #rrggbbaa, black, white or transparent"`
}

// Spec returns the declaration.
func (Trim) Spec() *spec.Op { return trimOp.Op() }

func (c *Trim) trim() (picture.Trim, error) {
	m := picture.Trim{Fuzz: c.Fuzz / 100}
	if slices.Contains([]string{"top-left", "top-right", "bottom-left", "bottom-right"}, c.Color) {
		m.Right, m.Bottom = strings.HasSuffix(c.Color, "right"), strings.HasPrefix(c.Color, "bottom")
	} else {
		colour, err := picture.Colour(c.Color)
		if err != nil {
			return m, err
		}
		m.Colour = &colour
	}
	return m, within("fuzz", c.Fuzz, 0, 100)
}

var trimOp = spec.Declaration{Define: func() *spec.Op {
	return picture.DefineSearch(picture.Search[*Trim]{
		Name: "trim", Aliases: []string{"find_trim"},
		Doc:      "Cuts off the borders of an image that have one colour. On tensors it finds the rectangle that remains.",
		Defaults: &Trim{Color: "top-left"},
		Kernels:  picture.TrimKernels(),
		Check: func(c *Trim) error {
			_, err := c.trim()
			return err
		},
		Size: func(_ *Trim, h, w int) (int, int, error) { return h, w, nil },
		Plan: func(c *Trim, t *spec.Target, in tensor.Desc) (*spec.Plan, error) {
			m, err := c.trim()
			if err != nil {
				return nil, err
			}
			return picture.PlanTrim(t, in, m)
		},
		Reference: func(c *Trim, in *tensor.Host) [4]int {
			m, _ := c.trim() // Shape refuses others.
			return picture.TrimReference(m, in)
		},
		Exact: "places of pixels",
		Flops: 8,
		Calls: []*Trim{
			{Color: "top-left"}, {Fuzz: 50, Color: "bottom-right"}, {Fuzz: 90, Color: "#80808080"}, {Fuzz: 70, Color: "top-right"},
			{Fuzz: 100, Color: "bottom-left"},
		},
		Invalid: []*Trim{{Fuzz: -1, Color: "top-left"}, {Fuzz: nan, Color: "top-left"}, {Fuzz: 101, Color: "top-left"}, {Color: "top"}, {Color: "red"}},
	})
}}
