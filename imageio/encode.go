package imageio

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"math"

	"github.com/lathe-gpu/lathe/internal/avif"
	"github.com/lathe-gpu/lathe/internal/errs"
	ownjpeg "github.com/lathe-gpu/lathe/internal/jpeg"
	"github.com/lathe-gpu/lathe/internal/pixels"
	"github.com/lathe-gpu/lathe/internal/tiff"
	"github.com/lathe-gpu/lathe/internal/webp"
)

// EncodeOptions are the settings of Encode. The zero value is ready to use, and so is nil. Write
// the names of fields: there will be more.
type EncodeOptions struct {
	// Quality is that of JPEG, of lossy WebP and of AVIF, 1 to 100; 0 means DefaultQuality, and 60 for AVIF. The
	// other formats lose nothing.
	Quality int
	// Subsampling is how a JPEG or AVIF file stores colours: "4:4:4" at full resolution, "4:2:2" at half of it
	// across, "4:4:0" down, or "4:2:0" in both directions. "" means that of Source if it has such a one,
	// and 4:2:0 otherwise. AVIF has no 4:4:0, and takes 4:4:4 for it.
	Subsampling string
	// Progressive says that a JPEG file shows the whole picture, coarsely, before all of it has arrived.
	// It has the same pixels, and is a few percent smaller. Encode then keeps up to six bytes a pixel.
	Progressive bool
	// WebP is how a WebP file stores pixels: "lossless", or "lossy" with the Quality. "" means that of Source
	// if it is a WebP file, and lossy otherwise.
	WebP string
	// Compression is how much PNG and TIFF files are compressed, from 1, which is fast, to 9, which is
	// small; 0 means 6. PNG knows three steps: 1 to 3, 4 to 6, 7 to 9.
	Compression int
	// Source is what Decode has said of the picture of which the image was made, or nil. The file
	// is like that one then, where the format can be and the pixels are such. It is grey if Source
	// is and all pixels are grey and opaque. It has a palette or black and white if Source has and the
	// colours are few enough: no colour changes. It has the Metadata, which may be your own:
	// &Info{Metadata: &Metadata{ICC: profile}}. A colour profile for grey is left out of a file with
	// colours.
	Source *Info
}

// Encode writes the image in the format: JPEG, PNG, TIFF compressed by deflate, GIF, WebP or AVIF. It takes any
// image.Image of at least one pixel, and does not change it. For JPEG, transparent pixels are
// laid over white. A GIF file has up to 256 colours. A picture of more gets the best ones, with
// dithering, and no colour of one with fewer is changed. Pixels of less than half alpha become transparent, and the others
// opaque. PNG and TIFF keep the bits that the image's type has, such as the 16 bits of
// an *image.Gray16. WebP and AVIF have 8 bits a channel and alpha, and no greys.
//
// Encode writes large pieces, so w needs no buffer. When ctx ends, Encode writes nothing more,
// but it waits for a w that waits. After an error w may have got a part of the picture.
// Errors: that of w, ctx.Err(), ErrTooLarge (JPEG, GIF and AVIF end at 65535 pixels a side, WebP at 16383, TIFF at 4 GiB,
// AVIF at about 100 million pixels; or more metadata than the format can have, see Metadata.Fit), ErrUnsupported (a format
// that is read only, AVIF without package imageio/avif, IPTC metadata for WebP or AVIF, or any for GIF),
// lathe.ErrInvalidArgument (no context, writer or image, an image without pixels, an unknown format,
// subsampling or kind of WebP, a quality or compression out of range).
func Encode(ctx context.Context, w io.Writer, img image.Image, f Format, o *EncodeOptions) error {
	if err := encode(ctx, w, img, f, o); err != nil {
		return fmt.Errorf("imageio: encode: %w", err)
	}
	return nil
}

func encode(ctx context.Context, w io.Writer, img image.Image, f Format, o *EncodeOptions) (err error) {
	if o, err = o.checked(ctx, w, f); err != nil {
		return err
	}
	if err := pixels.Check(img); err != nil {
		return fmt.Errorf("%w: %w", errs.ErrInvalidArgument, err)
	}
	size := img.Bounds().Size()
	if err := fitsInto(size, f); err != nil {
		return err
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: the image of the type %T cannot be read, or the writer panicked: %v", errs.ErrInvalidArgument, img, p)
		}
	}()
	out := &checkedWriter{ctx: ctx, w: w, left: math.MaxInt64}
	meta, err := o.metadata(f)
	if err != nil {
		return err
	}
	meta = meta.sized(size.X, size.Y)
	buf := bufio.NewWriterSize(out, 256<<10)
	ready := like(prepared(img, f), o.Source, f)
	meta = meta.fitting(ready, f)
	switch f {
	case JPEG:
		err = writeJPEG(&splicer{w: buf, left: 2, insert: meta.segments(JPEG)}, ready, o.sampling(), o.Quality, o.Progressive)
	case PNG:
		err = writePNG(&splicer{w: buf, left: pngHead, insert: meta.segments(PNG)}, ready, o.Compression)
	case TIFF:
		out.left = math.MaxUint32 // its offsets have 32 bits
		err = writeTIFF(buf, ready, meta, cmp.Or(o.Compression, 6))
	case WebP:
		err = writeWebP(ctx, buf, img, meta, o.webP() == lossless, o.Quality)
	case GIF:
		err = writeGIF(buf, img)
	case AVIF:
		err = writeAVIF(ctx, buf, img, meta, o.sampling(), o.Quality)
	}
	if err != nil {
		return err
	}
	return buf.Flush()
}

// written names the formats that are written, for errors.
const written = "jpeg, png, tiff, gif, webp or avif"

// checked returns the options with their defaults, and finds mistakes in what the functions get that write pictures.
func (o *EncodeOptions) checked(ctx context.Context, w io.Writer, f Format) (*EncodeOptions, error) {
	if err := errs.Context(ctx); err != nil {
		return nil, err
	}
	if errs.Nil(w) {
		return nil, fmt.Errorf("%w: no writer", errs.ErrInvalidArgument)
	}
	var own EncodeOptions
	if o != nil {
		own = *o
	}
	switch {
	case own.Quality == 0 && f == AVIF:
		own.Quality = avifQuality
	case own.Quality == 0:
		own.Quality = DefaultQuality
	}
	switch {
	case own.Quality < 1 || own.Quality > 100:
		return nil, fmt.Errorf("%w: quality (got %d, want 1 to 100)", errs.ErrInvalidArgument, own.Quality)
	case own.Subsampling != "" && !knownSampling(own.Subsampling):
		return nil, fmt.Errorf("%w: subsampling (got %q, want 4:4:4, 4:2:2, 4:4:0 or 4:2:0)", errs.ErrInvalidArgument, own.Subsampling)
	case own.WebP != "" && own.WebP != lossless && own.WebP != lossy:
		return nil, fmt.Errorf("%w: kind of WebP (got %q, want %q or %q)", errs.ErrInvalidArgument, own.WebP, lossless, lossy)
	case own.Compression < 0 || own.Compression > 9:
		return nil, fmt.Errorf("%w: compression (got %d, want 1 to 9)", errs.ErrInvalidArgument, own.Compression)
	case f.Extension() == "":
		return nil, fmt.Errorf("%w: format (got %q, want %s)", errs.ErrInvalidArgument, f, written)
	case !f.CanEncode():
		return nil, notWritten(f)
	}
	return &own, nil
}

// fitsInto returns an error if a picture has no pixels, or a side that is too long for the format.
func fitsInto(size image.Point, f Format) error {
	if size.X == 0 || size.Y == 0 {
		return fmt.Errorf("%w: an image of %d×%d pixels", errs.ErrInvalidArgument, size.X, size.Y)
	}
	return f.fits(size.X, size.Y)
}

// notWritten is the error of a format that is read only.
func notWritten(f Format) error {
	if f == AVIF {
		return avif.Available()
	}
	return fmt.Errorf("%w: writing %s (want %s)", ErrUnsupported, f, written)
}

// sharing is how many pixels share a colour, across and down.
var sharing = map[string][2]int{"4:4:4": {1, 1}, "4:2:2": {2, 1}, "4:4:0": {1, 2}, "4:2:0": {2, 2}}

func knownSampling(s string) bool { return sharing[s] != [2]int{} }

// sampling is how colours are to be stored.
func (o *EncodeOptions) sampling() string {
	switch {
	case o.Subsampling != "":
		return o.Subsampling
	case o.Source != nil && knownSampling(o.Source.Subsampling):
		return o.Source.Subsampling
	}
	return "4:2:0"
}

// The kinds of WebP.
const (
	lossless = "lossless"
	lossy    = "lossy"
)

// webP is how a WebP file is to store pixels.
func (o *EncodeOptions) webP() string {
	if o.WebP == "" && o.Source != nil {
		return o.Source.WebP
	}
	return o.WebP
}

// writeWebP writes a picture of any type.
func writeWebP(ctx context.Context, w io.Writer, img image.Image, meta *Metadata, exact bool, quality int) error {
	size := img.Bounds().Size()
	p := &webp.Picture{Width: size.X, Height: size.Y, Row: pixels.Rows(img), Alpha: !opaque(img), Lossless: exact, Quality: quality}
	if meta != nil {
		p.ICC, p.EXIF, p.XMP = meta.ICC, meta.EXIF, meta.XMP
	}
	err := webp.Encode(ctx, w, p)
	if errors.Is(err, webp.ErrTooLong) {
		return fmt.Errorf("%w: %w: write PNG", ErrTooLarge, err)
	}
	return err
}

// writeJPEG writes an opaque picture.
func writeJPEG(w io.Writer, img image.Image, sampling string, quality int, progressive bool) error {
	_, grey := img.(*image.Gray)
	if (grey || sampling == "4:2:0") && !progressive {
		return jpeg.Encode(w, img, &jpeg.Options{Quality: quality})
	}
	if grey {
		sampling = "4:4:4"
	}
	size, share := img.Bounds().Size(), sharing[sampling]
	return ownjpeg.Encode(w, &ownjpeg.Picture{
		Width: size.X, Height: size.Y, Row: pixels.Rows(img), Across: share[0], Down: share[1], Quality: quality, Progressive: progressive, Grey: grey,
	})
}

func pngLevel(n int) png.CompressionLevel {
	switch {
	case n == 0 || n > 3 && n < 7:
		return png.DefaultCompression
	case n < 4:
		return png.BestSpeed
	}
	return png.BestCompression
}

// metadata is what the options want to be written.
func (o *EncodeOptions) metadata(f Format) (*Metadata, error) {
	if o.Source == nil {
		return nil, nil
	}
	m, err := o.Source.Metadata.Fit(f)
	if err != nil {
		return nil, fmt.Errorf("%w (Metadata.Fit leaves it out)", errors.Unwrap(err))
	}
	return m, nil
}

// pngHead is how many bytes of a PNG file are before all chunks but the first.
const pngHead = 8 + 25

// segments is the metadata as bytes of a file.
func (m *Metadata) segments(f Format) []byte {
	switch {
	case m == nil:
		return nil
	case f == PNG:
		return m.pngChunks()
	}
	return m.jpegSegments()
}

// fitting leaves out a colour profile that is for other colours than those of the file.
func (m *Metadata) fitting(img image.Image, f Format) *Metadata {
	if m == nil {
		return nil
	}
	fit := *m
	_, grey := img.(*packedGrey)
	// Some writers give grey pictures a profile for RGB, and mean its curves.
	model := img.ColorModel()
	grey = grey || model == color.GrayModel || model == color.Gray16Model
	if (!grey || f == WebP || f == AVIF) && profileOf(fit.ICC) == "GRAY" {
		fit.ICC = nil
	}
	return &fit
}

// splicer inserts bytes after the first ones.
type splicer struct {
	w      io.Writer
	left   int // bytes before insert
	insert []byte
}

func (s *splicer) Write(p []byte) (n int, err error) {
	if s.insert != nil {
		head := min(s.left, len(p))
		if n, err = s.w.Write(p[:head]); err != nil {
			return n, err
		}
		if s.left -= head; s.left > 0 {
			return n, nil
		}
		if _, err := s.w.Write(s.insert); err != nil {
			return n, err
		}
		s.insert = nil
		p = p[head:]
	}
	m, err := s.w.Write(p)
	return n + m, err
}

// writeTIFF writes a picture of any type.
func writeTIFF(w io.Writer, img image.Image, meta *Metadata, level int) error {
	size := img.Bounds().Size()
	p := &tiff.Picture{Width: size.X, Height: size.Y, Bits: 8, Samples: 3, Level: level}
	if meta != nil {
		p.Head, p.Tags = meta.tiffTags()
	}
	if m, ok := img.(*packedGrey); ok {
		pix, stride := m.bytes()
		p.Samples, p.Bits = 2, int(m.depth)
		p.Row = func(dst []byte, y int) { copy(dst, pix[y*stride:]) }
		return tooLong(tiff.Write(w, p))
	}
	solid := opaque(img)
	if !solid {
		p.Samples = 4
	}
	if m, ok := img.(*image.Paletted); ok && solid {
		p.Samples, p.Palette = 1, m.Palette
		p.Row = func(dst []byte, y int) { copy(dst, m.Pix[y*m.Stride:]) }
		if isBlackWhite(m.Palette) {
			p.Bits, p.Palette = 1, nil
			p.Row = func(dst []byte, y int) {
				clear(dst)
				for x, v := range m.Pix[y*m.Stride : y*m.Stride+size.X] {
					dst[x/8] |= v & 1 << (7 - x%8)
				}
			}
		}
		return tooLong(tiff.Write(w, p))
	}
	wide := 4 * size.X // the row as pixels has it
	rows := pixels.Rows(img)
	if pixels.Deep(img) {
		wide, p.Bits, rows = 8*size.X, 16, pixels.Rows16(img)
	}
	if _, grey := img.(*image.Gray); grey || img.ColorModel() == color.Gray16Model {
		p.Samples = 1
	}
	line, n := make([]byte, wide), p.Samples
	p.Row = func(dst []byte, y int) {
		rows(line, y)
		for x := range size.X {
			if p.Bits == 8 {
				copy(dst[n*x:n*x+n], line[4*x:])
				continue
			}
			copy(dst[2*n*x:2*n*x+2*n], line[8*x:])
		}
	}
	return tooLong(tiff.Write(w, p))
}

func tooLong(err error) error {
	if tiff.IsTooLong(err) {
		return fmt.Errorf("%w: %w: write PNG", ErrTooLarge, err)
	}
	return err
}

// prepared returns the image as the encoder of the format wants it.
func prepared(img image.Image, f Format) image.Image {
	switch solid := opaque(img); {
	case solid:
		// An opaque picture has the same bytes either way, and the encoders have a fast path
		// for this type.
		if m, ok := img.(*image.NRGBA); ok && f != TIFF {
			return &image.RGBA{Pix: m.Pix, Stride: m.Stride, Rect: m.Rect}
		}
	case f == JPEG:
		own := toNRGBA(img)
		pixels.OverWhite(own)
		return &image.RGBA{Pix: own.Pix, Stride: own.Stride, Rect: own.Rect}
	}
	return img
}

// toNRGBA returns a copy of the image.
func toNRGBA(img image.Image) *image.NRGBA {
	m := image.NewNRGBA(image.Rectangle{Max: img.Bounds().Size()})
	rows := pixels.Rows(img)
	pixels.EachRow(m.Stride, m.Rect.Dy(), func(y int) { rows(m.Pix[y*m.Stride:(y+1)*m.Stride], y) })
	return m
}

// opaque reports whether every pixel is known to be opaque.
func opaque(img image.Image) bool {
	if pixels.Opaque(img) {
		return true
	}
	switch img := img.(type) {
	case *image.NRGBA, *image.RGBA:
		return false // as pixels.Opaque has seen
	case interface{ Opaque() bool }:
		return img.Opaque()
	}
	return false
}

// checkedWriter writes until the context ends, and at most left bytes.
type checkedWriter struct {
	ctx  context.Context
	w    io.Writer
	left int64
}

func (c *checkedWriter) Write(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	if c.left -= int64(len(p)); c.left < 0 {
		return 0, fmt.Errorf("%w: TIFF ends at 4 GiB: write PNG", ErrTooLarge)
	}
	return c.w.Write(p)
}
