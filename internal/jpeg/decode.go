package jpeg

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"io"
)

// Decode reads a JPEG file and returns its picture at a half, a quarter or an eighth of its size: by is
// 2, 4 or 8, and sides are rounded up. It computes no pixel of the full size. Colours that are
// stored at a lower resolution are made smaller by less, so that the result has all colours at full
// resolution: it is an *image.YCbCr of 4:4:4, an *image.Gray, an *image.RGBA or an *image.CMYK.
//
// It reads what the standard library reads, and is stricter. It refuses all that the standard library
// refuses, so that no damage stays unseen, and also files that are a little wrong.
func Decode(r io.Reader, by int) (image.Image, error) {
	if by != 2 && by != 4 && by != 8 {
		return nil, fmt.Errorf("a picture cannot be made smaller by %d", by)
	}
	d := &decoder{by: by, bits: bits{r: r, buf: make([]byte, 64<<10)}}
	if err := d.segments(); err != nil {
		return nil, err
	}
	return d.image()
}

// Memory is about how many bytes Decode takes for a picture of some parts (colour components), of
// which all together have a number of samples a pixel. ycc is whether it is grey or an *image.YCbCr.
func Memory(width, height, parts int, samples float64, ycc, progressive bool, by int) int64 {
	pixels := int64((width+31)/by+1) * int64((height+31)/by+1)
	n := int64(parts) * pixels
	if !ycc {
		n += 4 * pixels
	}
	if progressive {
		// The first part is not subsampled. The others have larger blocks if they are.
		count := map[int]float64{1: 64, 2: 49, 4: 25, 8: 1}
		bytes, rest := 8+2*count[by], 8+2*count[by]
		if samples < float64(parts) {
			rest = 8 + 2*count[by/2]
		}
		n += int64(float64(width+31) * float64(height+31) / 64 * (bytes + (samples-1)*rest))
	}
	return n + 1<<20
}

// The markers of segments.
const (
	markSOF0, markSOF1, markSOF2   = 0xc0, 0xc1, 0xc2
	markDHT, markRST0, markEOI     = 0xc4, 0xd0, 0xd9
	markSOS, markDQT, markDRI      = 0xda, 0xdb, 0xdd
	markAPP0, markAPP14, markAPP15 = 0xe0, 0xee, 0xef
	markCOM                        = 0xfe
)

// decoder is the state of Decode.
type decoder struct {
	bits
	by            int
	width, height int
	sequential    bool // baseline, in which there are two tables of each kind
	progressive   bool
	parts         []*part
	acrossMost    int // of the parts' samples
	downMost      int
	mcusX, mcusY  int // groups of blocks that lie at the same place
	interval      int // groups between restarts; 0 means that there are none
	quant         [4]*[64]int32
	codes         [2][4]*decoding // of means, and of the other coefficients
	jfif          bool
	adobe         bool
	transform     byte // of colours, by Adobe
	ends          int  // blocks that have no further coefficients in this scan
	block         [64]int32
}

// part is one of the picture's colour components.
type part struct {
	id, table      byte
	h, v           int // samples, by the side of the other parts
	across, down   int // points to make of a block
	wide, high     int // pixels of the result to make of a point
	cols, rows     int // blocks, also those that fill up groups
	colsIn, rowsIn int // blocks that have pixels of the picture
	pix            []byte
	stride         int
	slots          [64]int8 // the numbers of the coefficients that count, in the order of the file; -1 for the others
	count          int      // how many count
	last           int      // the last one that counts
	scale          [64]int32
	wavesX, wavesY *[4][8]int64
	mean           int // of the last block
	seen           bool

	// Of progressive files, for each block: which coefficients are not 0, and those that count.
	known []uint64
	kept  []int16
}

// segments reads the file up to its end.
func (d *decoder) segments() error {
	var head [2]byte
	if err := d.full(head[:]); err != nil {
		return err
	}
	if head != [2]byte{0xff, 0xd8} {
		return errors.New("no JPEG file")
	}
	for {
		m, err := d.marker()
		if err != nil {
			return err
		}
		if m == markEOI {
			return nil
		}
		if m >= markRST0 && m < markRST0+8 {
			continue // some programs write one after the last pixel
		}
		if err := d.full(head[:]); err != nil {
			return err
		}
		n := int(head[0])<<8 + int(head[1]) - 2
		if n < 0 {
			return errors.New("a segment shorter than its length")
		}
		switch m {
		case markSOF0, markSOF1, markSOF2, markDHT, markDQT, markDRI, markSOS, markAPP0, markAPP14:
			body := make([]byte, n)
			if err := d.full(body); err != nil {
				return err
			}
			err = d.segment(m, body)
		default:
			if m != markCOM && (m < markAPP0 || m > markAPP15) {
				return fmt.Errorf("a segment of an unknown kind (%#x)", m)
			}
			err = d.skip(n)
		}
		if err != nil {
			return err
		}
	}
}

func (d *decoder) segment(m byte, b []byte) error {
	switch m {
	case markDHT:
		return d.readCodes(b)
	case markDQT:
		return d.readQuantisation(b)
	case markDRI:
		if len(b) != 2 {
			return errors.New("a wrong interval of restarts")
		}
		d.interval = int(b[0])<<8 + int(b[1])
	case markSOS:
		return d.scan(b)
	case markAPP0:
		if len(b) >= 5 {
			d.jfif = string(b[:5]) == "JFIF\x00"
		}
	case markAPP14:
		if len(b) >= 12 && string(b[:5]) == "Adobe" {
			d.adobe, d.transform = true, b[11]
		}
	default:
		d.sequential, d.progressive = m == markSOF0, m == markSOF2
		return d.frame(b)
	}
	return nil
}

// frame reads the size of the picture and how its parts are stored.
func (d *decoder) frame(b []byte) error {
	if d.parts != nil {
		return errors.New("two frames")
	}
	if len(b) < 6 || len(b) != 6+3*int(b[5]) || b[5] != 1 && b[5] != 3 && b[5] != 4 || b[0] != 8 {
		return errors.New("a frame of an unknown kind")
	}
	d.height, d.width = int(b[1])<<8+int(b[2]), int(b[3])<<8+int(b[4])
	if d.height == 0 || d.width == 0 {
		return errors.New("a picture without pixels")
	}
	for i := 6; i < len(b); i += 3 {
		p := &part{id: b[i], h: int(b[i+1] >> 4), v: int(b[i+1] & 15), table: b[i+2]}
		for _, o := range d.parts {
			if o.id == p.id {
				return errors.New("two parts of one name")
			}
		}
		if !oneTwoFour(p.h) || !oneTwoFour(p.v) || p.table > 3 {
			return errors.New("a part of an unknown kind")
		}
		d.parts = append(d.parts, p)
	}
	first := d.parts[0]
	if !sampled(d.parts) {
		return errors.New("parts of unknown sizes")
	}
	if len(d.parts) == 1 {
		first.h, first.v = 1, 1 // blocks lie one after the other
	}
	d.acrossMost, d.downMost = first.h, first.v
	d.mcusX = (d.width + 8*d.acrossMost - 1) / (8 * d.acrossMost)
	d.mcusY = (d.height + 8*d.downMost - 1) / (8 * d.downMost)
	for _, p := range d.parts {
		p.prepare(d)
	}
	return nil
}

func oneTwoFour(n int) bool { return n == 1 || n == 2 || n == 4 }

// sampled reports whether the standard library reads parts of such sizes: colours have a part of the samples of
// brightness, and of four inks only the second and the third may have a quarter.
func sampled(p []*part) bool {
	switch len(p) {
	case 1:
		return true
	case 3:
		return p[0].v < 4 && p[0].h%p[1].h == 0 && p[0].v%p[1].v == 0 && p[1].h == p[2].h && p[1].v == p[2].v
	}
	return p[0].h == p[0].v && p[0].h < 4 && p[1].h*p[1].v*p[2].h*p[2].v == 1 && p[3].h == p[0].h && p[3].v == p[0].v
}

// prepare computes how a part is made smaller. A part of fewer samples than others has larger blocks, and
// more points are made of them.
func (c *part) prepare(d *decoder) {
	points := 8 / d.by
	side := func(ratio int) (n, repeat int) {
		n = points * ratio
		return min(n, 8), max(n/8, 1)
	}
	c.across, c.wide = side(d.acrossMost / c.h)
	c.down, c.high = side(d.downMost / c.v)
	c.cols, c.rows = d.mcusX*c.h, d.mcusY*c.v
	within := func(size, n, most int) int { return ((size*n+most-1)/most + 7) / 8 }
	c.colsIn, c.rowsIn = within(d.width, c.h, d.acrossMost), within(d.height, c.v, d.downMost)
	c.stride = c.cols * c.across * c.wide
	c.wavesX, c.wavesY = waves[c.across], waves[c.down]
	for k, at := range zigzag {
		c.slots[k] = -1
		if counts(c.across, at%8) && counts(c.down, at/8) {
			c.slots[k] = int8(c.count)
			c.count++
			c.last = k
		}
	}
}

// room takes the memory of a part, when its first pixels come.
func (c *part) room(progressive bool) {
	if c.pix != nil {
		return
	}
	c.pix = make([]byte, c.stride*c.rows*c.down*c.high)
	if progressive {
		c.known = make([]uint64, c.cols*c.rows)
		c.kept = make([]int16, c.cols*c.rows*c.count)
	}
}

// scales puts the steps of quantisation in the order of the block.
func (c *part) scales(d *decoder) error {
	q := d.quant[c.table]
	if q == nil {
		return errors.New("a table of quantisation is missing")
	}
	for k, at := range zigzag {
		c.scale[at] = q[k]
	}
	return nil
}

func (d *decoder) readCodes(b []byte) error {
	for len(b) > 0 {
		if len(b) < 17 {
			return errors.New("a short table of codes")
		}
		kind, number := b[0]>>4, b[0]&15
		if kind > 1 || number > 3 || d.sequential && number > 1 {
			return errors.New("a table of codes of an unknown kind")
		}
		counts, n := [16]byte(b[1:17]), 0
		for _, c := range counts {
			n += int(c)
		}
		if n == 0 || n > 256 || len(b) < 17+n {
			return errors.New("a short table of codes")
		}
		code, err := newDecoding(counts, b[17:17+n])
		if err != nil {
			return err
		}
		d.codes[kind][number] = code
		b = b[17+n:]
	}
	return nil
}

func (d *decoder) readQuantisation(b []byte) error {
	for len(b) > 0 {
		wide, number := int(b[0]>>4), b[0]&15
		if wide > 1 || number > 3 || len(b) < 1+64*(1+wide) {
			return errors.New("a wrong table of quantisation")
		}
		var q [64]int32
		for i := range q {
			if wide == 1 {
				q[i] = int32(b[1+2*i])<<8 + int32(b[2+2*i])
			} else {
				q[i] = int32(b[1+i])
			}
		}
		d.quant[number] = &q
		b = b[1+64*(1+wide):]
	}
	return nil
}

// image makes the picture of the parts.
func (d *decoder) image() (image.Image, error) {
	if d.parts == nil {
		return nil, errors.New("there is no frame")
	}
	for _, p := range d.parts {
		if !p.seen {
			return nil, errors.New("a part has no pixels")
		}
		if !d.progressive {
			continue
		}
		if err := p.finish(d); err != nil {
			return nil, err
		}
	}
	p, size := d.parts, image.Rect(0, 0, (d.width+d.by-1)/d.by, (d.height+d.by-1)/d.by)
	if len(p) == 1 {
		return &image.Gray{Pix: p[0].pix, Stride: p[0].stride, Rect: size}, nil
	}
	colours := &image.YCbCr{Y: p[0].pix, Cb: p[1].pix, Cr: p[2].pix, YStride: p[0].stride, CStride: p[1].stride, SubsampleRatio: image.YCbCrSubsampleRatio444, Rect: size}
	switch {
	case len(p) == 4:
		return d.inks(size)
	case !d.jfif && (d.adobe && d.transform == 0 || p[0].id == 'R' && p[1].id == 'G' && p[2].id == 'B'):
		m := image.NewRGBA(size)
		for y := range size.Dy() {
			for x := range size.Dx() {
				i := y*p[0].stride + x
				m.SetRGBA(x, y, color.RGBA{p[0].pix[i], p[1].pix[i], p[2].pix[i], 255})
			}
		}
		return m, nil
	}
	return colours, nil
}

// inks makes a picture of four inks. Files have the opposite of inks, as Adobe's programs write it, and the
// first three of them may be stored as brightness and colours.
func (d *decoder) inks(size image.Rectangle) (image.Image, error) {
	if !d.adobe {
		return nil, errors.New("four parts of unknown colours")
	}
	m, p := image.NewCMYK(size), d.parts
	for y := range size.Dy() {
		for x := range size.Dx() {
			i := y*p[0].stride + x
			c := color.CMYK{^p[0].pix[i], ^p[1].pix[i], ^p[2].pix[i], ^p[3].pix[i]}
			if d.transform != 0 {
				c.C, c.M, c.Y = color.YCbCrToRGB(p[0].pix[i], p[1].pix[i], p[2].pix[i])
			}
			m.SetCMYK(x, y, c)
		}
	}
	return m, nil
}
