package lathe

import (
	"fmt"
	"image"
	"slices"

	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/pixels"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// leastStripRows is how many rows of the result a strip has at least, if there are so many.
const leastStripRows = 16

// imageChain is a chain of calls and the pictures between them. Picture 0 is the source, and
// picture i+1 the result of call i.
type imageChain struct {
	calls    []spec.Call     // fused, for opaque pictures where the source is one; without their pictures
	pictures []tensor.Desc   // the whole pictures as they would lie on the device
	further  [][]image.Image // the pictures that each call has brought: its inputs after the first
	halo     int             // the sum of the calls' halos
	moves    bool            // Some call has spec.Op.Strips without a halo and cannot work in place: pixels do not stay where they are.
	dtype    tensor.DType    // of the pictures on the device: U8 or F32
	padded   bool            // Rows on the device begin on a texel where the calls take that.
}

// newImageChain makes a chain of resolved calls for a source of w by h pixels.
// Errors: those of the calls' Shape, and ErrInvalidArgument if a result is no picture or a call
// lacks a picture.
func newImageChain(calls []spec.Call, w, h int) (*imageChain, error) {
	c := &imageChain{calls: imageops.Fuse(calls), dtype: tensor.U8}
	c.further = make([][]image.Image, len(c.calls))
	c.pictures = []tensor.Desc{tensor.Contiguous(tensor.U8, h, w, 4)}
	size := image.Pt(w, h)
	for i, call := range c.calls {
		var err error
		if size, err = imageops.Size(size, call); err != nil {
			return c, err
		}
		c.pictures = append(c.pictures, tensor.Contiguous(tensor.U8, size.Y, size.X, 4))
		if c.calls[i], c.further[i], err = spec.Pictures(call); err != nil {
			return c, err
		}
		for k, m := range c.further[i] {
			if err := pixels.Check(m); err != nil {
				return c, fmt.Errorf("lathe: apply: %w: %s: %s: %w", errs.ErrInvalidArgument, call.Spec().Name, call.Spec().In[k+1].Name, err)
			}
		}
		c.halo += imageops.Halo(call)
		c.moves = c.moves || call.Spec().Strips != nil && call.Spec().Halo == nil && !call.Spec().MayOverwrite(0, 0)
	}
	// The filters' kernels for CPU drivers need rows that begin on a texel of four pixels.
	// Pointwise operations do not need that.
	c.padded = c.halo > 0 || c.moves
	c.lay()
	return c, nil
}

// lay chooses the pitches of the pictures.
func (c *imageChain) lay() {
	for i := range c.pictures {
		c.pictures[i] = c.desc(i, c.pictures[i].Shape[0])
	}
}

// inputs describes the whole inputs of call i.
func (c *imageChain) inputs(i int) []tensor.Desc {
	in := c.pictures[i : i+1 : i+1]
	for _, m := range c.further[i] {
		in = append(in, spec.PictureDesc(m, c.dtype))
	}
	return in
}

// desc describes h rows of picture i on the device. For an operation that takes only contiguous
// pictures, the operands would have to be copied if there were gaps between rows.
func (c *imageChain) desc(i, h int) tensor.Desc {
	desc := tensor.Contiguous(c.dtype, h, c.pictures[i].Shape[1], 4)
	if w := desc.Shape[1]; c.padded && w%4 != 0 {
		wide := desc
		wide.Strides = []int{4 * ((w + 3) &^ 3), 4, 1}
		if (i == 0 || c.calls[i-1].Spec().TakesOutput(0, wide)) && (i == len(c.calls) || c.calls[i].Spec().TakesInput(0, wide)) {
			return wide
		}
	}
	return desc
}

// pitch is the number of pixels from row to row of picture i on the device.
func (c *imageChain) pitch(i int) int {
	d := c.pictures[i]
	if d.Strides == nil {
		return d.Shape[1]
	}
	return d.Strides[0] / 4
}

// bytes is the size of h rows of picture i on the device.
func (c *imageChain) bytes(i, h int) int64 {
	return 4 * int64(c.dtype.Size()) * int64(c.pitch(i)) * int64(h)
}

// size is the size of the result in pixels.
func (c *imageChain) size() image.Point {
	shape := c.pictures[c.last()].Shape
	return image.Pt(shape[1], shape[0])
}

// last is the number of the result among the pictures.
func (c *imageChain) last() int { return len(c.calls) }

// imageStrip is how some rows of the result are computed.
type imageStrip struct {
	calls   []spec.Call
	rows    []spec.RowRange   // what the strip has of each picture
	further [][]spec.RowRange // what each call has of its further pictures
	want    spec.RowRange     // the rows of the result
}

// stripOf returns how rows of the result are computed.
func (c *imageChain) stripOf(want spec.RowRange) imageStrip {
	n := c.last()
	need := make([]spec.RowRange, n+1)
	need[n] = want
	for i := n - 1; i >= 0; i-- {
		need[i] = imageops.Need(c.calls[i], c.inputs(i), 0, need[i+1])
	}
	s := imageStrip{rows: []spec.RowRange{need[0]}, want: want}
	for i, call := range c.calls {
		in, have := c.inputs(i), s.rows[i:i+1:i+1]
		for k := 1; k < len(in); k++ {
			have = append(have, imageops.Need(call, in, k, need[i+1]))
		}
		part, made := imageops.Part(call, in, have, need[i+1])
		s.calls, s.rows, s.further = append(s.calls, part), append(s.rows, made), append(s.further, have[1:])
	}
	return s
}

// moving reports whether some pixels do not stay where they are, in strips whose pictures have at
// most size bytes. An operation that can work in place may still need other rows for its first
// input, such as the mirrored ones. That does not matter while there is only one strip.
func (c *imageChain) moving(size int64) bool {
	inPlace := func(call spec.Call) bool { return call.Spec().Strips != nil && call.Spec().MayOverwrite(0, 0) }
	if c.moves || !slices.ContainsFunc(c.calls, inPlace) {
		return c.moves
	}
	strips := c.strips(size)
	for i, call := range c.calls {
		for _, s := range strips {
			if want := s.rows[i+1]; len(strips) > 1 && inPlace(call) && imageops.Need(call, c.inputs(i), 0, want) != want {
				return true
			}
		}
	}
	return false
}

// part describes what a strip has of picture i on the device.
func (c *imageChain) part(s imageStrip, i int) tensor.Desc {
	return c.desc(i, s.rows[i].To-s.rows[i].From)
}

// most is the size in bytes of the largest picture of a strip on the device.
func (c *imageChain) most(s imageStrip) int64 {
	var most int64
	for i, r := range s.rows {
		most = max(most, c.bytes(i, r.To-r.From))
	}
	for i, list := range s.further {
		for k := range list {
			most = max(most, c.furtherDesc(s, i, k).Bytes())
		}
	}
	return most
}

// strips divides the result into strips whose pictures have at most size bytes each, or the
// fewest rows that a strip may have. A picture that a strip of so few rows needs whole, such as the
// source of one that is turned, may be as large as that. Strips that are smaller
// would only send it more often.
func (c *imageChain) strips(size int64) []imageStrip {
	h := c.pictures[c.last()].Shape[0]
	limits := make([]int64, len(c.pictures))
	for i := range limits {
		limits[i] = size
	}
	list, over := c.stripsOf(h, limits)
	if over <= 1 || h <= leastStripRows {
		return list
	}
	least, _ := c.stripsOf(leastStripRows, nil)
	for _, s := range least {
		for i, r := range s.rows {
			if bytes := c.bytes(i, r.To-r.From); bytes > size {
				limits[i] = max(limits[i], 2*bytes) // Some more rows may need a little more of it.
			}
		}
	}
	for n := h; n > leastStripRows; n = max(leastStripRows, min(n-1, int(float64(n)/over))) {
		if list, over = c.stripsOf(n, limits); over <= 1 {
			return list
		}
	}
	return least
}

// stripsOf divides the result into strips of n rows. over is by what factor their pictures exceed
// limits at most. It stops at the first strip that exceeds one.
func (c *imageChain) stripsOf(n int, limits []int64) (list []imageStrip, over float64) {
	h := c.pictures[c.last()].Shape[0]
	for top := 0; top < h; top += n {
		s := c.stripOf(spec.RowRange{From: top, To: min(top+n, h)})
		list = append(list, s)
		for i := range limits {
			over = max(over, float64(c.bytes(i, s.rows[i].To-s.rows[i].From))/float64(max(limits[i], 1)))
		}
		if over > 1 {
			break
		}
	}
	return list, over
}

// largest is the size in bytes of the largest picture of the strips.
func (c *imageChain) largest(strips []imageStrip) int64 {
	var most int64
	for _, s := range strips {
		most = max(most, c.most(s))
	}
	return most
}

// inPlace reports whether all calls can work in place.
func (c *imageChain) inPlace() bool {
	for i := range c.calls {
		if !c.overwrites(i) {
			return false
		}
	}
	return true
}

// overwrites reports whether call i can work in place. Its result must then lie as its source does.
func (c *imageChain) overwrites(i int) bool {
	return c.calls[i].Spec().MayOverwrite(0, 0) && c.pitch(i) == c.pitch(i+1)
}
