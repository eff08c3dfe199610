package imageops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/spec"
)

// Hue turns colours by an angle and keeps their luma. The colour differences of YUV, U =
// 0.492·(B − Y) and V = 0.877·(R − Y), are turned about grey. The result is clamped to 0..1.
type Hue struct {
	Degrees float64 `attr:"degrees" doc:"degrees; above 0 turns red towards yellow and green, 180 makes opposite colours of the same luma; any number within ±3600"`
}

// Spec returns the declaration.
func (Hue) Spec() *spec.Op { return hueOp.Op() }

// These make U and V of the differences of blue and red from the luma.
const hueU, hueV = 0.492, 0.877

var hueOp = spec.Declaration{Define: func() *spec.Op {
	return matrixOp(picture.Pointwise[*Hue]{
		Name:     "hue",
		Aliases:  []string{"hue_rotate"},
		Doc:      "Turns colours by an angle about grey, in the UV plane of YUV, and keeps their luma. The result is clamped to 0..1.",
		Source:   "ITU-R BT.601",
		Defaults: &Hue{Degrees: 90},
		Check:    func(c *Hue) error { return within("degrees", c.Degrees, -3600, 3600) },
		Calls:    []*Hue{{90}, {-37.5}},
		Invalid:  []*Hue{{}, {nan}, {3601}},
	}, func(c *Hue) (m [12]float64) {
		cos, sin := picture.CosSin(c.Degrees)
		luma := [3]float64{0.299, 0.587, 0.114}
		for i, y := range luma { // what each colour adds to the results
			red, blue := -y, -y // its parts of R − Y and B − Y
			switch i {
			case 0:
				red++
			case 2:
				blue++
			}
			newBlue := float64(cos*blue) - float64(sin*red*(hueV/hueU))
			newRed := float64(cos*red) + float64(sin*blue*(hueU/hueV))
			m[i], m[8+i] = y+newRed, y+newBlue
			m[4+i] = y - (float64(luma[0]*newRed)+float64(luma[2]*newBlue))/luma[1]
		}
		return m
	}, func(c *Hue, px [3]float64) [3]float64 {
		y := picture.Luma(px[:])
		u, v := hueU*(px[2]-y), hueV*(px[0]-y)
		s, k := math.Sincos(c.Degrees * math.Pi / 180)
		u, v = u*k-v*s, u*s+v*k
		r, b := y+v/hueV, y+u/hueU
		return [3]float64{r, (y - 0.299*r - 0.114*b) / 0.587, b}
	})
}}
