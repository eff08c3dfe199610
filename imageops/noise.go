package imageops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Noise adds random numbers to colours, and clamps them to 0..1. The numbers depend on the place of
// a pixel, its colour and the seed only: they are the same bits on every device, and in strips. Alpha
// stays as it is. An image without colours, such as an *image.Gray, gets the numbers that Mono gives.
type Noise struct {
	Amount float64 `attr:"amount,main" doc:"the standard deviation of gaussian noise, or the largest number of uniform noise, where 1 is full; above 0 and up to 1"`
	// Kind is gaussian or uniform.
	Kind string `attr:"kind" doc:"gaussian (the sum of twelve uniform numbers) or uniform"`
	Mono bool   `attr:"mono" doc:"add the same number to all colours of a pixel, as grain; always so for grey pictures"`
	Seed int    `attr:"seed" doc:"another seed gives other numbers; 0 to 4294967295"`
	part picture.Part
}

// Spec returns the declaration.
func (Noise) Spec() *spec.Op { return noiseOp.Op() }

type noiseParams struct {
	picture.PlacedParams
	Seed  uint32
	Mono  uint32
	Scale float32
}

// twelveBytes is the standard deviation of the sum of twelve bytes.
var twelveBytes = math.Sqrt(256*256 - 1)

var noiseOp = spec.Declaration{Define: func() *spec.Op {
	return picture.DefinePlaced(picture.Placed[*Noise]{
		Name:     "noise",
		Doc:      "Adds random numbers to colours: gaussian or uniform, for each colour or for all colours of a pixel. They depend on the place and the seed only. Alpha stays.",
		Source:   "M. Jarzynski and M. Olano, Hash functions for GPU rendering, 2020",
		Defaults: &Noise{Amount: 0.05, Kind: "gaussian"},
		Phases:   []string{"", ".gaussian"},
		Phase: func(c *Noise) string {
			if c.Kind == "gaussian" {
				return ".gaussian"
			}
			return ""
		},
		Check: func(c *Noise) error {
			switch {
			case !(c.Amount > 0 && c.Amount <= 1):
				return planner.Invalid("amount (got %v, want above 0 and up to 1)", c.Amount+0)
			case c.Kind != "gaussian" && c.Kind != "uniform":
				return planner.Invalid("kind %q (want gaussian or uniform)", c.Kind)
			case c.Seed < 0 || int64(c.Seed) > math.MaxUint32:
				return planner.Invalid("seed (got %d, want 0 to 4294967295)", c.Seed)
			}
			return nil
		},
		Params: func(c *Noise, p picture.PlacedParams, _, _ int, full float64) any {
			q := noiseParams{PlacedParams: p, Seed: uint32(c.Seed), Scale: float32(c.Amount * full / twelveBytes)}
			if c.Kind == "uniform" {
				q.Scale = float32(c.Amount * full / (1 << 23))
			}
			if c.Mono {
				q.Mono = 1
			}
			return q
		},
		Part:     func(c *Noise) picture.Part { return c.part },
		WithPart: func(c *Noise, p picture.Part) *Noise { own := *c; own.part = p; return &own },
		ForGrey:  func(c *Noise) *Noise { own := *c; own.Mono = true; return &own },
		Pixel: func(c *Noise, px []float64, _, _, y, x int) {
			for i := range px {
				channel := i
				if c.Mono {
					channel = 0
				}
				px[i] = picture.Clamp01(px[i] + c.Amount*noiseAt(c.Kind, uint32(c.Seed), uint32(y), uint32(x), channel))
			}
		},
		Tolerance: func(_ *Noise, d tensor.DType, _ []tensor.Desc) spec.Tolerance {
			return picture.Level(d, 1e-6, "a product and a sum in f32")
		},
		Flops:   40,
		Calls:   []*Noise{{Amount: 0.05, Kind: "gaussian"}, {Amount: 0.3, Kind: "uniform", Seed: 7}, {Amount: 0.2, Kind: "gaussian", Mono: true, Seed: math.MaxInt32}, {Amount: 1, Kind: "uniform", Mono: true}},
		Invalid: []*Noise{{}, {Amount: -1, Kind: "uniform"}, {Amount: nan, Kind: "uniform"}, {Amount: 0.1, Kind: "poisson"}, {Amount: 0.1, Kind: "uniform", Seed: -1}},
	})
}}

// noiseAt returns the number for a colour of a pixel, for the reference.
func noiseAt(kind string, seed, y, x uint32, channel int) float64 {
	hash := func(z uint32) (v [3]uint32) {
		for i, k := range []uint32{x, y, z} {
			v[i] = 1664525*k + 1013904223
		}
		mix := func() {
			for i := range v {
				v[i] += v[(i+1)%3] * v[(i+2)%3]
			}
		}
		mix()
		for i := range v {
			v[i] ^= v[i] >> 16
		}
		mix()
		return v
	}
	if kind == "uniform" {
		return float64(hash(seed)[channel]>>8)/(1<<23) - 1
	}
	sum := 0
	for _, word := range hash(seed ^ []uint32{0, 0x9e3779b9, 0x3c6ef372}[channel]) {
		for ; word != 0; word >>= 8 {
			sum += int(word & 255)
		}
	}
	return (float64(sum) - 12*127.5) / twelveBytes
}
