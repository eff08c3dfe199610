package batch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/lathe-gpu/lathe/internal/bmp"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/tiff"
	"github.com/lathe-gpu/lathe/internal/webp"
)

// Stream is a picture that comes from a reader, such as standard input, and not from a named
// file.
type Stream struct {
	data *io.SectionReader
	held int64       // the bytes of it in memory
	info os.FileInfo // of a regular file, else nil
}

// ReadStream takes a picture from r. If r is a regular file, such as one that a shell has
// redirected, it is read in place. Otherwise all bytes of r are read into memory, because
// decoders go back and forth; 0 for limit means DefaultMemory. Bytes that do not begin as a
// picture are refused without reading on.
//
// When ctx ends, ReadStream returns, although a call of r.Read may be left behind.
// Errors: those of r, ctx.Err(), and others that say what is wrong: nothing came, it is not a
// picture, it is longer than limit bytes.
func ReadStream(ctx context.Context, r io.Reader, limit int64) (*Stream, error) {
	if err := errs.Context(ctx); err != nil {
		return nil, fmt.Errorf("batch: read: %w", err)
	}
	if errs.Nil(r) {
		return nil, fmt.Errorf("batch: read: %w: no reader", errs.ErrInvalidArgument)
	}
	if limit == 0 {
		limit = DefaultMemory
	}
	if f, ok := r.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			at, err := f.Seek(0, io.SeekCurrent)
			if err != nil {
				return nil, bare(err)
			}
			if info.Size() <= at {
				return nil, errNothing
			}
			return &Stream{data: io.NewSectionReader(f, at, info.Size()-at), info: info}, nil
		}
	}
	type result struct {
		s   *Stream
		err error
	}
	done := make(chan result, 1)
	go func() {
		s, err := readAll(ctx, r, limit)
		done <- result{s, err}
	}()
	select {
	case x := <-done:
		return x.s, x.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

var errNothing = errors.New("there is nothing to read")

// readAll reads r into memory.
func readAll(ctx context.Context, r io.Reader, limit int64) (*Stream, error) {
	var all blocks
	var size int64
	for {
		b := make([]byte, blockSize)
		n, err := io.ReadFull(r, b)
		if len(all) == 0 && n > 0 && !begins(b[:n]) {
			return nil, errFormat
		}
		if size += int64(n); size > limit {
			return nil, fmt.Errorf("%w: more than %s came (raise --memory, or give the name of a file)", errTooLarge, mebibytes(limit))
		}
		all = append(all, b[:n])
		switch {
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			if size == 0 {
				return nil, errNothing
			}
			return &Stream{data: io.NewSectionReader(all, 0, size), held: int64(len(all)) * blockSize}, nil
		case err != nil:
			return nil, fmt.Errorf("cannot be read: %w", bare(err))
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
	}
}

// begins reports whether the bytes begin as a picture does.
func begins(b []byte) bool {
	return webp.IsWebP(b) || bmp.IsBMP(b) || tiff.IsTIFF(b) ||
		bytes.HasPrefix(b, []byte("\xff\xd8")) || bytes.HasPrefix(b, []byte("\x89PNG")) || bytes.HasPrefix(b, []byte("GIF8"))
}

// blockSize is how many bytes are read at a time. It is small enough that a small picture
// wastes little.
const blockSize = 256 << 10

// blocks are bytes in pieces of blockSize, of which the last one may be shorter. So nothing
// is copied while they grow.
type blocks [][]byte

func (b blocks) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		i := int((off + int64(n)) / blockSize)
		at := int((off + int64(n)) % blockSize)
		if i >= len(b) || at >= len(b[i]) {
			return n, io.EOF
		}
		n += copy(p[n:], b[i][at:])
	}
	return n, nil
}

// open opens the picture of the job. held is how many bytes of it are in memory already.
func (j *Job) open(ctx context.Context) (src *source, held int64, err error) {
	if s := j.From; s != nil && s.data == nil {
		return nil, 0, errNothing
	} else if s != nil {
		return &source{ctx: ctx, data: s.data, size: s.data.Size(), info: s.info}, s.held, nil
	}
	src, err = openSource(ctx, j.Input)
	return src, 0, err
}
