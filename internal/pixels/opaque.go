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

// opaque reads rows of RGBA bytes on all processors.
func opaque(pix []byte, stride int, r image.Rectangle) bool {
	var clear atomic.Bool
	n := 4 * r.Dx()
	EachRow(n, r.Dy(), func(y int) {
		if !clear.Load() && !opaqueRow(pix[y*stride:y*stride+n]) {
			clear.Store(true)
		}
	})
	return !clear.Load()
}

// opaqueRow reads a row, 64 bytes at a time, which is as fast as memory is. A branch for every
// few pixels would take twice as long.
func opaqueRow(row []byte) bool {
	const alpha = 0xFF000000FF000000 // of two pixels
	all := uint64(alpha)
	for ; len(row) >= 64; row = row[64:] {
		r := row[:64:64]
		a := binary.LittleEndian.Uint64(r) & binary.LittleEndian.Uint64(r[8:])
		b := binary.LittleEndian.Uint64(r[16:]) & binary.LittleEndian.Uint64(r[24:])
		c := binary.LittleEndian.Uint64(r[32:]) & binary.LittleEndian.Uint64(r[40:])
		d := binary.LittleEndian.Uint64(r[48:]) & binary.LittleEndian.Uint64(r[56:])
		all &= a & b & c & d
	}
	for ; len(row) >= 4; row = row[4:] {
		all &= uint64(binary.LittleEndian.Uint32(row))<<32 | 0xFF000000
	}
	return all&alpha == alpha
}

// Premultiply multiplies the colours of h rows of w pixels by their alpha, in place and on
// all processors. The rows are RGBA bytes and begin stride bytes apart. The results are those
// of color.RGBAModel for color.NRGBA.
func Premultiply(pix []byte, stride, w, h int) {
	EachRow(4*w, h, func(y int) {
		if row := pix[y*stride : y*stride+4*w]; !opaqueRow(row) {
			premultiply(row)
		}
	})
}

// premultiply is Premultiply of one row.
func premultiply(row []byte) {
	for ; len(row) >= 4; row = row[4:] {
		// As the method RGBA of color.NRGBA, which has 16 bits for each value, and then its
		// upper 8 bits.
		if a := uint32(row[3]) * 0x101; a != 0xFFFF {
			row[0] = byte(uint32(row[0]) * a / 0xFF >> 8)
			row[1] = byte(uint32(row[1]) * a / 0xFF >> 8)
			row[2] = byte(uint32(row[2]) * a / 0xFF >> 8)
		}
	}
}

// OverWhite lays m over white, in place and on all processors. m must have passed Check.
func OverWhite(m *image.NRGBA) {
	n := 4 * m.Rect.Dx()
	EachRow(n, m.Rect.Dy(), func(y int) {
		row := m.Pix[y*m.Stride : y*m.Stride+n]
		if opaqueRow(row) {
			return
		}
		for ; len(row) >= 4; row = row[4:] {
			a := uint32(row[3])
			if a == 255 {
				continue
			}
			for c := range 3 {
				row[c] = byte((uint32(row[c])*a + 255*(255-a) + 127) / 255)
			}
			row[3] = 255
		}
	})
}
