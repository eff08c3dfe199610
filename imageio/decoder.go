package imageio

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"io"
	"math"
	"time"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/pixels"
)

// Decoder is a picture of which the header has been read. It is for programs that look before
// they decode, such as to wait until there is room for Info.Memory bytes, or that have memory
// for the pixels already. Others need Decode only.
//
// The methods may be called from several goroutines, and more than once. A reader that is read
// in place must not be closed before.
type Decoder struct {
	src  *source
	info Info
	head *header
	wide bool // Decode returns 16 bits a channel
	page int  // DecodeOptions.Page
	// maxPixels is the most that all frames together may have.
	maxPixels int64
	// whole decodes the picture at its full size, if this Decoder does not.
	whole *Decoder
}

// header is what the first bytes of a picture say about it.
type header struct {
	width, height int // as stored
	turn          orientation
	grey          bool // it has no colours
	depth         int  // bits a channel
	palette       int  // colours
	sampling      string
	webp          string // the kind of WebP
	frames        int    // pictures beside the first one
	plays         int    // how many times they are shown
	meta          *Metadata
	metaErr       error // why a part is not in meta
	cost          int64 // the approximate number of bytes that decoding and converting hold at once
	// read decodes the picture into dst. dst has the size of the upright picture, and 16 bits a
	// channel only if deep is set.
	read func(v *view, dst canvas) error
	deep bool
	// play, if it is set, returns a function that returns the pixels of the whole picture, as stored, for one
	// frame after the other, and io.EOF after the last one.
	play func(v *view) (func() (pix []byte, delay time.Duration, err error), error)
	// smaller returns a header that decodes the picture at a half, a quarter or an eighth of its size. It is nil
	// for a format that has no such thing.
	smaller func(by int) *header
}

// size is the size of the upright picture.
func (h *header) size() (w, ht int) {
	if h.turn.swaps() {
		return h.height, h.width
	}
	return h.width, h.height
}

// formatError is the error of a file that is not a picture. It matches ErrUnsupported.
type formatError struct{}

func (formatError) Error() string {
	return "not a picture in a format Lathe reads (JPEG, PNG, TIFF, BMP, GIF, WebP, AVIF)"
}

// Is reports whether target is ErrUnsupported, or what package image returns in the same case.
func (formatError) Is(target error) bool {
	return target == ErrUnsupported || target == image.ErrFormat
}

// NewDecoder reads the header of a picture, and all bytes of an r that is not read in place. It
// decodes no pixels. A picture that is refused is refused before all bytes are read, where
// its header comes first. ctx is for NewDecoder only.
// Errors: as Decode.
func NewDecoder(ctx context.Context, r io.Reader, o *DecodeOptions) (*Decoder, error) {
	d, err := open(ctx, r, o)
	if err != nil {
		return nil, err
	}
	if _, err := d.src.whole(ctx); err != nil {
		return nil, decoding(reading(err))
	}
	d.info.Memory = d.head.cost + d.src.held()
	return d, nil
}

// decoding names the package in an error, which is not nil.
func decoding(err error) error { return fmt.Errorf("imageio: decode: %w", err) }

// open reads the header of a picture, and of r only what that needs.
func open(ctx context.Context, r io.Reader, o *DecodeOptions) (d *Decoder, err error) {
	defer func() {
		if err != nil {
			d, err = nil, decoding(err)
		}
	}()
	if err := errs.Context(ctx); err != nil {
		return nil, err
	}
	if errs.Nil(r) {
		return nil, fmt.Errorf("%w: no reader", errs.ErrInvalidArgument)
	}
	if o == nil {
		o = &DecodeOptions{}
	}
	if o.Depth != 0 && o.Depth != 8 && o.Depth != 16 {
		return nil, fmt.Errorf("%w: depth of the image (got %d, want 8 or 16)", errs.ErrInvalidArgument, o.Depth)
	}
	if o.MaxBytes < 0 || o.MaxPixels < 0 {
		return nil, fmt.Errorf("%w: a negative limit (MaxBytes %d, MaxPixels %d)", errs.ErrInvalidArgument, o.MaxBytes, o.MaxPixels)
	}
	if o.Page < 0 {
		return nil, fmt.Errorf("%w: page (got %d, want 1 or more, or 0 for the first one)", errs.ErrInvalidArgument, o.Page)
	}
	if o.AtLeast.X < 0 || o.AtLeast.Y < 0 {
		return nil, fmt.Errorf("%w: a negative size (AtLeast %v)", errs.ErrInvalidArgument, o.AtLeast)
	}
	maxBytes, maxPixels := o.MaxBytes, o.MaxPixels
	if maxBytes == 0 {
		maxBytes = DefaultMaxBytes
	}
	if maxPixels == 0 {
		maxPixels = DefaultMaxPixels
	}
	defer contain(&err)
	src, err := newSource(r, maxBytes)
	if err != nil {
		return nil, err
	}
	v := &view{ctx: ctx, src: src, page: o.Page}
	d = &Decoder{src: src, page: o.Page}
	d.head, d.info.Format, err = v.readHeader(maxPixels)
	if err := v.verdict(err); err != nil {
		return nil, err
	}
	d.info.Orientation = int(d.head.turn)
	if o.AsStored {
		d.head.turn = upright
	} else {
		d.head.meta.upright()
	}
	d.info.Width, d.info.Height = d.head.size()
	d.info.Full = image.Pt(d.info.Width, d.info.Height)
	d.info.Grey, d.info.Depth, d.info.Palette = d.head.grey, d.head.depth, d.head.palette
	d.info.Subsampling = d.head.sampling
	d.info.WebP = d.head.webp
	d.info.Frames, d.maxPixels = 1+d.head.frames, maxPixels
	if d.head.frames > 0 {
		d.info.Plays = d.head.plays
	}
	d.info.Metadata, d.info.MetadataErr = d.head.meta, d.head.metaErr
	if d.wide = o.Depth == 16 && d.head.deep; d.wide {
		d.head.cost += 4 * int64(d.info.Width) * int64(d.info.Height)
	}
	d.info.Memory = d.head.cost + src.held()
	return d, nil
}

// readHeader reads the format, size and orientation. It reads nothing whose size a small file
// could exaggerate. It refuses pictures of more than maxPixels before any of their bytes is
// decoded.
func (v *view) readHeader(maxPixels int64) (*header, Format, error) {
	var head [headBytes]byte
	n, err := v.ReadAt(head[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, "", err
	}
	if n == 0 {
		return nil, "", fmt.Errorf("%w: there is nothing to read", ErrDamaged)
	}
	format, ok := DetectFormat(head[:n])
	if !ok {
		return nil, "", formatError{}
	}
	fits := func(w, h int) error { return fits(w, h, maxPixels) }
	h, err := readers[format](v, fits)
	if err == nil && v.page > 0 && format != TIFF {
		err = h.choosePage(v, format, maxPixels)
	}
	return h, format, err
}

// fits returns an error if a picture has no pixels, or more than the limit.
func fits(w, h int, limit int64) error {
	if w <= 0 || h <= 0 {
		return fmt.Errorf("%w: its size is %d×%d", ErrDamaged, w, h)
	}
	if limit = min(limit, math.MaxInt/8); int64(w) > limit/int64(h) {
		return fmt.Errorf("%w: %d×%d is %s, the limit is %s (raise MaxPixels if you trust it)",
			ErrTooLarge, w, h, pixels.Count(float64(w)*float64(h)), pixels.Count(float64(limit)))
	}
	return nil
}

// Info is what the file says about the picture.
func (d *Decoder) Info() Info {
	if d == nil {
		return Info{}
	}
	return d.info
}

func (d *Decoder) bounds() image.Rectangle { return image.Rect(0, 0, d.info.Width, d.info.Height) }

// DecodeTo decodes the picture into an image of the caller, which has the size that Info says.
// An *image.NRGBA gets the pixels as Decode returns them, and takes no memory beside it. So does
// an *image.RGBA, whose colours are then multiplied by alpha as by color.RGBAModel. An
// *image.NRGBA64 gets all bits that the file has, and if Info.Depth is above 8 takes no memory
// beside it either. Any other dst gets the result of Decode by draw.Draw. After an error dst may have a part of the picture.
// Errors: ErrUnsupported, ErrDamaged, that of the reader, ctx.Err(), lathe.ErrInvalidArgument (no
// context, an image of another size).
func (d *Decoder) DecodeTo(ctx context.Context, dst draw.Image) error {
	if err := errs.Context(ctx); err != nil {
		return decoding(err)
	}
	if d == nil || d.head == nil {
		return decoding(fmt.Errorf("%w: a Decoder that NewDecoder has not made", errs.ErrInvalidArgument))
	}
	if err := pixels.Check(dst); err != nil {
		return decoding(fmt.Errorf("%w: %w", errs.ErrInvalidArgument, err))
	}
	if got, want := dst.Bounds().Size(), d.bounds().Size(); got != want {
		return decoding(fmt.Errorf("%w: size of the image (got %v, want %v)", errs.ErrInvalidArgument, got, want))
	}
	switch m := dst.(type) {
	case *image.NRGBA:
		return d.decode(ctx, func() canvas { return onNRGBA(m) })
	case *image.NRGBA64:
		if d.head.deep {
			return d.decode(ctx, func() canvas { return onNRGBA64(m) })
		}
	case *image.RGBA:
		err := d.decode(ctx, func() canvas { return canvas{m.Pix, m.Stride, 4} })
		if err == nil {
			pixels.Premultiply(m.Pix, m.Stride, m.Rect.Dx(), m.Rect.Dy())
		}
		return err
	}
	own, err := d.decodeNew(ctx, false)
	if err != nil {
		return err
	}
	if m, ok := dst.(*image.NRGBA64); ok { // what draw.Draw makes of transparent colours loses bits
		rows := pixels.Rows16(own)
		pixels.EachRow(m.Stride, m.Rect.Dy(), func(y int) { rows(m.Pix[y*m.Stride:y*m.Stride+8*m.Rect.Dx()], y) })
		return nil
	}
	return drawn(dst, own)
}

// drawn draws src on dst, and returns an error if dst panics.
func drawn(dst draw.Image, src image.Image) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = decoding(fmt.Errorf("%w: an image of the type %T that cannot be written: %v", errs.ErrInvalidArgument, dst, p))
		}
	}()
	draw.Draw(dst, dst.Bounds(), src, image.Point{}, draw.Src)
	return nil
}

// decodeNew decodes the picture into an image of its own. It has 16 bits a channel if wide is set.
func (d *Decoder) decodeNew(ctx context.Context, wide bool) (m image.Image, err error) {
	err = d.decode(ctx, func() canvas {
		if wide {
			own := image.NewNRGBA64(d.bounds())
			m = own
			return onNRGBA64(own)
		}
		own := image.NewNRGBA(d.bounds())
		m = own
		return onNRGBA(own)
	})
	return m, err
}

// decode decodes the picture into what dst returns.
func (d *Decoder) decode(ctx context.Context, dst func() canvas) (err error) {
	v := &view{ctx: ctx, src: d.src}
	defer func() {
		if err = v.verdict(err); err != nil {
			err = decoding(err)
		}
	}()
	defer contain(&err)
	return d.head.read(v, dst())
}

// contain turns a panic of a decoder into an error of its file.
func contain(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: its decoder gave up (%v)", ErrDamaged, p)
	}
}
