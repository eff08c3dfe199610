package imageio

import (
	"encoding/binary"
	"image"
	"image/color"
	"sync/atomic"

	"github.com/lathe-gpu/lathe/internal/pixels"
)

// blackWhite is the palette of pictures of one bit.
var blackWhite = color.Palette{color.Gray{}, color.Gray{Y: 255}}

// like returns the image as a type of as few bits as the file of src had, if its pixels are such:
// grey, a palette, or black and white. It returns img if they are not, and for a src of nil.
func like(img image.Image, src *Info, f Format) image.Image {
	if src == nil || f == WebP || f == AVIF || f == GIF || !src.Grey && src.Palette == 0 {
		return img
	}
	switch img.(type) {
	case *image.Gray, *image.Gray16, *image.Paletted:
		return img
	}
	deep := pixels.Deep(img)
	// A palette has colours, and so no profile for grey.
	forGrey := src.Grey && src.Metadata != nil && profileOf(src.Metadata.ICC) == "GRAY"
	if src.Palette > 0 && f != JPEG && !deep && !forGrey {
		if m := byPalette(img, 256, f == TIFF); m != nil {
			return m
		}
	}
	if !src.Grey || f == PNG && src.Metadata != nil && profileOf(src.Metadata.ICC) == "RGB" {
		return img // A PNG file must not have such a profile without colours.
	}
	if !opaque(img) {
		if f != PNG && f != TIFF {
			return img
		}
		if m := withAlpha(img, deep); m != nil {
			return m
		}
		return img
	}
	switch {
	case deep:
		if m := image.NewGray16(image.Rectangle{Max: img.Bounds().Size()}); greyRows(img, m.Pix, m.Stride, true) {
			return m
		}
		return img
	case f == PNG && (src.Depth == 1 || src.Depth == 2 || src.Depth == 4):
		if m := fewGreys(img, src.Depth); m != nil {
			return m
		}
	case f == TIFF && src.Depth == 1:
		if m := byPalette(img, 2, true); m != nil {
			return m
		}
	}
	if m := image.NewGray(image.Rectangle{Max: img.Bounds().Size()}); greyRows(img, m.Pix, m.Stride, false) {
		return m
	}
	return img
}

// greyRows writes the greys of an image to pix, and reports whether all pixels are opaque greys.
func greyRows(img image.Image, pix []byte, stride int, deep bool) bool {
	size := img.Bounds().Size()
	rows, wide, one := pixels.Rows(img), 4, 1
	if deep {
		rows, wide, one = pixels.Rows16(img), 8, 2
	}
	var coloured atomic.Bool
	const band = 64
	pixels.Parallel((size.Y+band-1)/band, 0, func(next func() (int, bool)) {
		line := make([]byte, wide*size.X)
		for i, ok := next(); ok; i, ok = next() {
			for y := i * band; y < min((i+1)*band, size.Y) && !coloured.Load(); y++ {
				rows(line, y)
				if !greyRow(pix[y*stride:y*stride+one*size.X], line, one) {
					coloured.Store(true)
				}
			}
		}
	})
	return !coloured.Load()
}

// greyRow writes the greys of a row, with one or two bytes a channel.
func greyRow(dst, line []byte, one int) bool {
	if one == 1 {
		for x := range dst {
			p := line[4*x : 4*x+4 : 4*x+4]
			if p[0] != p[1] || p[0] != p[2] || p[3] != 255 {
				return false
			}
			dst[x] = p[0]
		}
		return true
	}
	for x := range len(dst) / 2 {
		p := line[8*x : 8*x+8 : 8*x+8]
		v := binary.BigEndian.Uint16(p)
		if v != binary.BigEndian.Uint16(p[2:]) || v != binary.BigEndian.Uint16(p[4:]) || p[6] != 255 || p[7] != 255 {
			return false
		}
		binary.BigEndian.PutUint16(dst[2*x:], v)
	}
	return true
}

// byPalette returns the image by a palette of its colours, in the order of their first pixels, and nil if they
// are more than most, or transparent where they must be solid. Black and white come in that order.
func byPalette(img image.Image, most int, solid bool) *image.Paletted {
	size := img.Bounds().Size()
	rows, line := pixels.Rows(img), make([]byte, 4*size.X)
	m := image.NewPaletted(image.Rectangle{Max: size}, nil)
	known := map[[4]byte]byte{}
	if most == 2 {
		m.Palette = blackWhite
		known[[4]byte{0, 0, 0, 255}], known[[4]byte{255, 255, 255, 255}] = 0, 1
	}
	for y := range size.Y {
		rows(line, y)
		var last [4]byte
		have, index := false, byte(0)
		for x, dst := 0, m.Pix[y*m.Stride:(y+1)*m.Stride]; x < len(dst); x++ {
			c := [4]byte(line[4*x : 4*x+4])
			if !have || c != last {
				var ok bool
				if index, ok = known[c]; !ok {
					if len(known) == most || solid && c[3] != 255 {
						return nil
					}
					index = byte(len(known))
					known[c] = index
					m.Palette = append(m.Palette, color.NRGBA{c[0], c[1], c[2], c[3]})
				}
				last, have = c, true
			}
			dst[x] = index
		}
	}
	return m
}

func isBlackWhite(p color.Palette) bool {
	return len(p) == 2 && p[0] == blackWhite[0] && p[1] == blackWhite[1]
}
