package batch

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/lathe-gpu/lathe/imageio"
	"github.com/lathe-gpu/lathe/internal/pixels"
)

// ParseFormat returns the format of a name or file extension, with or without the dot, in any
// case. It knows the formats pictures are written in.
func ParseFormat(name string) (imageio.Format, bool) {
	if f, ok := imageio.ParseFormat(name); ok && f.CanEncode() {
		return f, true
	}
	return "", false
}

// write writes what put writes into the file name below root. The file is written completely or
// not at all: it is written under a hidden temporary name in the same folder, and then
// renamed (see temporary.go). replace says whether an existing file may be replaced. The file gets the modification
// time mtime, unless that is zero.
func write(ctx context.Context, root *os.Root, name string, put func(w io.Writer) error, replace bool, mtime time.Time) (size int64, err error) {
	dir := filepath.Dir(name)
	if err := root.MkdirAll(dir, 0o777); err != nil {
		return 0, fmt.Errorf("output folder %s: %w", dir, bare(err))
	}
	temp, err := newTemporary(root, dir)
	if err != nil {
		return 0, fmt.Errorf("output folder %s: %w", filepath.Join(root.Name(), dir), bare(err))
	}
	defer func() {
		if err != nil {
			if e := temp.remove(); e != nil && !errors.Is(e, fs.ErrNotExist) {
				err = fmt.Errorf("%w (and the temporary file %s stays: %v)", err, temp.name, bare(e))
			}
			size = 0
		}
	}()
	if size, err = writeBy(temp.file, put); err != nil {
		return 0, err
	}
	if err := temp.file.Close(); err != nil {
		return 0, writing(err)
	}
	if !mtime.IsZero() {
		if err := root.Chtimes(temp.name, time.Time{}, mtime); err != nil {
			return 0, fmt.Errorf("cannot set the time of the output: %w", bare(err))
		}
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if err := vacant(root, name, replace); err != nil {
		return 0, err
	}
	if err := temp.rename(name); err != nil {
		return 0, writing(err)
	}
	return size, nil
}

// writeBy writes to w, which cannot take back what it has got.
func writeBy(w io.Writer, put func(w io.Writer) error) (size int64, err error) {
	out := &counter{w: w}
	to := io.Writer(out)
	if f, ok := w.(*os.File); ok && f != os.Stdout {
		to = &fileCounter{counter: out, file: f}
	}
	if err := put(to); err != nil {
		return out.n, err
	}
	return out.n, nil
}

// put encodes the picture. It may change m's pixels.
func put(ctx context.Context, w io.Writer, m image.Image, f imageio.Format, o *imageio.EncodeOptions) error {
	if own, ok := m.(*image.NRGBA); ok && f == imageio.JPEG {
		pixels.OverWhite(own) // Encode would make a copy for that.
	}
	if err := imageio.Encode(ctx, w, m, f, o); err != nil {
		return writing(own(err))
	}
	return nil
}

// sized returns the error of writing a picture that is larger than the format can have.
func sized(f imageio.Format, size image.Point) error {
	if err := f.CheckSize(size.X, size.Y); err != nil {
		return writing(own(err))
	}
	return nil
}

// errExists is the error of a job whose output exists already.
var errExists = errors.New("the output exists: use --force to replace it or --skip-existing to leave it")

// vacant returns an error if name below root must not be written.
func vacant(root *os.Root, name string, replace bool) error {
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return writing(err)
	case info.IsDir():
		return fmt.Errorf("cannot write the output: a folder of that name exists")
	case !replace:
		return errExists
	}
	return nil
}

func writing(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("cannot write the output: %w", bare(err))
}

// counter counts the bytes written.
type counter struct {
	w io.Writer
	n int64
}

// fileCounter is a counter of a file, whose beginning can be written again.
type fileCounter struct {
	*counter
	file *os.File
}

func (c *fileCounter) WriteAt(p []byte, at int64) (int, error)  { return c.file.WriteAt(p, at) }
func (c *fileCounter) Seek(at int64, whence int) (int64, error) { return c.file.Seek(at, whence) }

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
