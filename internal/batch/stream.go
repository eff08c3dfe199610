package batch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/lathe-gpu/lathe/imageio"
	"github.com/lathe-gpu/lathe/internal/errs"
)

// Stream is a picture that comes from a reader, such as standard input, and not from a named
// file.
type Stream struct {
	dec  *imageio.Decoder
	size int64       // bytes
	info os.FileInfo // of a regular file, else nil
}

// ReadStream takes a picture from r. If r is a regular file, such as one that a shell has
// redirected, it is read in place. Otherwise all bytes of r are read into memory; 0 for limit
// means DefaultMemory. page is that of imageio.DecodeOptions.
//
// When ctx ends, ReadStream returns, although a call of r.Read may be left behind.
// Errors: those of r, ctx.Err(), and others that say what is wrong: nothing came, it is not a
// picture, it is damaged, it is longer than limit bytes.
func ReadStream(ctx context.Context, r io.Reader, limit int64, page int) (*Stream, error) {
	if err := errs.Context(ctx); err != nil {
		return nil, fmt.Errorf("batch: read: %w", err)
	}
	if errs.Nil(r) {
		return nil, fmt.Errorf("batch: read: %w: no reader", errs.ErrInvalidArgument)
	}
	if limit == 0 {
		limit = DefaultMemory
	}
	s := &Stream{}
	count := &countReader{r: r}
	r = count
	if f, ok := count.r.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			at, err := f.Seek(0, io.SeekCurrent)
			if err != nil {
				return nil, bare(err)
			}
			if s.info, s.size = info, info.Size()-at; s.size <= 0 {
				return nil, errNothing
			}
			r, limit = f, math.MaxInt64
		}
	}
	var err error
	s.dec, err = imageio.NewDecoder(ctx, r, &imageio.DecodeOptions{MaxBytes: limit, MaxPixels: math.MaxInt64, Page: page})
	switch {
	case err == nil:
	case errors.Is(err, imageio.ErrTooLarge) && count.n > limit:
		return nil, fmt.Errorf("%w: more than %s came (raise --memory, or give the name of a file)", imageio.ErrTooLarge, mebibytes(limit))
	case errors.Is(err, imageio.ErrDamaged) && s.info == nil && count.n == 0:
		return nil, errNothing
	default:
		return nil, own(err)
	}
	if s.info == nil {
		s.size = count.n
	}
	return s, nil
}

var errNothing = errors.New("there is nothing to read")

// countReader counts the bytes read.
type countReader struct {
	r io.Reader
	n int64
}

func (c *countReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// Written returns the format of the output, and "" if there will be none, because of Err.
func (j *Job) Written() imageio.Format {
	switch {
	case j == nil || j.Err != nil:
		return ""
	case j.From == nil || j.From.dec == nil:
		return j.Format
	}
	return j.written(j.From.dec.Info().Format)
}

// written is the format of the output of an input in a format.
func (j *Job) written(input imageio.Format) imageio.Format {
	switch {
	case j.Format != "":
		return j.Format
	case input.CanEncode():
		return input
	}
	return imageio.PNG
}

// open opens the picture of the job.
func (j *Job) open() (*input, error) {
	switch s := j.From; {
	case s == nil:
		return openFile(j.Input)
	case s.dec == nil:
		return nil, errNothing
	default:
		return &input{size: s.size, info: s.info, dec: s.dec}, nil
	}
}
