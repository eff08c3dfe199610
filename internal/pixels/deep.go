package pixels

import (
	"image"
	"image/color"
)

// Rows16 is Rows for rows of non-premultiplied RGBA with 16 bits a channel, the high byte first, as
// an *image.NRGBA64 has them. Samples of 8 bits are multiplied by 257.
func Rows16(src image.Image) func(dst []byte, y int) {
	b := src.Bounds()
	w := b.Dx()
	switch m := src.(type) {
	case *image.NRGBA64:
		return func(dst []byte, y int) {
			o := m.PixOffset(b.Min.X, b.Min.Y+y)
			copy(dst, m.Pix[o:o+8*w])
		}
	case *image.RGBA64:
		return func(dst []byte, y int) {
			o := m.PixOffset(b.Min.X, b.Min.Y+y)
			unpremultiply16(dst[:8*w], m.Pix[o:o+8*w])
		}
	case *image.Gray16:
		return func(dst []byte, y int) {
			o := m.PixOffset(b.Min.X, b.Min.Y+y)
			s := m.Pix[o : o+2*w]
			for x := range w {
				hi, lo := s[2*x], s[2*x+1]
				d := dst[8*x : 8*x+8 : 8*x+8]
				d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7] = hi, lo, hi, lo, hi, lo, 255, 255
			}
		}
	case *image.NRGBA, *image.RGBA, *image.YCbCr, *image.NYCbCrA, *image.Gray, *image.Paletted:
		rows := Rows(src)
		return func(dst []byte, y int) {
			// The narrow row lies in the second half, and is read before it is overwritten.
			rows(dst[4*w:8*w], y)
			for i := range 4 * w {
				v := dst[4*w+i]
				dst[2*i], dst[2*i+1] = v, v
			}
		}
	}
	return func(dst []byte, y int) {
		for x := range w {
			c := color.NRGBA64Model.Convert(src.At(b.Min.X+x, b.Min.Y+y)).(color.NRGBA64)
			d := dst[8*x : 8*x+8 : 8*x+8]
			d[0], d[1], d[2], d[3] = byte(c.R>>8), byte(c.R), byte(c.G>>8), byte(c.G)
			d[4], d[5], d[6], d[7] = byte(c.B>>8), byte(c.B), byte(c.A>>8), byte(c.A)
		}
	}
}

// unpremultiply16 divides the colours of a row by their alpha.
func unpremultiply16(dst, src []byte) {
	copy(dst, src)
	for i := 0; i+7 < len(dst); i += 8 {
		d := dst[i : i+8 : i+8]
		a := uint64(d[6])<<8 | uint64(d[7])
		if a == 0xffff {
			continue
		}
		for c := 0; c < 6; c += 2 {
			var v uint64
			if a != 0 {
				v = min((uint64(d[c])<<8|uint64(d[c+1]))*0xffff+a/2, 0xffff*a+a/2) / a
			}
			d[c], d[c+1] = byte(v>>8), byte(v)
		}
	}
}

// Deep reports whether the image has more than 8 bits a channel.
func Deep(m image.Image) bool {
	switch m.ColorModel() {
	case color.Gray16Model, color.RGBA64Model, color.NRGBA64Model, color.Alpha16Model:
		return true
	}
	return false
}

// Rounded returns a picture of 16 bits a channel with 8 bits, each rounded to nearest.
func Rounded(m *image.NRGBA64) *image.NRGBA {
	b := m.Bounds()
	out, rows := image.NewNRGBA(image.Rect(0, 0, b.Dx(), b.Dy())), Rows(m)
	for y := range b.Dy() {
		rows(out.Pix[y*out.Stride:(y+1)*out.Stride], y)
	}
	return out
}
