package imageio

import (
	"context"
	"image"
	"image/color"

	"github.com/lathe-gpu/lathe/internal/jpeg"
)

// AtLeast returns a Decoder of the same picture that may decode it smaller, because that is faster and
// takes less memory. A JPEG file can be decoded at a half, a quarter and an eighth of its size, with
// sides rounded up. AtLeast chooses the smallest of them of which the upright image is at least
// width×height pixels, not counting an edge whose pixels are made of fewer. If there is none, and for other formats, it returns d. Both being 0 mean the whole picture,
// and one of them that this side does not matter.
//
// Info of the result has its size and memory. Its DecodeTo reads all of the file too, but is stricter: it
// refuses files of which a little is wrong. After any error of it but ctx.Err(), decode with d, whose error
// or picture counts. Decode does so by itself.
func (d *Decoder) AtLeast(width, height int) *Decoder {
	if d == nil || d.head == nil {
		return d
	}
	if d.whole != nil {
		d = d.whole
	}
	by := smallest(d.info.Full, image.Pt(width, height))
	if by == 1 || d.head.smaller == nil {
		return d
	}
	small := &Decoder{src: d.src, page: d.page, info: d.info, head: d.head.smaller(by), whole: d}
	small.info.Width, small.info.Height = small.head.size()
	small.info.Memory = small.head.cost + d.src.held()
	return small
}

// smallest is by how much a picture of a size may be made smaller, so that it is at least so large.
func smallest(size, want image.Point) int {
	if want.X <= 0 && want.Y <= 0 {
		return 1
	}
	for by := 8; by > 1; by /= 2 {
		if size.X/by >= max(want.X, 1) && size.Y/by >= max(want.Y, 1) {
			return by
		}
	}
	return 1
}

// decodeSmaller is decodeNew for a picture that may be decoded smaller.
func (d *Decoder) decodeSmaller(ctx context.Context, want image.Point) (image.Image, Info, error) {
	if small := d.AtLeast(want.X, want.Y); small != d {
		m, err := small.decodeNew(ctx, false)
		if err == nil || ctx.Err() != nil {
			return m, small.info, err
		}
	}
	m, err := d.decodeNew(ctx, d.wide)
	return m, d.info, err
}

// shrinkable lets the header of a JPEG file be decoded smaller.
func (h *header) shrinkable(j *jpegInfo, m color.Model) {
	whole := *h
	h.smaller = func(by int) *header {
		s := whole
		s.turn, s.meta = h.turn, h.meta // which may have changed
		s.width, s.height = (whole.width+by-1)/by, (whole.height+by-1)/by
		plain := m == color.YCbCrModel || m == color.GrayModel
		s.cost = 4*int64(s.width)*int64(s.height) + h.meta.size() +
			jpeg.Memory(whole.width, whole.height, j.parts, j.samples, plain, j.progressive, by)
		s.read = func(v *view, dst canvas) error {
			m, err := jpeg.Decode(v.reader(), by)
			if err != nil {
				return err
			}
			return s.layImage(dst, m, false)
		}
		return &s
	}
}
