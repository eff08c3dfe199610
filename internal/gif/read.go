// Package gif reads the frames of a GIF file one after the other, as a viewer shows them, and writes
// such a file. The package image/gif of the standard library keeps all frames in memory.
package gif

import (
	"bufio"
	"compress/lzw"
	"errors"
	"fmt"
	"image"
	"io"
)

// What happens to a frame before the next one.
const (
	keep       = 1
	background = 2 // its rectangle becomes transparent
	previous   = 3 // its rectangle becomes what it was before
)

// Blocks of a file.
const (
	extension = 0x21
	picture   = 0x2c
	trailer   = 0x3b
	control   = 0xf9 // an extension: delay, transparency and disposal of the next frame
	appliance = 0xff // an extension of an application, such as the loop count
)

// loops is how the extension that has the loop count begins.
const loops = "NETSCAPE2.0"

// Summary is what a file says before its pixels are decoded.
type Summary struct {
	Frames int
	// Plays is how many times the animation is shown; 0 means for ever.
	Plays int
}

// Scan reads a file as far as it can be read, and decodes no pixels.
func Scan(r io.Reader) Summary {
	s := Summary{Plays: 1}
	d, err := NewReader(r)
	for err == nil {
		if err = d.head(); err == nil {
			s.Frames++
			if _, err = d.r.Discard(1); err == nil {
				err = d.skip()
			}
		}
	}
	if d != nil {
		s.Plays = d.plays
	}
	return s
}

// Reader reads the frames of a file.
type Reader struct {
	r             *bufio.Reader
	width, height int
	plays         int
	global        palette

	// The canvas has four bytes for each pixel, which is not premultiplied.
	canvas   []byte
	before   []byte // the last frame's rectangle as it was, if that is wanted back
	rect     image.Rectangle
	disposal byte
	pix      []byte // the colours of a frame as numbers

	// Of the next frame:
	next struct {
		rect             image.Rectangle
		disposal         byte
		delay            int
		transparent      int // number of a colour, or -1
		interlaced, some bool
		local            palette
	}
}

// palette has the bytes of red, green and blue of up to 256 colours.
type palette []byte

// NewReader reads the header of a file.
func NewReader(r io.Reader) (*Reader, error) {
	d := &Reader{r: bufio.NewReaderSize(r, 64<<10), plays: 1}
	var b [13]byte
	if _, err := io.ReadFull(d.r, b[:]); err != nil {
		return nil, eof(err)
	}
	if string(b[:4]) != "GIF8" || b[5] != 'a' {
		return nil, errors.New("it does not begin as a GIF file")
	}
	d.width, d.height = int(b[6])|int(b[7])<<8, int(b[8])|int(b[9])<<8
	var err error
	d.global, err = d.table(b[10])
	return d, err
}

// table reads a colour table, if the flags say that there is one.
func (d *Reader) table(flags byte) (palette, error) {
	if flags&0x80 == 0 {
		return nil, nil
	}
	p := make(palette, 3<<(1+flags&7))
	_, err := io.ReadFull(d.r, p)
	return p, eof(err)
}

// skip reads to the end of a sequence of blocks.
func (d *Reader) skip() error {
	for {
		n, err := d.r.ReadByte()
		if err != nil || n == 0 {
			return eof(err)
		}
		if _, err := d.r.Discard(int(n)); err != nil {
			return eof(err)
		}
	}
}

// head reads up to the pixels of the next frame. The error is io.EOF after the last one.
func (d *Reader) head() error {
	n := &d.next
	n.disposal, n.delay, n.transparent, n.local = 0, 0, -1, nil
	for {
		kind, err := d.r.ReadByte()
		if err != nil {
			return eof(err)
		}
		switch kind {
		case trailer:
			return io.EOF
		case extension:
			if err := d.extension(); err != nil {
				return err
			}
		case picture:
			var b [9]byte
			if _, err := io.ReadFull(d.r, b[:]); err != nil {
				return eof(err)
			}
			at := func(i int) int { return int(b[i]) | int(b[i+1])<<8 }
			n.rect = image.Rect(at(0), at(2), at(0)+at(4), at(2)+at(6))
			n.interlaced = b[8]&0x40 != 0
			n.local, err = d.table(b[8])
			return err
		default:
			return fmt.Errorf("it has a block of the unknown kind %#02x", kind)
		}
	}
}

// extension reads an extension.
func (d *Reader) extension() error {
	kind, err := d.r.ReadByte()
	if err != nil {
		return eof(err)
	}
	var b [256]byte
	block := func() (int, error) {
		n, err := d.r.ReadByte()
		if err != nil {
			return 0, eof(err)
		}
		_, err = io.ReadFull(d.r, b[:n])
		return int(n), eof(err)
	}
	if kind != control && kind != appliance {
		return d.skip()
	}
	n, err := block()
	if err != nil || n == 0 {
		return err
	}
	switch {
	case kind == control && n >= 4:
		d.next.disposal, d.next.delay, d.next.transparent = b[0]>>2&7, int(b[1])|int(b[2])<<8, -1
		if b[0]&1 != 0 {
			d.next.transparent = int(b[3])
		}
	case kind == appliance && n == len(loops) && (string(b[:n]) == loops || string(b[:n]) == "ANIMEXTS1.0"):
		n, err := block()
		if err != nil || n == 0 {
			return err
		}
		if n >= 3 && b[0] == 1 {
			// The file has the number of repetitions.
			if d.plays = int(b[1]) | int(b[2])<<8; d.plays > 0 {
				d.plays++
			}
		}
	}
	return d.skip()
}

// Next reads a frame. pix is the whole picture as a viewer shows it then, with four bytes for
// each pixel, not premultiplied, and is valid until the next call. delay is how long it is shown, in hundredths of a
// second. The error is io.EOF after the last frame.
func (d *Reader) Next() (pix []byte, delay int, err error) {
	if err := d.head(); err != nil {
		return nil, 0, err
	}
	n := &d.next
	if n.rect.Max.X > d.width || n.rect.Max.Y > d.height { // also a frame without pixels
		return nil, 0, fmt.Errorf("a frame at %v lies outside the picture of %d×%d", n.rect, d.width, d.height)
	}
	if d.canvas == nil {
		d.canvas = make([]byte, 4*d.width*d.height)
	}
	d.dispose()
	if err := d.pixels(); err != nil {
		return nil, 0, err
	}
	d.rect, d.disposal = n.rect, n.disposal
	if d.disposal == previous {
		d.before = d.before[:0]
		d.rows(n.rect, func(row []byte, _ int) { d.before = append(d.before, row...) })
	}
	return d.canvas, n.delay, d.draw()
}

// rows calls f for each row of a rectangle of the canvas.
func (d *Reader) rows(r image.Rectangle, f func(row []byte, i int)) {
	for i := range r.Dy() {
		at := 4 * ((r.Min.Y+i)*d.width + r.Min.X)
		f(d.canvas[at:at+4*r.Dx()], i)
	}
}

// dispose does what is to happen to the last frame before the next one.
func (d *Reader) dispose() {
	switch d.disposal {
	case background:
		d.rows(d.rect, func(row []byte, _ int) { clear(row) })
	case previous:
		d.rows(d.rect, func(row []byte, i int) { copy(row, d.before[i*len(row):]) })
	}
	d.disposal = keep
}

// pixels reads the numbers of a frame's colours.
func (d *Reader) pixels() error {
	width, err := d.r.ReadByte()
	if err != nil {
		return eof(err)
	}
	if width < 2 || width > 8 {
		return fmt.Errorf("codes of %d bits for a pixel", width)
	}
	size := d.next.rect.Size()
	if n := size.X * size.Y; cap(d.pix) < n {
		d.pix = make([]byte, n)
	} else {
		d.pix = d.pix[:n]
	}
	blocks := &blockReader{r: d.r}
	codes := lzw.NewReader(blocks, lzw.LSB, int(width))
	_, err = io.ReadFull(codes, d.pix)
	codes.Close()
	if err != nil && len(d.pix) > 0 {
		if blocks.err == nil && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) {
			return errors.New("a frame has too few pixels")
		}
		return eof(err)
	}
	_, err = io.Copy(io.Discard, blocks) // more than the pixels need does no harm
	return err
}

// draw lays the frame on the canvas.
func (d *Reader) draw() error {
	n := &d.next
	table := n.local
	if table == nil {
		table = d.global
	}
	if table == nil {
		return errors.New("a frame has no colours")
	}
	wide, high := n.rect.Dx(), n.rect.Dy()
	worst := 0
	line := func(from, to int) {
		at := 4 * ((n.rect.Min.Y+to)*d.width + n.rect.Min.X)
		dst := d.canvas[at : at+4*wide]
		for x, v := range d.pix[from*wide : (from+1)*wide] {
			i := 3 * int(v)
			if int(v) == n.transparent {
				continue
			}
			if i >= len(table) {
				worst = int(v)
				continue
			}
			p := dst[4*x : 4*x+4 : 4*x+4]
			p[0], p[1], p[2], p[3] = table[i], table[i+1], table[i+2], 255
		}
	}
	if n.interlaced {
		from := 0
		for _, pass := range [][2]int{{0, 8}, {4, 8}, {2, 4}, {1, 2}} {
			for y := pass[0]; y < high; y += pass[1] {
				line(from, y)
				from++
			}
		}
	} else {
		for y := range high {
			line(y, y)
		}
	}
	if worst > 0 {
		return fmt.Errorf("a pixel has the colour %d of %d", worst, len(table)/3)
	}
	return nil
}

// blockReader reads the bytes of a sequence of blocks.
type blockReader struct {
	r    *bufio.Reader
	left int
	end  bool
	err  error // of the file, not of its codes
}

// Read and ReadByte give io.EOF after the last block.
func (b *blockReader) Read(p []byte) (int, error) {
	if err := b.fill(); err != nil {
		return 0, err
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	if err != nil {
		b.err = eof(err)
	}
	return n, b.err
}

func (b *blockReader) ReadByte() (byte, error) {
	if err := b.fill(); err != nil {
		return 0, err
	}
	c, err := b.r.ReadByte()
	if err != nil {
		b.err = eof(err)
	}
	b.left--
	return c, b.err
}

func (b *blockReader) fill() error {
	if b.left > 0 || b.err != nil {
		return b.err
	}
	if b.end {
		return io.EOF
	}
	n, err := b.r.ReadByte()
	if err != nil {
		b.err = eof(err)
		return b.err
	}
	if b.left, b.end = int(n), n == 0; b.end {
		return io.EOF
	}
	return nil
}

// eof makes the end of the file where there should be more an error that says so.
func eof(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
