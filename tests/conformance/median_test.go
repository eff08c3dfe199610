package conformance_test

import (
	"fmt"
	"image"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

// TestMedianSizes compares medians of five by five and seven by seven pixels with sorted ones, at sizes
// around the runs and bands in which the kernels for opaque pictures work, also with some pixels that
// are not opaque.
func TestMedianSizes(t *testing.T) {
	sizes := []image.Point{{1, 1}, {1, 7}, {2, 3}, {25, 2}, {26, 5}, {27, 9}, {28, 1}, {29, 4}, {52, 6}, {53, 3}, {57, 8}, {1703, 2}}
	if testlevel.IsFull() {
		sizes = append(sizes, image.Point{X: 5, Y: 65537}, image.Point{X: 65537, Y: 5}, image.Point{X: 1, Y: 90001})
	}
	for _, backend := range []lathe.Option{lathe.WithDevice(""), lathe.WithBackend("cpu")} {
		whole, strips := front(t, backend), front(t, backend, lathe.WithStrip(1))
		for _, size := range sizes {
			for _, radius := range []int{2, 3} {
				for _, holes := range []int{0, 3} {
					name := fmt.Sprintf("%v radius %d holes %d", size, radius, holes)
					random := rand.New(rand.NewPCG(uint64(size.X), uint64(size.Y)))
					src := image.NewNRGBA(image.Rectangle{Max: size})
					for i := range src.Pix {
						src.Pix[i] = uint8(random.Uint32() >> 24)
						if i%4 == 3 {
							src.Pix[i] = 255
						}
					}
					call := imageops.Median{Radius: radius, IgnoreAlpha: holes > 0}
					for range holes {
						src.Pix[random.IntN(size.X*size.Y)*4+3] = 7
					}
					want := medians(src, radius)
					got, err := whole.Apply(t.Context(), src, call)
					if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					if at := differs(got.Pix, want); at >= 0 {
						t.Errorf("%s: byte %d is %d, want %d", name, at, got.Pix[at], want[at])
					}
					if size.Y > 1000 {
						continue // Strips of a row each take long.
					}
					got, err = strips.Apply(t.Context(), src, call)
					if err != nil {
						t.Fatalf("%s in strips: %v", name, err)
					}
					if at := differs(got.Pix, want); at >= 0 {
						t.Errorf("%s in strips: byte %d is %d, want %d", name, at, got.Pix[at], want[at])
					}
				}
			}
		}
	}
}

// medians sorts the pixels around each pixel, and keeps alpha.
func medians(src *image.NRGBA, radius int) []byte {
	w, h := src.Rect.Dx(), src.Rect.Dy()
	out := slices.Clone(src.Pix)
	var around []byte
	for i := range out {
		if i%4 == 3 {
			continue
		}
		x, y := i/4%w, i/4/w
		around = around[:0]
		for dy := -radius; dy <= radius; dy++ {
			for dx := -radius; dx <= radius; dx++ {
				around = append(around, src.Pix[(min(max(y+dy, 0), h-1)*w+min(max(x+dx, 0), w-1))*4+i%4])
			}
		}
		slices.Sort(around)
		out[i] = around[len(around)/2]
	}
	return out
}

// differs is the first place where slices of one length differ, or -1.
func differs(a, b []byte) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}
