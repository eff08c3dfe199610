package lathe

import (
	"image"
	"unsafe"
)

// shifted reports whether src shares memory with dst while a pixel of src lies elsewhere in
// it than the same pixel of dst. If moves is set, pixels of dst come from other pixels of src
// in any case. It knows Go's image types. Both images pass pixels.Check. Without moves they
// have the same size.
func shifted(src image.Image, dst *image.NRGBA, moves bool) bool {
	to := pixelBytes(dst.Pix, dst.Stride, dst.Rect)
	switch m := src.(type) {
	case *image.NRGBA:
		return shiftedBytes(pixelBytes(m.Pix, m.Stride, m.Rect), to, !moves && m.Stride == dst.Stride)
	case *image.RGBA:
		return shiftedBytes(pixelBytes(m.Pix, m.Stride, m.Rect), to, !moves && m.Stride == dst.Stride)
	}
	for _, from := range planes(src) {
		if sharesMemory(from, to) {
			return true
		}
	}
	return false
}

// shiftedBytes is shifted for the bytes of two images with 4 bytes a pixel.
func shiftedBytes(from, to []byte, sameStride bool) bool {
	return sharesMemory(from, to) && !(sameStride && &from[0] == &to[0])
}

// pixelBytes returns the bytes of an image with 4 bytes a pixel, from the first pixel to the
// last.
func pixelBytes(pix []byte, stride int, r image.Rectangle) []byte {
	if r.Empty() {
		return nil
	}
	return pix[:stride*(r.Dy()-1)+4*r.Dx()]
}

// planes returns the memory of an image of another type.
func planes(src image.Image) [][]byte {
	switch m := src.(type) {
	case *image.Alpha:
		return [][]byte{m.Pix}
	case *image.Alpha16:
		return [][]byte{m.Pix}
	case *image.CMYK:
		return [][]byte{m.Pix}
	case *image.Gray:
		return [][]byte{m.Pix}
	case *image.Gray16:
		return [][]byte{m.Pix}
	case *image.NRGBA64:
		return [][]byte{m.Pix}
	case *image.RGBA64:
		return [][]byte{m.Pix}
	case *image.Paletted:
		return [][]byte{m.Pix}
	case *image.YCbCr:
		return [][]byte{m.Y, m.Cb, m.Cr}
	case *image.NYCbCrA:
		return [][]byte{m.Y, m.Cb, m.Cr, m.A}
	}
	return nil
}

// sharesMemory reports whether two slices have a byte in common.
func sharesMemory(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	from, to := uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return from < to+uintptr(len(b)) && to < from+uintptr(len(a))
}
