package pixels

import (
	"encoding/binary"
	"image"
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

// opaque reads rows of RGBA bytes, 32 bytes at a time. That is faster than a copy of the
// picture.
func opaque(pix []byte, stride int, r image.Rectangle) bool {
	const alpha = 0xFF000000FF000000
	n := 4 * r.Dx()
	for y := range r.Dy() {
		row := pix[y*stride : y*stride+n]
		for ; len(row) >= 32; row = row[32:] {
			all := binary.LittleEndian.Uint64(row) & binary.LittleEndian.Uint64(row[8:]) &
				binary.LittleEndian.Uint64(row[16:]) & binary.LittleEndian.Uint64(row[24:])
			if all&alpha != alpha {
				return false
			}
		}
		for ; len(row) > 0; row = row[4:] {
			if row[3] != 0xFF {
				return false
			}
		}
	}
	return true
}
