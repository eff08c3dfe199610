package batch

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"os"

	"github.com/lathe-gpu/lathe/internal/bmp"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/tiff"
	"github.com/lathe-gpu/lathe/internal/webp"
)

// errFormat is the error of a file that is not a picture.
var errFormat = errors.New("not a picture in a format Lathe reads (JPEG, PNG, TIFF, BMP, GIF, WebP)")

// header is what the first bytes of a picture say about it.
type header struct {
	format        string // as image.DecodeConfig names it
	width, height int    // as stored
	turn          orientation
	cost          int64 // the approximate number of bytes that decoding and converting hold at once
	// read decodes the picture into dst. dst has the size of the upright picture.
	read func(dst *image.NRGBA, workers int) error
}

// size is the size of the upright picture.
func (h *header) size() (w, ht int) {
	if h.turn.swaps() {
		return h.height, h.width
	}
	return h.width, h.height
}

// source is an open picture. When the context ends, reads return its error, and so decoding
// ends early.
type source struct {
	ctx  context.Context
	data interface {
		io.ReadSeeker
		io.ReaderAt
	}
	size int64
	info os.FileInfo // of a regular file; nil if there is none
	file *os.File    // the file to close, if openSource has opened it
}

// openSource opens a regular file.
func openSource(ctx context.Context, name string) (*source, error) {
	// The kind of file is checked first, because opening a pipe would wait for a writer.
	info, err := os.Stat(name)
	if err != nil {
		return nil, bare(err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("not a regular file (%s)", kindOf(info.Mode()))
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, bare(err)
	}
	return &source{ctx: ctx, data: f, size: info.Size(), info: info, file: f}, nil
}

func kindOf(m os.FileMode) string {
	switch {
	case m.IsDir():
		return "folder"
	case m&os.ModeNamedPipe != 0:
		return "pipe"
	case m&os.ModeSocket != 0:
		return "socket"
	}
	return "device"
}

func (s *source) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.data.Read(p)
}

func (s *source) ReadAt(p []byte, off int64) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.data.ReadAt(p, off)
}

func (s *source) Seek(offset int64, whence int) (int64, error) { return s.data.Seek(offset, whence) }

func (s *source) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// readHeader reads the size, format and orientation. It reads nothing whose size a small file
// could exaggerate. It refuses pictures of more than maxPixels before any of their bytes is
// decoded.
func (s *source) readHeader(maxPixels int64) (h *header, err error) {
	defer contain(&err)
	if s.size == 0 {
		return nil, errors.New("the file is empty")
	}
	var head [18]byte
	n, err := s.ReadAt(head[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, damaged(err)
	}
	switch {
	case webp.IsWebP(head[:n]):
		h, err = s.webp()
	case bmp.IsBMP(head[:n]):
		h, err = s.bmp()
	case tiff.IsTIFF(head[:n]):
		h, err = s.tiff()
	default:
		h, err = s.standard()
	}
	if err != nil {
		return nil, damaged(err)
	}
	w, ht := int64(h.width), int64(h.height)
	if w <= 0 || ht <= 0 {
		return nil, fmt.Errorf("damaged picture: its size is %d×%d", w, ht)
	}
	if w > maxPixels/ht {
		return nil, fmt.Errorf("picture too large: %d×%d is %s, the limit is %s (raise --max-pixels if you trust the file)",
			w, ht, megapixels(float64(w)*float64(ht)), megapixels(float64(maxPixels)))
	}
	return h, s.ctx.Err()
}

func megapixels(n float64) string { return fmt.Sprintf("%.4g MP", n/1e6) }

// decode decodes the picture into dst, which has the upright size of h. It rounds samples of
// more than 8 bits to 8, and takes the first frame of an animation.
func (s *source) decode(dst *image.NRGBA, h *header, workers int) (err error) {
	defer contain(&err)
	if err := h.read(dst, workers); err != nil {
		if c := s.ctx.Err(); c != nil {
			return c
		}
		return damaged(err)
	}
	return s.ctx.Err()
}

// Read reads one picture as Run does: upright, 8 bits a channel, the first frame
// of an animation. A picture of more than maxPixels is refused before its pixels are read; 0
// means DefaultMaxPixels. Errors: ErrUnsupported, which names what Lathe does not read;
// those of opening the file; ctx.Err(); and others that say what is wrong with the file.
func Read(ctx context.Context, name string, maxPixels int64) (*image.NRGBA, error) {
	if err := errs.Context(ctx); err != nil {
		return nil, fmt.Errorf("batch: read: %w", err)
	}
	if maxPixels == 0 {
		maxPixels = DefaultMaxPixels
	}
	src, err := openSource(ctx, name)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	h, err := src.readHeader(maxPixels)
	if err != nil {
		return nil, err
	}
	w, ht := h.size()
	m := image.NewNRGBA(image.Rect(0, 0, w, ht))
	if err := src.decode(m, h, 0); err != nil {
		return nil, err
	}
	return m, nil
}

// damaged turns a decoder's error into one that users can read.
func damaged(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("damaged picture: the file ends too early")
	}
	if errors.Is(err, errs.ErrUnsupported) || errors.Is(err, errFormat) {
		return err
	}
	return fmt.Errorf("damaged picture: %w", err)
}

// contain turns a panic of a decoder or encoder into an error of its file.
func contain(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("damaged picture: its decoder gave up (%v)", p)
	}
}

// bare removes the file name and the system call from an error of package os, because
// reports name the file themselves.
func bare(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	var l *os.LinkError
	if errors.As(err, &l) {
		return l.Err
	}
	return err
}
