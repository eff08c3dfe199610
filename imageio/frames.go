package imageio

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"iter"
	"math"
	"time"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/gif"
	"github.com/lathe-gpu/lathe/internal/pixels"
	"github.com/lathe-gpu/lathe/internal/webp"
)

// Frame is a frame of an animation, as a viewer shows it.
type Frame struct {
	// Image is the whole picture, also if the file has only what changes. All frames of an animation have
	// the same size.
	Image image.Image
	// Delay is how long the frame is shown. A GIF file has hundredths of a second, and a WebP file
	// thousandths. Most viewers show a frame of at most a hundredth for a tenth of a second.
	Delay time.Duration
}

// Frames decodes the frames of an animated GIF or WebP file, one at a time, and upright as Decode does. Of any
// other file with one picture, and of one page of several (DecodeOptions.Page), it is that picture, with the Delay 0. After an error there are no more frames.
//
// Image is an *image.NRGBA as Decode returns it. It is valid until the next frame: the decoder draws that over
// it, so do not change it. Beside it Frames takes up to 20 bytes for each pixel.
//
// Errors: as DecodeTo; ErrTooLarge if all frames together have more pixels than DecodeOptions.MaxPixels;
// ErrUnsupported for the frames of an animated PNG file and the pages of a TIFF file.
func (d *Decoder) Frames(ctx context.Context) iter.Seq2[Frame, error] {
	return func(yield func(Frame, error) bool) {
		if yield == nil { // nobody wants frames
			return
		}
		if err := d.frames(ctx, func(f Frame) bool { return yield(f, nil) }); err != nil {
			yield(Frame{}, err)
		}
	}
}

// frames calls yield with each frame until it returns false.
func (d *Decoder) frames(ctx context.Context, yield func(Frame) bool) error {
	if err := errs.Context(ctx); err != nil {
		return decoding(err)
	}
	if d == nil || d.head == nil {
		return decoding(fmt.Errorf("%w: a Decoder that NewDecoder has not made", errs.ErrInvalidArgument))
	}
	n := d.info.Frames
	if n <= 1 || d.page > 0 {
		m, err := d.decodeNew(ctx, d.wide)
		if err == nil {
			yield(Frame{Image: m})
		}
		return err
	}
	if d.head.play == nil {
		return decoding(fmt.Errorf("%w: the %d pictures of a %s file (want GIF or WebP)", ErrUnsupported, n, d.info.Format))
	}
	w, h := int64(d.info.Width), int64(d.info.Height)
	if w*h > d.maxPixels/int64(n) {
		return decoding(fmt.Errorf("%w: %d frames of %d×%d are %s, the limit is %s (raise MaxPixels if you trust it)",
			ErrTooLarge, n, w, h, pixels.Count(float64(w)*float64(h)*float64(n)), pixels.Count(float64(d.maxPixels))))
	}
	v := &view{ctx: ctx, src: d.src}
	var next func() ([]byte, time.Duration, error)
	var turned *image.NRGBA
	step := func() (f Frame, err error) {
		defer contain(&err)
		if next == nil {
			if next, err = d.head.play(v); err != nil {
				return f, err
			}
		}
		pix, delay, err := next()
		if err != nil {
			return f, err
		}
		m := &image.NRGBA{Pix: pix, Stride: 4 * d.head.width, Rect: image.Rect(0, 0, d.head.width, d.head.height)}
		if d.head.turn != upright {
			if turned == nil {
				turned = image.NewNRGBA(d.bounds())
			}
			layRows(onNRGBA(turned), d.head.width, d.head.height, pixels.Rows(m), d.head.turn)
			m = turned
		}
		return Frame{Image: m, Delay: delay}, nil
	}
	for {
		f, err := step()
		end := err == io.EOF
		if end {
			err = nil
		}
		if err := v.verdict(err); err != nil {
			return decoding(err)
		}
		if end || !yield(f) {
			return nil
		}
	}
}

// hasPage returns an error if the page that is wanted is not among n pictures of a file.
func (v *view) hasPage(n int, f Format) error {
	if v.page <= n {
		return nil
	}
	what, has := "frame", "the animation has"
	if f == TIFF {
		what, has = "page", "the file has"
	}
	if n <= 1 {
		return fmt.Errorf("%w: page (got %d, and the file has one picture)", errs.ErrInvalidArgument, v.page)
	}
	return fmt.Errorf("%w: page (got %d, want 1 to %d: %s %d %ss)", errs.ErrInvalidArgument, v.page, n, has, n, what)
}

// choosePage makes the header that of frame v.page of an animation, as a viewer shows it.
func (h *header) choosePage(v *view, f Format, maxPixels int64) error {
	n := 1 + h.frames
	if err := v.hasPage(n, f); err != nil || v.page == 1 {
		return err
	}
	if h.play == nil {
		return fmt.Errorf("%w: page %d of the %d pictures of a %s file (want TIFF, GIF or WebP)", ErrUnsupported, v.page, n, f)
	}
	width, height, page := h.width, h.height, v.page
	area := int64(width) * int64(height)
	if area > maxPixels/int64(page) { // all frames before are decoded too
		return fmt.Errorf("%w: %d frames of %d×%d are %s, the limit is %s (raise MaxPixels if you trust it)",
			ErrTooLarge, page, width, height, pixels.Count(float64(area)*float64(page)), pixels.Count(float64(maxPixels)))
	}
	play := h.play
	h.cost += playCost * area
	h.read = func(v *view, dst canvas) error {
		next, err := play(v)
		if err != nil {
			return err
		}
		var pix []byte
		for range page {
			if pix, _, err = next(); err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			if err != nil {
				return err
			}
		}
		m := &image.NRGBA{Pix: pix, Stride: 4 * width, Rect: image.Rect(0, 0, width, height)}
		layRows(dst, width, height, dst.rows(m), h.turn)
		return nil
	}
	return nil
}

// playCost is how many bytes the frames of an animation take for each pixel.
const playCost = 20

// playGIF and playWebP are what header.play is.
func playGIF(v *view) (func() ([]byte, time.Duration, error), error) {
	r, err := gif.NewReader(v.reader())
	if err != nil {
		return nil, err
	}
	return func() ([]byte, time.Duration, error) {
		pix, delay, err := r.Next()
		return pix, time.Duration(delay) * hundredth, err
	}, nil
}

func playWebP(v *view, h *webp.Header) func() ([]byte, time.Duration, error) {
	next := h.Play(v)
	return func() ([]byte, time.Duration, error) {
		pix, delay, err := next()
		return pix, time.Duration(delay) * time.Millisecond, err
	}
}

// hundredth is the unit of time of GIF.
const hundredth = 10 * time.Millisecond

// CanAnimate reports whether EncodeFrames writes the format, and Decoder.Frames reads its animations.
func (f Format) CanAnimate() bool { return f == GIF || f == WebP }

// EncodeFrames writes an animation in the format GIF or WebP. It writes the pixels that change from frame to frame
// only. frames may be Decoder.Frames, or a function that processes its frames: EncodeFrames is done with a
// Frame when it asks for the next one. How many times the animation is shown is Plays of
// EncodeOptions.Source; without a Source that is for ever. If there is a single frame, the file is a
// picture that does not move.
//
// Frames are written as Encode writes a picture. Each frame of a GIF file has up to 256 colours of its own. Delays
// are rounded to the unit of the format, so that the sum is right.
//
// A WebP file begins with its length. So the compressed frames stay in memory until the last one, unless w is an
// io.WriterAt and an io.Seeker too, such as a file. A file must not be open for appending then.
//
// Errors: those that frames yields, as they are; as Encode; ErrUnsupported if the format has one picture only;
// lathe.ErrInvalidArgument if there is no frame, a frame of another size, or a negative Delay.
func EncodeFrames(ctx context.Context, w io.Writer, frames iter.Seq2[Frame, error], f Format, o *EncodeOptions) error {
	var own error
	err := encodeFrames(ctx, w, frames, f, o, &own)
	if own != nil {
		return own
	}
	if err != nil {
		return fmt.Errorf("imageio: encode frames: %w", err)
	}
	return nil
}

// movie writes an animation.
type movie interface {
	add(ctx context.Context, img image.Image, delay time.Duration) error
	close() error
}

// encodeFrames is EncodeFrames. An error of frames becomes own.
func encodeFrames(ctx context.Context, w io.Writer, frames iter.Seq2[Frame, error], f Format, o *EncodeOptions, own *error) (err error) {
	o, err = o.checked(ctx, w, f)
	switch {
	case err != nil:
		return err
	case !f.CanAnimate():
		return fmt.Errorf("%w: an animation in %s, which has one picture (want %s or %s)", ErrUnsupported, f, GIF, WebP)
	case frames == nil:
		return fmt.Errorf("%w: no frames", errs.ErrInvalidArgument)
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: the images cannot be read, or the frames or the writer panicked: %v", errs.ErrInvalidArgument, p)
		}
	}()
	var to movie
	var size image.Point
	n := 0
	for frame, e := range frames {
		if n++; e != nil {
			*own = e
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := pixels.Check(frame.Image); err != nil {
			return fmt.Errorf("%w: frame %d: %w", errs.ErrInvalidArgument, n, err)
		}
		got := frame.Image.Bounds().Size()
		switch {
		case frame.Delay < 0:
			return fmt.Errorf("%w: delay of frame %d (got %v, want 0 or more)", errs.ErrInvalidArgument, n, frame.Delay)
		case to == nil:
			size = got
			if to, err = newMovie(ctx, w, frame.Image, f, o); err != nil {
				return err
			}
		case got != size:
			return fmt.Errorf("%w: size of frame %d (got %v, want %v as the first one)", errs.ErrInvalidArgument, n, got, size)
		}
		if err := to.add(ctx, frame.Image, frame.Delay); err != nil {
			return tooMuch(err)
		}
	}
	if to == nil {
		return fmt.Errorf("%w: no frames", errs.ErrInvalidArgument)
	}
	return tooMuch(to.close())
}

func tooMuch(err error) error {
	if errors.Is(err, webp.ErrTooLong) {
		return fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	return err
}

// newMovie begins an animation with frames like img.
func newMovie(ctx context.Context, w io.Writer, img image.Image, f Format, o *EncodeOptions) (movie, error) {
	size := img.Bounds().Size()
	if err := fitsInto(size, f); err != nil {
		return nil, err
	}
	meta, err := o.metadata(f)
	if err != nil {
		return nil, err
	}
	plays := 0
	if o.Source != nil {
		plays = max(o.Source.Plays, 0)
	}
	out := &checkedWriter{ctx: ctx, w: w, left: math.MaxInt64}
	if f == GIF {
		buf := bufio.NewWriterSize(out, 64<<10)
		return &gifMovie{w: gif.NewWriter(buf, size.X, size.Y, plays), buf: buf, time: clock{unit: hundredth, least: 2}}, nil
	}
	p := webp.Picture{Width: size.X, Height: size.Y, Lossless: o.webP() == lossless, Quality: o.Quality}
	if meta = meta.sized(size.X, size.Y).fitting(img, f); meta != nil {
		p.ICC, p.EXIF, p.XMP = meta.ICC, meta.EXIF, meta.XMP
	}
	var to io.Writer = out
	if place, ok := w.(placed); ok {
		to = &placedWriter{checkedWriter: out, placed: place}
	}
	return &webpMovie{webp.NewAnimation(to, p, plays), clock{unit: time.Millisecond}}, nil
}

// placed is what a file has so that its beginning can be written at the end.
type placed interface {
	io.Writer
	io.WriterAt
	io.Seeker
}

// placedWriter is a checkedWriter of such a file.
type placedWriter struct {
	*checkedWriter
	placed
}

func (p *placedWriter) Write(b []byte) (int, error) { return p.checkedWriter.Write(b) }

// clock rounds delays to a unit. What one delay loses, the next ones get.
type clock struct {
	unit  time.Duration
	least int64 // the fewest units of a delay above one unit
	lost  time.Duration
}

func (c *clock) units(d time.Duration) int {
	// What is lost is bounded, so that the sum never overflows.
	d = min(d, math.MaxInt64/4)
	n := max(int64((d+c.lost+c.unit/2)/c.unit), 0)
	if d > c.unit {
		n = max(n, c.least)
	}
	c.lost = min(max(c.lost+d-time.Duration(n)*c.unit, -c.unit), c.unit)
	return int(min(n, math.MaxInt32))
}

type gifMovie struct {
	w    *gif.Writer
	buf  *bufio.Writer
	time clock
}

func (m *gifMovie) add(_ context.Context, img image.Image, delay time.Duration) error {
	return m.w.Add(pixels.Rows(img), m.time.units(delay))
}

func (m *gifMovie) close() error {
	if err := m.w.Close(); err != nil {
		return err
	}
	return m.buf.Flush()
}

type webpMovie struct {
	w    *webp.Animation
	time clock
}

func (m *webpMovie) add(ctx context.Context, img image.Image, delay time.Duration) error {
	return m.w.Add(ctx, pixels.Rows(img), m.time.units(delay))
}

func (m *webpMovie) close() error { return m.w.Close() }

// writeGIF writes a picture that does not move.
func writeGIF(w io.Writer, img image.Image) error {
	size := img.Bounds().Size()
	g := gif.NewWriter(w, size.X, size.Y, 1)
	if err := g.Add(pixels.Rows(img), 0); err != nil {
		return err
	}
	return g.Close()
}
