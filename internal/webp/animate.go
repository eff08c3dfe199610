package webp

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"io"
	"math"
)

// Animation writes the frames of an animation. Of each frame it writes the smallest rectangle that has all pixels
// that change. An animation of one frame becomes a file of a picture that does not move.
type Animation struct {
	w     io.Writer
	p     Picture // what all frames have in common
	plays int

	last, now []byte // RGBA of the last frame and of this one
	first     []part // the first frame, until the second one shows that the picture moves
	delay     int    // of the first frame
	alpha     bool   // whether there is a pixel that is not opaque

	// The file begins with its size. If that can be written later, place is there, and start is where the
	// file begins in it. Otherwise frames are kept in held.
	place io.WriterAt
	start int64
	held  bytes.Buffer
	size  int64 // of all chunks
}

// NewAnimation makes a writer of a picture like p, whose Row and Alpha do not matter. plays is how many times the
// animation is shown; 0 means for ever. A w that is an io.WriterAt and an io.Seeker too gets each frame at once.
func NewAnimation(w io.Writer, p Picture, plays int) *Animation {
	a := &Animation{w: w, p: p, plays: plays}
	if place, ok := w.(interface {
		io.WriterAt
		io.Seeker
	}); ok {
		// A file to which is only appended can be sought, and refuses WriteAt.
		if at, err := place.Seek(0, io.SeekCurrent); err == nil {
			if _, err := place.WriteAt(nil, at); err == nil {
				a.place, a.start = place, at
			}
		}
	}
	return a
}

// Add adds a frame, which is shown for delay milliseconds. row writes a row of the whole picture as RGBA bytes, not
// premultiplied. Errors are as those of Encode.
func (a *Animation) Add(ctx context.Context, row func(dst []byte, y int), delay int) error {
	stride := 4 * a.p.Width
	if a.now == nil {
		a.now = make([]byte, stride*a.p.Height)
	}
	for y := range a.p.Height {
		row(a.now[y*stride:(y+1)*stride], y)
	}
	defer func() { a.last, a.now = a.now, a.last }()
	if a.last == nil {
		parts, _, err := a.encode(ctx, image.Rect(0, 0, a.p.Width, a.p.Height))
		a.first, a.delay = parts, delay
		return err
	}
	if err := a.begin(); err != nil {
		return err
	}
	r := a.changed()
	parts, flags, err := a.encode(ctx, r)
	if err != nil {
		return err
	}
	if r.Empty() {
		r = image.Rect(0, 0, 1, 1)
	}
	return a.frame(parts, r, flags, delay)
}

// begin writes the beginning of the file and the first frame.
func (a *Animation) begin() error {
	if a.first == nil {
		return nil
	}
	head := a.head()
	if a.size = int64(len(head)) - 8; a.place != nil {
		if _, err := a.w.Write(head); err != nil {
			return err
		}
	}
	parts := a.first
	a.first = nil
	return a.frame(parts, image.Rect(0, 0, a.p.Width, a.p.Height), unblended, a.delay)
}

// head is what stands before the frames.
func (a *Animation) head() []byte {
	a.p.Alpha = a.alpha
	plays := binary.LittleEndian.AppendUint16(make([]byte, 4), uint16(min(max(a.plays, 0), math.MaxUint16)))
	var b bytes.Buffer
	b.WriteString("RIFF")
	b.Write(binary.LittleEndian.AppendUint32(nil, uint32(a.size)))
	b.WriteString("WEBP")
	writeChunks(&b, []part{{"VP8X", extended(a.p.flags()|hasFrames, a.p.Width, a.p.Height)}, {"ICCP", a.p.ICC}, {"ANIM", plays}})
	return b.Bytes()
}

// frame writes a frame.
func (a *Animation) frame(parts []part, r image.Rectangle, flags byte, delay int) error {
	var b bytes.Buffer
	for _, v := range []int{r.Min.X / 2, r.Min.Y / 2, r.Dx() - 1, r.Dy() - 1, min(delay, 1<<24-1)} {
		b.Write([]byte{byte(v), byte(v >> 8), byte(v >> 16)})
	}
	b.WriteByte(flags)
	writeChunks(&b, parts)
	return a.chunks([]part{{"ANMF", b.Bytes()}})
}

// chunks writes chunks that follow the beginning, or keeps them.
func (a *Animation) chunks(parts []part) error {
	for _, c := range parts {
		if n := int64(len(c.data)); n > 0 {
			a.size += 8 + n + n&1
		}
	}
	if a.size > math.MaxUint32-10 {
		return ErrTooLong
	}
	if a.place != nil {
		return writeChunks(a.w, parts)
	}
	return writeChunks(&a.held, parts)
}

// Close writes what is left of the file.
func (a *Animation) Close() error {
	if a.last == nil {
		return errors.New("no frame")
	}
	if a.first != nil {
		a.p.Alpha = a.alpha
		return a.p.writeStill(a.w, a.first)
	}
	if err := a.chunks([]part{{"EXIF", a.p.EXIF}, {"XMP ", a.p.XMP}}); err != nil {
		return err
	}
	if a.place != nil {
		_, err := a.place.WriteAt(a.head(), a.start)
		return err
	}
	if _, err := a.w.Write(a.head()); err != nil {
		return err
	}
	_, err := a.w.Write(a.held.Bytes())
	return err
}

// changed is the rectangle of the pixels that this frame changes. A frame begins at even numbers. The rectangle is
// empty if nothing changes.
func (a *Animation) changed() image.Rectangle {
	var r image.Rectangle
	stride := 4 * a.p.Width
	for y := range a.p.Height {
		now, last := a.now[y*stride:(y+1)*stride], a.last[y*stride:(y+1)*stride]
		if bytes.Equal(now, last) {
			continue
		}
		first, end := 0, stride-4
		for string(now[first:first+4]) == string(last[first:first+4]) {
			first += 4
		}
		for string(now[end:end+4]) == string(last[end:end+4]) {
			end -= 4
		}
		r = r.Union(image.Rect(first/4, y, end/4+1, y+1))
	}
	r.Min.X, r.Min.Y = r.Min.X&^1, r.Min.Y&^1
	return r
}

// encode encodes a rectangle of this frame. Pixels that stay are transparent where that is exact, because such runs
// take little room.
func (a *Animation) encode(ctx context.Context, r image.Rectangle) ([]part, byte, error) {
	p := a.p
	stride := 4 * p.Width
	if r.Empty() { // there is no smaller frame than a pixel
		p.Width, p.Height, p.Lossless, p.Alpha = 1, 1, true, true
		p.Row = func(dst []byte, _ int) { clear(dst[:4]) }
		parts, err := p.encode(ctx)
		return parts, 0, err
	}
	within := func(pix []byte, y int) []byte {
		at := (r.Min.Y+y)*stride + 4*r.Min.X
		return pix[at : at+4*r.Dx()]
	}
	p.Width, p.Height = r.Dx(), r.Dy()
	p.Row = func(dst []byte, y int) { copy(dst, within(a.now, y)) }
	clearly, stay := false, 0 // a pixel that changes is not opaque; how many stay
	for y := range r.Dy() {
		now := within(a.now, y)
		var last []byte
		if a.last != nil {
			last = within(a.last, y)
		}
		for i := 0; i < len(now); i += 4 {
			same := last != nil && string(now[i:i+4]) == string(last[i:i+4])
			if same {
				stay++
			} else if now[i+3] < 255 {
				clearly = true
			}
			p.Alpha = p.Alpha || now[i+3] < 255
		}
	}
	flags := byte(unblended)
	if p.Lossless && !clearly && stay > 0 {
		flags, p.Alpha = 0, true
		p.Row = func(dst []byte, y int) {
			now, last := within(a.now, y), within(a.last, y)
			for i := 0; i < len(now); i += 4 {
				if string(now[i:i+4]) == string(last[i:i+4]) {
					clear(dst[i : i+4])
				} else {
					copy(dst[i:i+4], now[i:i+4])
				}
			}
		}
	}
	a.alpha = a.alpha || p.Alpha
	parts, err := p.encode(ctx)
	return parts, flags, err
}
