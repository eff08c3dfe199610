package imageops

import (
	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Pad adds rows and columns around an image.
type Pad struct {
	Left   int    `attr:"left" doc:"columns to add at the left"`
	Right  int    `attr:"right" doc:"columns to add at the right"`
	Top    int    `attr:"top" doc:"rows to add at the top"`
	Bottom int    `attr:"bottom" doc:"rows to add at the bottom"`
	Border string `attr:"border" doc:"what the new pixels are: color, edge (the nearest pixel of the image), mirror (the mirrored image, whose edge comes twice) or tile (the image again)"`
	Color  string `attr:"color" doc:"the colour, for border=color: #rgb, #rrggbb, #rrggbbaa, black, white or transparent; its first channel for images of one channel"`
	part   picture.Part
}

// Spec returns the declaration.
func (Pad) Spec() *spec.Op { return padOp.Op() }

var borders = map[string]picture.Border{
	"color": picture.BorderColour, "edge": picture.BorderEdge, "mirror": picture.BorderMirror, "tile": picture.BorderTile,
}

var padOp = spec.Declaration{Define: func() *spec.Op {
	return picture.DefineGeometry(picture.Geometry[*Pad]{
		Name:     "pad",
		Aliases:  []string{"extend"},
		Forms:    []string{"{left,right,top,bottom}", "{left,right}x{top,bottom}"},
		Doc:      "Adds rows and columns around an image, in one colour or from the image itself.",
		Defaults: &Pad{Border: "color", Color: "transparent"},
		Check: func(p *Pad) error {
			if min(p.Left, p.Right, p.Top, p.Bottom) < 0 || max(p.Left, p.Right, p.Top, p.Bottom) > picture.MaxSide {
				return planner.Invalid("pixels to add (got left %d, right %d, top %d, bottom %d, want 0 to %d)", p.Left, p.Right, p.Top, p.Bottom, picture.MaxSide)
			}
			if _, ok := borders[p.Border]; !ok {
				return planner.Invalid("border %q (want color, edge, mirror or tile)", p.Border)
			}
			_, err := picture.Colour(p.Color)
			return err
		},
		Remap: func(p *Pad, h, w int) (picture.Remap, int, int, error) {
			if h == 0 || w == 0 {
				return picture.Remap{}, 0, 0, planner.Invalid("an image without pixels (%d×%d) cannot be padded", w, h)
			}
			colour, err := picture.Colour(p.Color)
			m := picture.Remap{XX: 1, X0: -p.Left, YY: 1, Y0: -p.Top, Border: borders[p.Border], Colour: colour}
			return m, p.Top + h + p.Bottom, p.Left + w + p.Right, err
		},
		Part: func(p *Pad) picture.Part { return p.part },
		WithPart: func(p *Pad, part picture.Part) *Pad {
			c := *p
			c.part = part
			return &c
		},
		Reference: func(p *Pad, in, out *tensor.Host) {
			h, w := in.Shape[0], in.Shape[1]
			near := func(i, n int) int {
				for i < 0 || i >= n {
					switch {
					case p.Border == "tile" && i < 0:
						i += n
					case p.Border == "tile":
						i -= n
					case p.Border == "mirror" && i < 0:
						i = -1 - i
					case p.Border == "mirror":
						i = 2*n - 1 - i
					default:
						return picture.ClampIndex(i, n)
					}
				}
				return i
			}
			fill := map[string][4]float64{"transparent": {}, "#f80": {1, float64(0x88) / 255, 0, 1}}[p.Color]
			for y := range out.Shape[0] {
				for x := range out.Shape[1] {
					sy, sx := y-p.Top, x-p.Left
					outside := sy < 0 || sx < 0 || sy >= h || sx >= w
					for c := range out.Shape[2] {
						if outside && p.Border == "color" {
							picture.Store(out, fill[c], y, x, c)
						} else {
							out.Set(in.At(near(sy, h), near(sx, w), c), y, x, c)
						}
					}
				}
			}
		},
		Transparent: true,
		Calls: []*Pad{
			{Border: "color", Color: "transparent"},
			{Left: 3, Right: 1, Top: 2, Bottom: 5, Border: "color", Color: "#f80"},
			{Left: 3, Right: 1, Top: 2, Bottom: 5, Border: "edge", Color: "transparent"},
			{Left: 9, Right: 4, Top: 7, Bottom: 23, Border: "mirror", Color: "transparent"},
			{Left: 9, Right: 4, Top: 7, Bottom: 23, Border: "tile", Color: "transparent"},
		},
		Bench: &Pad{Left: 16, Right: 16, Top: 16, Bottom: 16, Border: "edge", Color: "transparent"},
		Invalid: []*Pad{
			{Left: -1, Border: "color", Color: "black"}, {Border: "colour", Color: "black"},
			{Border: "color", Color: "grey"}, {Border: "color", Color: "#12345g"},
		},
	})
}}
