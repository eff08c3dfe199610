package imageio

import (
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"io"

	"github.com/lathe-gpu/lathe/internal/pixels"
)

// The PNG encoder of the standard library writes neither grey with alpha nor greys of less than 8 bits. Their
// rows have the same bytes as those of other kinds that it writes, so recast changes the header.

// packedGrey is a grey picture whose rows have the bytes of another kind: Image has them in its Pix.
type packedGrey struct {
	image.Image      // what the encoder gets
	depth, kind byte // of the file
	colours     int  // in the palette of Image, which the file does not have
}

// Opaque keeps the encoder from leaving out what it takes for alpha.
func (g *packedGrey) Opaque() bool { return false }

// bytes are the rows, each with the high byte of a sample first.
func (g *packedGrey) bytes() (pix []byte, stride int) {
	switch m := g.Image.(type) {
	case *image.Gray16:
		return m.Pix, m.Stride
	case *image.NRGBA:
		return m.Pix, m.Stride
	case *image.Paletted:
		return m.Pix, m.Stride
	}
	return nil, 0
}

const (
	kindGrey      = 0
	kindGreyAlpha = 4
)

// fewGreys returns the image as greys of 1, 2 or 4 bits, and nil if it has other colours.
func fewGreys(img image.Image, depth int) *packedGrey {
	size, levels := img.Bounds().Size(), 1<<depth
	m := image.NewPaletted(image.Rectangle{Max: size}, nil)
	for i := range levels {
		m.Palette = append(m.Palette, color.Gray{Y: uint8(i * 255 / (levels - 1))})
	}
	step := byte(255 / (levels - 1))
	rows, line := pixels.Rows(img), make([]byte, 4*size.X)
	for y := range size.Y {
		rows(line, y)
		dst := m.Pix[y*m.Stride : (y+1)*m.Stride]
		if !greyRow(dst, line, 1) {
			return nil
		}
		for x, v := range dst {
			if v%step != 0 {
				return nil
			}
			dst[x] = v / step
		}
	}
	return &packedGrey{m, byte(depth), kindGrey, levels}
}

// withAlpha returns the image as greys with alpha, and nil if it has other colours.
func withAlpha(img image.Image, deep bool) *packedGrey {
	size := img.Bounds().Size()
	if deep {
		m := image.NewNRGBA(image.Rectangle{Max: size}) // of two bytes of grey and two of alpha
		rows, line := pixels.Rows16(img), make([]byte, 8*size.X)
		for y := range size.Y {
			rows(line, y)
			for x := range size.X {
				p, dst := line[8*x:8*x+8:8*x+8], m.Pix[y*m.Stride+4*x:]
				if v := [2]byte(p); v != [2]byte(p[2:]) || v != [2]byte(p[4:]) {
					return nil
				}
				dst[0], dst[1], dst[2], dst[3] = p[0], p[1], p[6], p[7]
			}
		}
		return &packedGrey{m, 16, kindGreyAlpha, 0}
	}
	m := image.NewGray16(image.Rectangle{Max: size}) // of a byte of grey and one of alpha
	rows, line := pixels.Rows(img), make([]byte, 4*size.X)
	for y := range size.Y {
		rows(line, y)
		for x := range size.X {
			p, dst := line[4*x:4*x+4:4*x+4], m.Pix[y*m.Stride+2*x:]
			if p[0] != p[1] || p[0] != p[2] {
				return nil
			}
			dst[0], dst[1] = p[0], p[3]
		}
	}
	return &packedGrey{m, 8, kindGreyAlpha, 0}
}

// writePNG writes a picture.
func writePNG(w io.Writer, img image.Image, level int) error {
	e := png.Encoder{CompressionLevel: pngLevel(level)}
	g, ok := img.(*packedGrey)
	switch {
	case !ok:
		return e.Encode(w, img)
	case g.depth == 16:
		return e.Encode(&recast{w: w, packedGrey: g}, g) // g is not opaque, whatever its bytes are
	}
	return e.Encode(&recast{w: w, packedGrey: g}, g.Image)
}

// recast changes the header of a PNG file to that of a grey one, and leaves out the palette.
type recast struct {
	w io.Writer
	*packedGrey
	head []byte
	done bool
}

func (r *recast) Write(p []byte) (int, error) {
	if r.done {
		return r.w.Write(p)
	}
	r.head = append(r.head, p...)
	whole := pngHead
	if r.colours > 0 {
		whole += 12 + 3*r.colours
	}
	if len(r.head) < whole {
		return len(p), nil
	}
	r.done = true
	fields := r.head[12:pngHead] // from the name of the chunk to its sum
	fields[12], fields[13] = r.depth, r.kind
	binary.BigEndian.PutUint32(fields[17:], crc32.ChecksumIEEE(fields[:17]))
	if _, err := r.w.Write(r.head[:pngHead]); err != nil {
		return 0, err
	}
	if _, err := r.w.Write(r.head[whole:]); err != nil {
		return 0, err
	}
	return len(p), nil
}
