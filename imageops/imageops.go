// Package imageops declares the image operations: gaussian blur, sobel edges,
// grayscale, threshold, brightness, contrast, invert and sharpen.
//
// An image is a tensor [H,W,C] of f32 in 0..1 with C = 1, 3 or 4, or of u8 with
// C = 4. Colours are red, green, blue, not premultiplied by alpha; those operations
// that work on each pixel alone leave alpha as it is. Filters, which mix neighbours,
// weigh colours by alpha, so that the hidden colours of transparent pixels show
// nowhere; IgnoreAlpha makes them filter colours alone, for data that is not colour. Rows may lie apart (a row
// stride larger than the row); pixels may not.
//
// An operation is called by the struct of its attributes, such as
// GaussianBlur{Sigma: 3}, which is a spec.Call. A u8 result is the exact result
// rounded to the nearest of 256 levels.
package imageops

import (
	"fmt"
	"math"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

var (
	imageIn  = []spec.Arg{{Name: "in", Doc: "the image, f32 [H,W,C] in 0..1 with C = 1, 3 or 4, or u8 [H,W,4]"}}
	imageOut = []spec.Arg{{Name: "out", Doc: "the result, of the same dtype and shape"}}
)

// Halo returns how many pixels around a pixel its result depends on: 0 for a
// pointwise operation, and for what is no call. It is how far strips of an image
// must overlap.
func Halo(c spec.Call) int {
	c, err := spec.Resolve(c)
	if err != nil {
		return 0
	}
	if h, ok := c.(interface{ halo() int }); ok {
		return h.halo()
	}
	return 0
}

// picture is how an image tensor lies in memory.
type picture struct {
	dtype   tensor.DType
	h, w, c int
	pitch   int // pixels from row to row
}

// pixelBytes is the size of a pixel.
func (p picture) pixelBytes() int64 { return int64(p.c) * int64(p.dtype.Size()) }

// rowBytes is the distance from row to row.
func (p picture) rowBytes() int64 { return int64(p.pitch) * p.pixelBytes() }

// contiguous reports whether the rows follow each other without gaps.
func (p picture) contiguous() bool { return p.pitch == p.w || p.h <= 1 }

func pictureOf(op string, d tensor.Desc) (picture, error) {
	if err := d.Check(); err != nil {
		return picture{}, fmt.Errorf("imageops: %s: %w", op, err)
	}
	if len(d.Shape) != 3 {
		return picture{}, fmt.Errorf("imageops: %s: %w: rank (got %v, want [H,W,C])", op, errs.ErrInvalidArgument, d)
	}
	p := picture{dtype: d.DType, h: d.Shape[0], w: d.Shape[1], c: d.Shape[2]}
	switch {
	case d.DType == tensor.U8 && p.c == 4, d.DType == tensor.F32 && (p.c == 1 || p.c == 3 || p.c == 4):
	default:
		return picture{}, fmt.Errorf("imageops: %s: %w: image (got %v, want f32 with 1, 3 or 4 channels, or u8 with 4)", op, errs.ErrInvalidArgument, d)
	}
	if p.h > math.MaxInt32 || p.w > math.MaxInt32 {
		return picture{}, fmt.Errorf("imageops: %s: %w: image %v is larger than 2³¹ pixels a side", op, errs.ErrInvalidArgument, d)
	}
	st := d.ElementStrides()
	p.pitch = st[0] / p.c
	if p.h <= 1 {
		p.pitch = p.w
	}
	if st[2] != 1 && p.c > 1 || st[1] != p.c && p.w > 1 || p.pitch < p.w || p.h > 1 && st[0]%p.c != 0 {
		return picture{}, fmt.Errorf("imageops: %s: %w: strides %v (pixels must follow each other, and rows be whole pixels apart)", op, errs.ErrUnsupported, d.Strides)
	}
	return p, nil
}

// pictures is how the source and the result of an operation lie.
func pictures(op string, in, out tensor.Desc) (src, dst picture, err error) {
	if src, err = pictureOf(op, in); err == nil {
		dst, err = pictureOf(op, out)
	}
	return src, dst, err
}

// sameImage is the shape rule of every image operation, after check has
// approved the attributes.
func sameImage(op string, check func(spec.Call) error) func(spec.Call, []tensor.Desc) ([]tensor.Desc, error) {
	return func(c spec.Call, in []tensor.Desc) ([]tensor.Desc, error) {
		if check != nil {
			if err := check(c); err != nil {
				return nil, err
			}
		}
		if len(in) != 1 {
			return nil, fmt.Errorf("imageops: %s: %w: inputs (got %d, want 1)", op, errs.ErrInvalidArgument, len(in))
		}
		if err := in[0].Check(); err != nil {
			return nil, fmt.Errorf("imageops: %s: %w", op, err)
		}
		// Strides are for the plan to see: what it cannot take is copied.
		p, err := pictureOf(op, tensor.Contiguous(in[0].DType, in[0].Shape...))
		if err != nil {
			return nil, err
		}
		return []tensor.Desc{tensor.Contiguous(p.dtype, p.h, p.w, p.c)}, nil
	}
}

// finite checks an attribute that must be a number within ±limit.
func finite(op, name string, v, limit float64) error {
	if !(math.Abs(v) <= limit) { // NaN too
		return fmt.Errorf("imageops: %s: %w: %s (got %v, want a number within ±%g)", op, errs.ErrInvalidArgument, name, v, limit)
	}
	return nil
}

// cases are what every image operation is tried on.
func cases(calls []spec.Call, invalid ...spec.Call) spec.Cases {
	return spec.Cases{
		DTypes: []tensor.DType{tensor.U8, tensor.F32},
		Calls:  calls,
		Dims: []spec.Dim{
			{Name: "H", Tiles: []int{8}},
			{Name: "W", Tiles: []int{4, 256}},
			{Name: "C", Only: []int{4, 3, 1}},
		},
		Inputs: func(d tensor.DType, dims []int) []tensor.Desc {
			if d == tensor.U8 && dims[2] != 4 {
				return nil
			}
			return []tensor.Desc{tensor.Contiguous(d, dims...)}
		},
		Bench: benchCases(calls[0]),
		Low:   0, High: 1,
		Invalid: invalid,
	}
}

// works is Cases.Bench for pictures of 0.3, 2 and 24 megapixels.
func benchCases(c spec.Call) func(tensor.DType) []spec.BenchCase {
	return func(d tensor.DType) []spec.BenchCase {
		var ws []spec.BenchCase
		for _, s := range [][]int{{480, 640, 4}, {1080, 1920, 4}, {4000, 6000, 4}} {
			ws = append(ws, spec.BenchCase{Call: c, In: []tensor.Desc{tensor.Contiguous(d, s...)}, Opaque: true})
		}
		return ws
	}
}

// cost counts flops a pixel, and one read and one write of the image.
func cost(flops int64) func(spec.Call, []tensor.Desc) spec.Cost {
	return func(_ spec.Call, in []tensor.Desc) spec.Cost {
		n := int64(in[0].Elems()) / int64(max(1, in[0].Shape[2]))
		return spec.Cost{Flops: flops * n, Bytes: 2 * int64(in[0].Elems()) * int64(in[0].DType.Size())}
	}
}
