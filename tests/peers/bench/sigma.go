package main

import (
	"fmt"
	"image"
	"math"
	"time"

	"github.com/disintegration/imaging"

	"github.com/lathe-gpu/lathe/imageops"
	measure "github.com/lathe-gpu/lathe/internal/bench"
	"github.com/lathe-gpu/lathe/internal/testimg"
)

// sigma shows that the blur's cost grows with σ and not with σ².
func (b *bench) sigma() (*table, error) {
	const w, h = 1920, 1080
	src := testimg.Photo(w, h, b.seed)
	dst := image.NewNRGBA(src.Bounds())
	sigmas := []float64{1, 2, 3, 5, 10, 20, 50, 100, 256}
	budget, withPeer := 4*time.Second, 20.0
	if b.quick {
		sigmas, budget, withPeer = []float64{1, 3, 10, 50}, time.Second, 3
	}
	t := &table{
		Title:  fmt.Sprintf("Gaussian blur by σ, %d×%d RGBA, upload and read-back included", w, h),
		Header: []string{"σ", "taps a pass", "Lathe ApplyTo", "ps a pixel and tap", "imaging", "imaging / Lathe"},
	}
	t.note("A tap is one weight of one of the two passes; linear growth shows as a falling or constant time a pixel and tap. "+
		"imaging is measured up to σ = %g.", withPeer)
	for _, s := range sigmas {
		call := imageops.GaussianBlur{Sigma: s}
		fs := []func() error{func() error { return b.dev.ApplyTo(b.ctx, dst, src, call) }}
		if s <= withPeer {
			fs = append(fs, func() error { imaging.Blur(src, s); return nil })
		}
		m, err := measure.Interleave(budget, 15, fs...)
		if err != nil {
			return nil, err
		}
		taps := 2*int(math.Ceil(3*s)) + 1
		each := float64(m[0].Median().Nanoseconds()) * 1e3 / (w * h * 2 * float64(taps))
		peerTime, times := "—", "—"
		if len(m) > 1 {
			peerTime, times = m[1].String(), fmt.Sprintf("%.2f", ratio(m[1], m[0]))
		}
		t.row(fmt.Sprint(s), taps, m[0], fmt.Sprintf("%.0f", each), peerTime, times)
		t.value(fmt.Sprintf("sigma=%g/ms", s), float64(m[0].Median().Microseconds())/1e3)
		t.value(fmt.Sprintf("sigma=%g/ps_per_pixel_tap", s), each)
	}
	return t, nil
}
