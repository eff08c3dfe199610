package gif

import (
	"compress/lzw"
	"encoding/binary"
	"fmt"
	"image"
	"io"
	"slices"
)

// MaxSide is the most pixels that a side of a GIF picture has.
const MaxSide = 65535

// Writer writes the frames of a file. Of each frame it writes the pixels that change, in the smallest rectangle
// that has them all. If these have at most 256 colours, none of them is changed.
//
// A frame is written when the next one is there, because the file says with a frame what happens
// to it before the next one.
type Writer struct {
	w             io.Writer
	width, height int
	plays         int

	last   *frame  // the one that is not written yet
	begun  bool    // whether the header is written
	global []pixel // the colours of the header, and 0 for transparent pixels
	shown  []pixel // what a viewer shows after the last frame
	wanted []pixel // what it would show with all colours
}

// frame is a frame that is ready to be written.
type frame struct {
	rect     image.Rectangle
	delay    int
	disposal byte
	before   []pixel // what a viewer shows before it
	wanted   []pixel // before, with all colours
	colours  []pixel // at most 256; 0 is transparent and the last one
	index    []byte  // of a pixel that changes, its colour
}

// NewWriter makes a writer of a picture of a size. plays is how many times the animation is shown; 0
// means for ever.
func NewWriter(w io.Writer, width, height, plays int) *Writer {
	n := width * height
	return &Writer{w: w, width: width, height: height, plays: plays, shown: make([]pixel, n), wanted: make([]pixel, n)}
}

// Add adds a frame, which is shown for delay hundredths of a second. row writes a row of the whole picture as RGBA
// bytes, not premultiplied. Pixels whose alpha is below 128 become transparent, and the others opaque.
func (w *Writer) Add(row func(dst []byte, y int), delay int) error {
	want := make([]pixel, w.width*w.height)
	line := make([]byte, 4*w.width)
	hidden := image.Rectangle{} // the pixels that become transparent
	for y := range w.height {
		row(line, y)
		for x := range w.width {
			p, i := line[4*x:4*x+4:4*x+4], y*w.width+x
			if p[3] >= 128 {
				want[i] = 0xff000000 | pixel(p[0])<<16 | pixel(p[1])<<8 | pixel(p[2])
				continue
			}
			if want[i] = 0; w.shown[i] != 0 {
				hidden = hidden.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	if w.last != nil && !hidden.Empty() {
		w.clearing(hidden)
	}
	before, wanted := w.shown, w.wanted
	if w.last != nil {
		if r := w.last.rect; w.last.disposal == background {
			before, wanted = slices.Clone(before), slices.Clone(wanted)
			for y := r.Min.Y; y < r.Max.Y; y++ {
				clear(before[y*w.width+r.Min.X : y*w.width+r.Max.X])
				clear(wanted[y*w.width+r.Min.X : y*w.width+r.Max.X])
			}
		}
		if err := w.flush(true); err != nil {
			return err
		}
	}
	w.last = w.prepare(want, before, wanted, 256)
	w.last.delay = delay
	return nil
}

// clearing makes the rectangle of the last frame one that has r too, and that is cleared
// before the next one.
func (w *Writer) clearing(r image.Rectangle) {
	f := w.last
	if f.disposal = background; r.In(f.rect) {
		return
	}
	r = r.Union(f.rect)
	if f.colours[len(f.colours)-1] != 0 { // nothing stands for a pixel that stays
		delay := f.delay
		f = w.prepare(w.wanted, f.before, f.wanted, 255)
		f.delay, f.disposal, w.last = delay, background, f
	}
	f.rect = r
}

// prepare finds the colours of a frame. It sets what a viewer shows after it.
func (w *Writer) prepare(want, before, wanted []pixel, most int) *frame {
	f := &frame{disposal: keep, before: before, wanted: wanted, index: make([]byte, len(want))}
	changes := func(i int) bool { return want[i] != wanted[i] }
	shown := slices.Clone(before)
	found := map[pixel]byte{}
	var last pixel
	many, blank := false, false // more than 256 colours; a transparent pixel in the rectangle
	for y := range w.height {
		first, end := -1, 0
		for x := range w.width {
			i := y*w.width + x
			if !changes(i) {
				continue
			}
			if first < 0 {
				first = x
			}
			end = x + 1
			if p := want[i]; p != last && !many {
				if _, ok := found[p]; !ok {
					found[p] = 0
					many = len(found) > 256
				}
				last = p
			}
		}
		if first >= 0 {
			f.rect = f.rect.Union(image.Rect(first, y, end, y+1))
		}
	}
	if f.rect.Empty() {
		f.rect = image.Rect(0, 0, 1, 1) // there is no smaller one
	}
	switch {
	case len(found) <= 255:
		f.exact(w.global, found)
	case most == 256 && !many:
		// No colour is left for pixels that stay. They must have one of these.
		for y := f.rect.Min.Y; y < f.rect.Max.Y && !blank; y++ {
			for x := f.rect.Min.X; x < f.rect.Max.X; x++ {
				if i := y*w.width + x; !changes(i) {
					if _, ok := found[before[i]]; !ok {
						blank = true
						break
					}
				}
			}
		}
		if !blank {
			f.colours = sorted(found)
		}
	}
	if f.colours == nil {
		colours := choose(want, changes, 255)
		f.colours = append(slices.Clip(colours), 0)
		dither(want, w.width, changes, colours, func(i, n int) { f.index[i], shown[i] = byte(n), colours[n] })
	} else {
		for n, p := range f.colours {
			found[p] = byte(n)
		}
		whole := f.colours[len(f.colours)-1] != 0
		var last pixel
		var n byte
		for i, p := range want {
			if changes(i) {
				if p != last {
					last, n = p, found[p]
				}
				f.index[i], shown[i] = n, p
			} else if whole {
				f.index[i] = found[before[i]]
			}
		}
	}
	w.shown, w.wanted = shown, want
	return f
}

// exact takes the colours of the header if they have all that are found, and otherwise these.
func (f *frame) exact(global []pixel, found map[pixel]byte) {
	if n := len(global); n > 0 && global[n-1] == 0 {
		have := 0
		for _, p := range global[:n-1] {
			if _, ok := found[p]; ok {
				have++
			}
		}
		if have == len(found) {
			f.colours = global
			return
		}
	}
	f.colours = append(sorted(found), 0)
}

// sorted returns colours in an order that does not depend on chance.
func sorted(found map[pixel]byte) []pixel {
	colours := make([]pixel, 0, len(found)+1)
	for p := range found {
		colours = append(colours, p)
	}
	slices.Sort(colours)
	return colours
}

// Close writes the last frame and the end of the file.
func (w *Writer) Close() error {
	if w.last == nil {
		return fmt.Errorf("no frame")
	}
	if err := w.flush(w.begun); err != nil {
		return err
	}
	_, err := w.w.Write([]byte{trailer})
	return err
}

// flush writes the last frame. moving says that there are several.
func (w *Writer) flush(moving bool) error {
	f := w.last
	colours, pix, blank := w.encoded(f)
	if !blank && colours[len(colours)-1] == 0 && (w.begun && !slices.Equal(colours, w.global) || !moving) && len(colours) > 1 {
		colours = colours[:len(colours)-1] // No pixel needs it, here or later.
	}
	var out []byte
	if !w.begun {
		w.begun, w.global = true, colours
		out = append(out, "GIF89a"...)
		out = binary.LittleEndian.AppendUint16(out, uint16(w.width))
		out = binary.LittleEndian.AppendUint16(out, uint16(w.height))
		out = append(out, 0xf0|byte(bits(colours)-1), 0, 0)
		out = appendTable(out, colours)
		if moving && w.plays != 1 {
			repeats := uint16(max(min(w.plays, 65536)-1, 0))
			out = append(append(out, extension, appliance, byte(len(loops))), loops...)
			out = append(binary.LittleEndian.AppendUint16(append(out, 3, 1), repeats), 0)
		}
	}
	if moving || blank {
		flags, none := f.disposal<<2, byte(0)
		if blank {
			flags, none = flags|1, byte(len(colours)-1)
		}
		out = append(out, extension, control, 4, flags)
		out = append(binary.LittleEndian.AppendUint16(out, uint16(min(f.delay, 65535))), none, 0)
	}
	out = append(out, picture)
	for _, v := range []int{f.rect.Min.X, f.rect.Min.Y, f.rect.Dx(), f.rect.Dy()} {
		out = binary.LittleEndian.AppendUint16(out, uint16(v))
	}
	if slices.Equal(colours, w.global) {
		out = append(out, 0)
	} else {
		out = append(out, 0x80|byte(bits(colours)-1))
		out = appendTable(out, colours)
	}
	width := max(bits(colours), 2)
	out = append(out, byte(width))
	if _, err := w.w.Write(out); err != nil {
		return err
	}
	blocks := &blockWriter{w: w.w}
	codes := lzw.NewWriter(blocks, lzw.LSB, width)
	if _, err := codes.Write(pix); err != nil {
		return err
	}
	if err := codes.Close(); err != nil {
		return err
	}
	w.last = nil
	return blocks.close()
}

// encoded returns the colours of a frame, the numbers of the pixels of its rectangle, and whether some of them
// are transparent.
func (w *Writer) encoded(f *frame) (colours []pixel, pix []byte, blank bool) {
	colours = f.colours
	none := len(colours) - 1
	spare := colours[none] == 0
	pix = make([]byte, 0, f.rect.Dx()*f.rect.Dy())
	for y := f.rect.Min.Y; y < f.rect.Max.Y; y++ {
		for i := y*w.width + f.rect.Min.X; i < y*w.width+f.rect.Max.X; i++ {
			if spare && w.wanted[i] == f.wanted[i] {
				pix, blank = append(pix, byte(none)), true
				continue
			}
			pix = append(pix, f.index[i])
		}
	}
	return colours, pix, blank
}

// bits is how many bits the number of a colour has.
func bits(colours []pixel) int {
	n := 1
	for 1<<n < len(colours) {
		n++
	}
	return n
}

// appendTable appends a colour table, whose length is a power of two.
func appendTable(out []byte, colours []pixel) []byte {
	for i := range 1 << bits(colours) {
		var p pixel
		if i < len(colours) {
			p = colours[i]
		}
		out = append(out, byte(p>>16), byte(p>>8), byte(p))
	}
	return out
}

// blockWriter writes bytes as a sequence of blocks.
type blockWriter struct {
	w io.Writer
	b [256]byte // the length, and the bytes
	n int
}

func (b *blockWriter) Write(p []byte) (int, error) {
	for i := 0; i < len(p); {
		n := copy(b.b[1+b.n:], p[i:])
		b.n += n
		if i += n; b.n == 255 {
			if err := b.flush(); err != nil {
				return i, err
			}
		}
	}
	return len(p), nil
}

func (b *blockWriter) flush() error {
	b.b[0] = byte(b.n)
	_, err := b.w.Write(b.b[:1+b.n])
	b.n = 0
	return err
}

func (b *blockWriter) close() error {
	if b.n > 0 {
		if err := b.flush(); err != nil {
			return err
		}
	}
	_, err := b.w.Write([]byte{0}) // no block follows
	return err
}
