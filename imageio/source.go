package imageio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync"

	"github.com/lathe-gpu/lathe/internal/errs"
)

// source has the bytes of a picture by their offset.
type source struct {
	// An input that can be read at any offset is read in place.
	place *io.SectionReader
	// Any other input is kept as it comes, because decoders go back and forth.
	r     io.Reader
	limit int64

	mu     sync.Mutex
	blocks [][]byte // of blockSize bytes, the last one may have less
	size   int64    // of all blocks
	end    error    // why there are no more bytes; io.EOF at the end
}

// blockSize is how many bytes are kept together. It is small enough that a small picture
// wastes little. So nothing is copied while the bytes become more.
const blockSize = 256 << 10

// newSource returns a source of the bytes that r has from where it stands.
func newSource(r io.Reader, limit int64) (*source, error) {
	s := &source{r: r, limit: limit}
	in, ok := r.(interface {
		io.ReaderAt
		io.Seeker
	})
	if f, isFile := r.(*os.File); isFile {
		info, err := f.Stat()
		ok = err == nil && info.Mode().IsRegular() // offsets of pipes and devices mean nothing
	}
	if !ok {
		return s, nil
	}
	at, err := in.Seek(0, io.SeekCurrent)
	if err != nil {
		return s, nil
	}
	end, err := in.Seek(0, io.SeekEnd)
	if err != nil {
		return s, nil
	}
	if _, err := in.Seek(at, io.SeekStart); err != nil {
		return nil, reading(err)
	}
	if s.size = max(end-at, 0); s.size > limit {
		return nil, s.tooLong()
	}
	s.place = io.NewSectionReader(in, at, s.size)
	return s, nil
}

func (s *source) tooLong() error {
	return fmt.Errorf("%w: it has more than %d bytes (raise MaxBytes if you trust it)", ErrTooLarge, s.limit)
}

// held is how many bytes of memory the source keeps.
func (s *source) held() int64 { return int64(len(s.blocks)) * blockSize }

// need reads on until there are n bytes, or no more come. It returns ctx.Err() when ctx ends,
// also if r waits then. The source cannot be used after that.
func (s *source) need(ctx context.Context, n int64) error {
	if err := ctx.Err(); err != nil {
		return err // A read that was left behind may hold the lock.
	}
	s.mu.Lock()
	if s.size >= n || s.end != nil {
		s.mu.Unlock()
		return ctx.Err()
	}
	done := make(chan struct{})
	grow := func() {
		defer close(done)
		defer s.mu.Unlock()
		s.grow(ctx, n)
	}
	if ctx.Done() == nil {
		grow()
		return nil
	}
	go grow()
	select {
	case <-done:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// grow reads until there are n bytes, or no more come, or ctx ends.
func (s *source) grow(ctx context.Context, n int64) {
	defer func() {
		if p := recover(); p != nil {
			s.end = fmt.Errorf("the reader panicked: %v", p)
		}
	}()
	idle := 0
	for s.size < n && s.end == nil && ctx.Err() == nil {
		last := len(s.blocks) - 1
		if last < 0 || len(s.blocks[last]) == blockSize {
			s.blocks = append(s.blocks, make([]byte, 0, blockSize))
			last++
		}
		b := s.blocks[last]
		got, err := s.r.Read(b[len(b):blockSize])
		if got < 0 || got > blockSize-len(b) {
			s.end = fmt.Errorf("the reader returned an impossible count (got %d, want 0 to %d)", got, blockSize-len(b))
			return
		}
		s.blocks[last] = b[:len(b)+got]
		s.size += int64(got)
		if idle++; got > 0 {
			idle = 0
		}
		switch {
		case s.size > s.limit:
			s.end = s.tooLong()
		case err != nil:
			s.end = err
		case idle == 100:
			s.end = io.ErrNoProgress
		}
	}
}

// whole reads all bytes and returns how many there are.
func (s *source) whole(ctx context.Context) (int64, error) {
	if s.place != nil {
		return s.size, ctx.Err()
	}
	if err := s.need(ctx, math.MaxInt64); err != nil {
		return 0, err
	}
	if s.end != io.EOF {
		return 0, s.end
	}
	return s.size, nil
}

func (s *source) readAt(ctx context.Context, p []byte, off int64) (n int, err error) {
	if s.place != nil {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return s.place.ReadAt(p, off)
	}
	if off < 0 || off > math.MaxInt64-int64(len(p)) {
		return 0, io.EOF // where no bytes are
	}
	if err := s.need(ctx, off+int64(len(p))); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for n < len(p) && off < s.size {
		k := copy(p[n:], s.blocks[off/blockSize][off%blockSize:])
		n, off = n+k, off+int64(k)
	}
	if n < len(p) {
		return n, s.end
	}
	return n, nil
}

// view is a source as decoders read it. When the context ends, reads return its error, and so
// decoding ends early.
type view struct {
	ctx  context.Context
	src  *source
	page int // DecodeOptions.Page

	mu  sync.Mutex
	err error // the first error of reading, which says nothing about the picture
}

// ReadAt reads the source, and keeps its error.
func (v *view) ReadAt(p []byte, off int64) (int, error) {
	n, err := v.src.readAt(v.ctx, p, off)
	v.note(err)
	return n, err
}

// whole reads all bytes, keeps the error, and returns how many there are.
func (v *view) whole() (int64, error) {
	n, err := v.src.whole(v.ctx)
	v.note(err)
	return n, err
}

func (v *view) note(err error) {
	if err == nil || err == io.EOF {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.err == nil {
		v.err = err
	}
}

// reader reads the bytes from the first one.
func (v *view) reader() *io.SectionReader {
	size := int64(math.MaxInt64) // not known before they have come
	if v.src.place != nil {
		size = v.src.size
	}
	return io.NewSectionReader(v, 0, size)
}

// verdict turns the error of a decoder into one that users can read. An error of reading counts
// even if err is nil: what was not read may have been important.
func (v *view) verdict(err error) error {
	if c := v.ctx.Err(); c != nil {
		return c
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.err == nil && err == nil:
		return nil
	case v.err != nil:
		return reading(v.err)
	case errors.Is(err, ErrUnsupported), errors.Is(err, ErrTooLarge), errors.Is(err, ErrDamaged), errors.Is(err, errs.ErrInvalidArgument):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: the file ends too early", ErrDamaged)
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

// reading is the error of an input that cannot be read.
func reading(err error) error {
	if errors.Is(err, ErrTooLarge) {
		return err
	}
	return fmt.Errorf("cannot be read: %w", err)
}
