package lathe_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/spec"
)

// pictures are one without alpha and one with it.
func pictures(w, h int) []*image.NRGBA {
	opaque, alpha := image.NewNRGBA(image.Rect(0, 0, w, h)), image.NewNRGBA(image.Rect(0, 0, w, h))
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range opaque.Pix {
		opaque.Pix[i], alpha.Pix[i] = byte(rng.Uint32()), byte(rng.Uint32())
		if i%4 == 3 {
			opaque.Pix[i] = 255
		}
	}
	return []*image.NRGBA{opaque, alpha}
}

// preparedCalls are chains of which each needs other kernels.
var preparedCalls = [][]spec.Call{
	{imageops.GaussianBlur{Sigma: 1}},
	{imageops.GaussianBlur{Sigma: 20}},
	{imageops.Sharpen{}, imageops.InvertColors{}, imageops.SobelEdges{Threshold: 0.3}},
	{imageops.Grayscale{}},
	{&imageops.Contrast{Factor: 2}, imageops.InvertColors{}},
}

// Prepare launches every kernel that Apply launches afterwards, one workgroup of each.
func TestPrepareLaunchesAll(t *testing.T) {
	for _, kind := range []string{"GPU", "CPU driver", "processor"} {
		info := null.DefaultInfo()
		if kind != "GPU" {
			info.Kind = gpu.CPU
		}
		info.Features.HostVectors = kind == "processor"
		for _, c := range []struct {
			w, h  int
			strip int64
		}{{1, 1, 0}, {37, 21, 0}, {640, 480, 0}, {64, 333, 64 * 4 * 100}} {
			for _, calls := range preparedCalls {
				rec := null.NewRecorder(&info)
				dev, err := lathe.Open(t.Context(), lathe.WithGPU(rec), lathe.WithoutCache(), lathe.WithTuneMode("off"), lathe.WithStrip(c.strip))
				if err != nil {
					t.Fatal(err)
				}
				if err := dev.Prepare(t.Context(), image.Pt(c.w, c.h), calls...); err != nil {
					t.Fatal(err)
				}
				ready := map[*gpu.Module]bool{}
				for _, d := range rec.Recorded() {
					ready[d.Module] = true
					if d.Groups != [3]uint32{1, 1, 1} {
						t.Errorf("%s: %v workgroups, want one", d.Module.Name, d.Groups)
					}
				}
				before := len(rec.Recorded())
				for _, m := range pictures(c.w, c.h) {
					if _, err := dev.Apply(t.Context(), m, calls...); err != nil {
						t.Fatal(err)
					}
				}
				launched := rec.Recorded()[before:]
				if len(launched) == 0 {
					t.Errorf("%dx%d, %v: Apply launched nothing", c.w, c.h, calls)
				}
				for _, d := range launched {
					if !ready[d.Module] {
						t.Errorf("%s, %dx%d, %v: %s was not prepared", kind, c.w, c.h, calls, d.Module.Name)
					}
				}
				if err := dev.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// Pictures are the same with and without Prepare, also while it runs.
func TestPrepare(t *testing.T) {
	plain, dev := open(t), open(t)
	for _, calls := range preparedCalls {
		var all sync.WaitGroup
		for i, m := range pictures(61, 45) {
			want := must(plain.Apply(t.Context(), m, calls...))(t)
			all.Go(func() {
				if i == 0 {
					if err := dev.Prepare(context.Background(), image.Pt(61, 45), calls...); err != nil {
						t.Error(err)
					}
				}
				got, err := dev.Apply(context.Background(), m, calls...)
				if err != nil || !bytes.Equal(got.Pix, want.Pix) {
					t.Errorf("%v: the result differs (%v)", calls, err)
				}
			})
		}
		all.Wait()
	}
}

func TestPrepareRefuses(t *testing.T) {
	dev := open(t)
	blur, size := imageops.GaussianBlur{Sigma: 1}, image.Pt(8, 8)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	closed := open(t)
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ got, want error }{
		"no calls":         {dev.Prepare(t.Context(), size), nil},
		"no pixels":        {dev.Prepare(t.Context(), image.Pt(0, 5), blur), nil},
		"negative":         {dev.Prepare(t.Context(), image.Pt(8, -1), blur), lathe.ErrInvalidArgument},
		"endless":          {dev.Prepare(t.Context(), image.Pt(1<<30, 1<<30), blur), lathe.ErrInvalidArgument},
		"no call":          {dev.Prepare(t.Context(), size, nil), lathe.ErrInvalidArgument},
		"no pixels, wrong": {dev.Prepare(t.Context(), image.Point{}, imageops.GaussianBlur{Sigma: -1}), lathe.ErrInvalidArgument},
		"cancelled":        {dev.Prepare(cancelled, size, blur), context.Canceled},
		"closed, nothing":  {closed.Prepare(t.Context(), image.Point{}, blur), lathe.ErrClosed},
		"closed":           {closed.Prepare(t.Context(), size, blur), lathe.ErrClosed},
		"not opened":       {(&lathe.Device{}).Prepare(t.Context(), size, blur), lathe.ErrNotInitialized},
	} {
		if !errors.Is(c.got, c.want) || c.want == nil && c.got != nil {
			t.Errorf("%s: got %v, want %v", name, c.got, c.want)
		}
	}
	// It keeps no reference to calls, and does not change them.
	calls := []spec.Call{blur}
	if err := dev.Prepare(t.Context(), size, calls...); err != nil || !slices.Equal(calls, []spec.Call{blur}) {
		t.Errorf("got %v, %v", calls, err)
	}
}
