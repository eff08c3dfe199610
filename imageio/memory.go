package imageio

import (
	"fmt"
	"image"
	"image/color"
	"io"
)

// What the decoders of the standard library hold for a picture: their result, but not the
// picture that the result is converted to. The numbers are approximate.

const tableBytes = 1 << 20 // tables and rows

func (j *jpegInfo) decodeBytes(c image.Config) int64 {
	w, h := int64(c.Width), int64(c.Height)
	return int64(j.bytesPerPixel(c.ColorModel)*float64((w+31)&^15)*float64((h+31)&^15)) + tableBytes
}

func (p *pngInfo) decodeBytes(c image.Config) int64 {
	m := c.ColorModel
	per := storedBytes(m)
	if _, palette := m.(color.Palette); p.transparent && !palette {
		per = 4
		if m == color.Gray16Model || m == color.RGBA64Model {
			per = 8
		}
	}
	if p.interlaced { // the passes are pictures of their own, as large in all
		per *= 2
	}
	return int64(per)*int64(c.Width)*int64(c.Height) + 20*int64(c.Width) + tableBytes
}

func gifBytes(c image.Config) int64 {
	return int64(storedBytes(c.ColorModel))*int64(c.Width)*int64(c.Height) + tableBytes
}

// storedBytes is how many bytes a pixel takes in the picture a decoder returns.
func storedBytes(m color.Model) int {
	switch m {
	case color.RGBA64Model, color.NRGBA64Model:
		return 8
	case color.YCbCrModel:
		return 3
	case color.GrayModel:
		return 1
	case color.Gray16Model:
		return 2
	}
	if _, ok := m.(color.Palette); ok {
		return 1
	}
	return 4
}

// samplings are the names of how many pixels share a colour, across and down.
var samplings = map[[2]int]string{{1, 1}: "4:4:4", {2, 1}: "4:2:2", {1, 2}: "4:4:0", {2, 2}: "4:2:0", {4, 1}: "4:1:1", {4, 2}: "4:1:0"}

// frame reads the frame's header from r.
func (j *jpegInfo) frame(r io.Reader, marker byte, size int64) {
	var b [6 + 3*4]byte
	n, _ := io.ReadFull(r, b[:min(size, int64(len(b)))])
	if n < 6 {
		return
	}
	j.coding, j.progressive, j.depth, j.parts = marker, marker == 0xc2, b[0], int(b[5])
	// Both colours are alike. Black, of CMYK, is as the first component.
	if (j.parts == 3 && n >= 15 || j.parts == 4 && n >= 18 && b[16] == b[7]) && b[10] == b[13] {
		across, down := int(b[7]>>4)*16/max(int(b[10]>>4), 1), int(b[7]&15)*16/max(int(b[10]&15), 1)
		j.sampling = samplings[[2]int{across / 16, down / 16}]
		if across%16 != 0 || down%16 != 0 {
			j.sampling = ""
		}
	}
	var most, first, sum int
	for i := 6; i+3 <= n; i += 3 {
		area := int(b[i+1]>>4) * int(b[i+1]&15)
		if i == 6 {
			first = area
		}
		most, sum = max(most, area), sum+area
	}
	j.samples = float64(j.parts)
	if first == most && most > 0 && j.parts < 4 { // else the decoder widens all to the same size
		j.samples = float64(sum) / float64(most)
	}
}

// bytesPerPixel is the number of bytes that the decoder holds for a pixel: the planes, the
// picture that it makes of them, and for a progressive picture all coefficients until the
// last scan.
func (j *jpegInfo) bytesPerPixel(m color.Model) float64 {
	n := max(j.samples, 1)
	if j.progressive {
		n *= 5
	}
	if m == color.CMYKModel || m == color.RGBAModel {
		n += 4
	}
	return n
}

// unread names a feature of the file that the decoder does not read, or "".
func (j *jpegInfo) unread() string {
	switch {
	case j.coding == 0xc3 || j.coding == 0xc7 || j.coding == 0xcb || j.coding == 0xcf:
		return "lossless compression"
	case j.coding >= 0xc9:
		return "arithmetic coding"
	case j.coding >= 0xc5:
		return "hierarchical compression"
	case j.depth > 8:
		return fmt.Sprintf("%d bits a sample", j.depth)
	}
	return ""
}
