package main

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"math"
	"time"

	"github.com/anthonynsimon/bild/adjust"
	"github.com/anthonynsimon/bild/blur"
	"github.com/anthonynsimon/bild/effect"
	"github.com/anthonynsimon/bild/segment"
	"github.com/disintegration/gift"
	"github.com/disintegration/imaging"

	"github.com/lathe-gpu/lathe/imageops"
	measure "github.com/lathe-gpu/lathe/internal/bench"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/spec"
)

// peer is another library's form of an operation. near is how far its result
// may be from Lathe's on average, in 1/255; negative where it computes
// something else and only the work is comparable.
type peer struct {
	name string
	near float64
	note string
	run  func() image.Image
}

// comparison is an operation and its peers.
type comparison struct {
	name  string
	call  spec.Call
	peers []peer
}

var sharpen3x3 = []float64{0, -1, 0, -1, 5, -1, 0, -1, 0}

// comparisons builds each library's call in its fastest idiomatic form: its
// native pixel type, its own parallelism, a reused destination where its
// interface takes one.
func comparisons(src *image.NRGBA) []comparison {
	rgba := image.NewRGBA(src.Bounds()) // bild's own type
	draw.Draw(rgba, rgba.Bounds(), src, src.Bounds().Min, draw.Src)
	// Each gift filter draws into a destination of its own, made once.
	filter := func(filters ...gift.Filter) func() image.Image {
		g, dst := gift.New(filters...), image.NewNRGBA(src.Bounds())
		return func() image.Image { g.Draw(dst, src); return dst }
	}
	var k32 []float32
	for _, v := range sharpen3x3 {
		k32 = append(k32, float32(v))
	}
	return []comparison{
		{"gaussian blur σ=3", imageops.GaussianBlur{Sigma: 3}, []peer{
			{"imaging", 1, "", func() image.Image { return imaging.Blur(src, 3) }},
			{"gift", 1, "", filter(gift.GaussianBlur(3))},
			{"bild", -1, "its Gaussian stops at 1.5σ: half the taps", func() image.Image { return blur.Gaussian(rgba, 4.5) }},
		}},
		{"sobel magnitude", imageops.SobelEdges{Magnitude: true}, []peer{
			{"gift", -1, "Sobel of each channel, no luminance", filter(gift.Sobel())},
			{"bild", -1, "squared magnitude of each channel", func() image.Image { return effect.Sobel(rgba) }},
		}},
		{"grayscale", imageops.Grayscale{}, []peer{
			{"imaging", 1, "", func() image.Image { return imaging.Grayscale(src) }},
			{"gift", 1, "", filter(gift.Grayscale())},
			{"bild", 1, "", func() image.Image { return effect.GrayscaleWithWeights(rgba, 0.299, 0.587, 0.114) }},
		}},
		{"threshold 0.5", imageops.Threshold{Value: 0.5}, []peer{
			{"imaging", 1, "AdjustFunc, each channel", func() image.Image { return imaging.AdjustFunc(src, thresholdNRGBA) }},
			{"gift", -1, "of the luminance", filter(gift.Threshold(50))},
			{"bild", -1, "of the luminance, one output channel", func() image.Image { return segment.Threshold(rgba, 128) }},
		}},
		{"brightness ×1.3", imageops.Brightness{Factor: 1.3}, []peer{
			{"imaging", -1, "adds a constant", func() image.Image { return imaging.AdjustBrightness(src, 20) }},
			{"gift", -1, "adds a constant", filter(gift.Brightness(20))},
			{"bild", 1, "", func() image.Image { return adjust.Brightness(rgba, 0.3) }},
		}},
		{"contrast ×1.25", imageops.Contrast{Factor: 1.25}, []peer{
			{"imaging", 1, "", func() image.Image { return imaging.AdjustContrast(src, 20) }},
			{"gift", 1, "", filter(gift.Contrast(20))},
			{"bild", 1, "", func() image.Image { return adjust.Contrast(rgba, 0.25) }},
		}},
		{"invert", imageops.InvertColors{}, []peer{
			{"imaging", 0, "", func() image.Image { return imaging.Invert(src) }},
			{"gift", 0.5, "", filter(gift.Invert())},
			{"bild", 0, "", func() image.Image { return effect.Invert(rgba) }},
		}},
		{"sharpen 3×3", imageops.Sharpen{}, []peer{
			{"imaging", 1, "Convolve3x3", func() image.Image { return imaging.Convolve3x3(src, [9]float64(sharpen3x3), nil) }},
			{"gift", 1, "Convolution", filter(gift.Convolution(k32, false, false, false, 0))},
			{"bild", 1, "", func() image.Image { return effect.Sharpen(rgba) }},
		}},
	}
}

func thresholdNRGBA(c color.NRGBA) color.NRGBA {
	step := func(v uint8) uint8 {
		if v >= 128 {
			return 255
		}
		return 0
	}
	return color.NRGBA{step(c.R), step(c.G), step(c.B), c.A}
}

// ops times the eight operations on a full-HD photograph, upload and read-back
// included, against every peer.
func (b *bench) ops() (*table, error) {
	const w, h = 1920, 1080
	src := testimg.Photo(w, h, b.seed)
	dst := image.NewNRGBA(src.Bounds())
	budget := 10 * time.Second
	if b.quick {
		budget = 2 * time.Second
	}
	t := &table{
		Title:  fmt.Sprintf("One operation, %d×%d RGBA, upload and read-back included", w, h),
		Header: []string{"operation", "Lathe ApplyTo", "Lathe Apply", "imaging", "gift", "bild", "fastest peer / ApplyTo", "fastest peer / Apply"},
	}
	t.note("Medians ± half the interquartile range, measured in turns in one process; a ratio above 1 means Lathe is faster. " +
		"ApplyTo reuses the destination, Apply makes a new one.")
	for _, c := range comparisons(src) {
		if err := b.ctx.Err(); err != nil {
			return nil, err
		}
		if err := b.agree(c, src); err != nil {
			return nil, err
		}
		fs := []func() error{
			func() error { return b.dev.ApplyTo(b.ctx, dst, src, c.call) },
			func() error { _, err := b.dev.Apply(b.ctx, src, c.call); return err },
		}
		for _, p := range c.peers {
			fs = append(fs, func() error { p.run(); return nil })
		}
		s, err := measure.Interleave(budget, 25, fs...)
		if err != nil {
			return nil, err
		}
		cells := map[string]string{}
		fastest, best := s[2], s[2]
		for i, p := range c.peers {
			cells[p.name] = s[2+i].String()
			if s[2+i].Median() < fastest.Median() {
				fastest = s[2+i]
			}
			if s[2+i].At(0) < best.At(0) {
				best = s[2+i]
			}
			if p.note != "" {
				cells[p.name] += " *"
				t.note("\\* %s, %s: %s.", c.name, p.name, p.note)
			}
		}
		cell := func(name string) string {
			if v := cells[name]; v != "" {
				return v
			}
			return "—"
		}
		t.row(c.name, s[0], s[1], cell("imaging"), cell("gift"), cell("bild"),
			fmt.Sprintf("**%.2f**", ratio(fastest, s[0])), fmt.Sprintf("%.2f", ratio(fastest, s[1])))
		t.value(c.name+"/apply_to", ratio(fastest, s[0]))
		t.value(c.name+"/apply", ratio(fastest, s[1]))
		t.value(c.name+"/apply_to_best", bestRatio(best, s[0]))
		for i, p := range c.peers {
			t.value(c.name+"/"+p.name, ratio(s[2+i], s[0]))
		}
	}
	return t, nil
}

// agree makes sure that Lathe and its peers compute the same picture where
// they should, so that nothing fast is measured that does nothing.
func (b *bench) agree(c comparison, src *image.NRGBA) error {
	got, err := b.dev.Apply(b.ctx, src, c.call)
	if err != nil {
		return err
	}
	if d := distance(got, src); d < 0.5 {
		return fmt.Errorf("%s: the result is the source (mean difference %.3f)", c.name, d)
	}
	checked := 0
	for _, p := range c.peers {
		if p.near < 0 {
			continue
		}
		checked++
		if d := distance(got, p.run()); d > p.near {
			return fmt.Errorf("%s: differs from %s by %.3f/255 on average, more than %g", c.name, p.name, d, p.near)
		}
	}
	if checked > 0 {
		return nil
	}
	// No peer computes just this: a second form of one of them must agree.
	if _, ok := c.call.(imageops.SobelEdges); ok {
		g := gift.New(gift.Grayscale(), gift.Sobel())
		want := image.NewNRGBA(src.Bounds())
		g.Draw(want, src)
		if d := distance(got, want); d > 1 {
			return fmt.Errorf("%s: differs from gift's Grayscale and Sobel by %.3f/255 on average", c.name, d)
		}
		return nil
	}
	return fmt.Errorf("%s: no peer to check the result against", c.name)
}

// distance is the mean absolute difference of the colours of two opaque
// pictures, in 1/255.
func distance(a *image.NRGBA, other image.Image) float64 {
	var pix []uint8
	switch o := other.(type) {
	case *image.NRGBA:
		pix = o.Pix
	case *image.RGBA:
		pix = o.Pix
	}
	if len(pix) != len(a.Pix) {
		return math.Inf(1)
	}
	sum := 0
	for i, v := range a.Pix {
		d := int(v) - int(pix[i])
		sum += max(d, -d)
	}
	return float64(sum) / float64(len(pix))
}
