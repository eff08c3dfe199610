package pixels

import (
	"encoding/binary"
	"image"
	"sync/atomic"
)

// Opaque reports whether every pixel of m is known to be opaque. It reads the pixels of
// the types that decoders make, unless the type has no alpha. For a type that it does not
// know it returns false. m must have passed Check.
func Opaque(m image.Image) bool {
	switch m := m.(type) {
	case *image.YCbCr, *image.Gray, *image.Gray16, *image.CMYK:
		return true
	case *image.NRGBA:
		return opaque(m.Pix, m.Stride, m.Rect)
	case *image.RGBA:
		return opaque(m.Pix, m.Stride, m.Rect)
	case *image.Paletted:
		return m.Opaque()
	}
	return false
}

// alpha masks the alpha bytes of two pixels.
const alpha = 0xFF000000FF000000

// opaque8 reports whether eight pixels are opaque.
func opaque8(p []byte) bool {
	_ = p[31]
	return binary.LittleEndian.Uint64(p)&binary.LittleEndian.Uint64(p[8:])&
		binary.LittleEndian.Uint64(p[16:])&binary.LittleEndian.Uint64(p[24:])&alpha == alpha
}

// opaque reads rows of RGBA bytes, 32 bytes at a time and on all processors.
func opaque(pix []byte, stride int, r image.Rectangle) bool {
	var clear atomic.Bool
	n := 4 * r.Dx()
	EachRow(n, r.Dy(), func(y int) {
		if clear.Load() {
			return
		}
		row := pix[y*stride : y*stride+n]
		for ; len(row) >= 32; row = row[32:] {
			if !opaque8(row) {
				clear.Store(true)
				return
			}
		}
		for ; len(row) > 0; row = row[4:] {
			if row[3] != 0xFF {
				clear.Store(true)
				return
			}
		}
	})
	return !clear.Load()
}

// Premultiply multiplies the colours of h rows of w pixels by their alpha, in place and on
// all processors. The rows are RGBA bytes and begin stride bytes apart. The results are those
// of color.RGBAModel for color.NRGBA.
func Premultiply(pix []byte, stride, w, h int) {
	EachRow(4*w, h, func(y int) {
		row := pix[y*stride : y*stride+4*w]
		for ; len(row) >= 32; row = row[32:] {
			if !opaque8(row) {
				premultiply(row[:32])
			}
		}
		premultiply(row)
	})
}

// premultiply is Premultiply of one row.
func premultiply(row []byte) {
	for ; len(row) >= 4; row = row[4:] {
		// As the method RGBA of color.NRGBA, which has 16 bits for each value, and then its
		// upper 8 bits.
		a := uint32(row[3]) * 0x101
		row[0] = byte(uint32(row[0]) * a / 0xFF >> 8)
		row[1] = byte(uint32(row[1]) * a / 0xFF >> 8)
		row[2] = byte(uint32(row[2]) * a / 0xFF >> 8)
	}
}
