package imageops

import (
	"fmt"
	"image"
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Halo returns the distance in pixels to the farthest neighbour that the result of a pixel
// depends on. When an image is computed in strips, the strips must overlap by so many rows.
// Halo is 0 for a pointwise operation, for a call that is not valid, and for an operation with
// spec.Op.Strips and no halo, where the distance is not the same for all pixels.
func Halo(c spec.Call) int {
	c, err := spec.Resolve(c)
	if err != nil || c.Spec().Halo == nil {
		return 0
	}
	return max(c.Spec().Halo(c), 0)
}

// Need returns the rows of input i that rows out of the result of a call depend on, as
// spec.Op.Strips or spec.Op.Halo says. in describes the inputs. The rows are within the input.
func Need(c spec.Call, in []tensor.Desc, i int, out spec.RowRange) spec.RowRange {
	if i < 0 || i >= len(in) || len(in[i].Shape) == 0 {
		return spec.RowRange{}
	}
	rows := out
	if c, err := spec.Resolve(c); err == nil && c.Spec().Strips != nil && pictures(in) {
		rows = c.Spec().Strips.Need(c, in, i, out)
	} else {
		halo := Halo(c)
		rows.From, rows.To = rows.From-halo, rows.To+halo
	}
	rows.From = min(max(rows.From, 0), in[i].Shape[0])
	rows.To = min(max(rows.To, rows.From), in[i].Shape[0])
	return rows
}

// Part returns the call that computes rows out of the result from rows have of the inputs,
// and the rows that it makes, as spec.StripsOf says.
func Part(c spec.Call, in []tensor.Desc, have []spec.RowRange, out spec.RowRange) (spec.Call, spec.RowRange) {
	if good, err := spec.Resolve(c); err == nil && good.Spec().Strips != nil && pictures(in) && len(have) >= len(in) {
		return good.Spec().Strips.Part(good, in, have, out)
	}
	if len(have) == 0 {
		return c, out
	}
	return c, have[0]
}

// pictures reports whether all inputs are pictures.
func pictures(in []tensor.Desc) bool {
	return len(in) > 0 && !slices.ContainsFunc(in, func(d tensor.Desc) bool { return len(d.Shape) != 3 })
}

// Size returns the size in pixels of the result of calls, one after the other, for a picture
// of a size. Further pictures of a call, such as Composite.Image, must be in it. A call such as
// Trim, whose result depends on the pixels, counts with the largest size that it may have.
// Errors: ErrInvalidArgument for a call that is not valid, does not suit the size, or does not
// make a picture of pictures.
func Size(size image.Point, calls ...spec.Call) (image.Point, error) {
	for _, c := range calls {
		c, more, err := spec.Pictures(c)
		if err != nil {
			return image.Point{}, err
		}
		in := []tensor.Desc{tensor.Contiguous(tensor.U8, size.Y, size.X, 4)}
		for _, m := range more {
			in = append(in, spec.PictureDesc(m, tensor.U8))
		}
		out, err := c.Spec().Shape(c, in)
		if err != nil {
			return image.Point{}, err
		}
		if crops := c.Spec().Crops; crops != nil {
			h, w := crops(c, in[0])
			size = image.Pt(w, h)
			continue
		}
		if len(out) != 1 || out[0].DType != tensor.U8 || len(out[0].Shape) != 3 || out[0].Shape[2] != 4 {
			return image.Point{}, fmt.Errorf("imageops: %s: %w: it does not make a picture of a picture", c.Spec().Name, errs.ErrInvalidArgument)
		}
		size = image.Pt(out[0].Shape[1], out[0].Shape[0])
	}
	return size, nil
}
