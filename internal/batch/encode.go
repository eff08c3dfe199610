package batch

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/image/tiff"
)

// Format is a format pictures are written in.
type Format string

// The formats pictures are written in. None keeps EXIF data, colour profiles
// or other metadata.
const (
	JPEG Format = "jpeg" // transparent pixels are laid over white
	PNG  Format = "png"
	TIFF Format = "tiff" // deflate-compressed
)

// ParseFormat returns the format of a name or file extension, with or without
// the dot, in any case.
func ParseFormat(name string) (Format, bool) {
	switch strings.ToLower(strings.TrimPrefix(name, ".")) {
	case "jpg", "jpeg", "jpe", "jfif":
		return JPEG, true
	case "png":
		return PNG, true
	case "tif", "tiff":
		return TIFF, true
	}
	return "", false
}

// extension is the usual file extension.
func (f Format) extension() string {
	return map[Format]string{JPEG: ".jpg", PNG: ".png", TIFF: ".tiff"}[f]
}

// encode writes the picture. It may change m's pixels.
func encode(w io.Writer, m *image.NRGBA, f Format, quality int) (err error) {
	defer contain(&err)
	var img image.Image = m
	solid := opaque(m)
	if f == JPEG {
		if m.Rect.Dx() > 65535 || m.Rect.Dy() > 65535 {
			return fmt.Errorf("JPEG ends at 65535 pixels a side and the picture is %d×%d: use --format png", m.Rect.Dx(), m.Rect.Dy())
		}
		if !solid {
			flatten(m)
			solid = true
		}
	}
	if solid {
		// An opaque picture has the same bytes either way, and the encoders
		// have a fast path for this type.
		img = &image.RGBA{Pix: m.Pix, Stride: m.Stride, Rect: m.Rect}
	}
	switch f {
	case JPEG:
		return jpeg.Encode(w, img, &jpeg.Options{Quality: quality})
	case PNG:
		return png.Encode(w, img)
	case TIFF:
		return tiff.Encode(w, img, &tiff.Options{Compression: tiff.Deflate, Predictor: true})
	}
	return fmt.Errorf("unknown output format %q", f)
}

// opaque reports whether every alpha is 255, two pixels at a time.
func opaque(m *image.NRGBA) bool {
	pix := m.Pix
	for ; len(pix) >= 8; pix = pix[8:] {
		if binary.LittleEndian.Uint64(pix)&0xff000000_ff000000 != 0xff000000_ff000000 {
			return false
		}
	}
	return len(pix) < 4 || pix[3] == 255
}

// flatten lays the picture over white.
func flatten(m *image.NRGBA) {
	for i := 0; i+3 < len(m.Pix); i += 4 {
		p := m.Pix[i : i+4 : i+4]
		a := uint32(p[3])
		if a == 255 {
			continue
		}
		for c := range 3 {
			p[c] = byte((uint32(p[c])*a + 255*(255-a) + 127) / 255)
		}
		p[3] = 255
	}
}

// write encodes the picture into the file name below root. The file is written completely or
// not at all: it is written under a hidden temporary name in the same folder, and then
// renamed. replace says whether an existing file may be replaced.
func write(ctx context.Context, root *os.Root, name string, m *image.NRGBA, f Format, quality int, replace bool) (size int64, err error) {
	dir := filepath.Dir(name)
	if err := root.MkdirAll(dir, 0o777); err != nil {
		return 0, fmt.Errorf("output folder %s: %w", dir, bare(err))
	}
	temp := filepath.Join(dir, fmt.Sprintf(".lathe-%016x.tmp", rand.Uint64()))
	file, err := root.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return 0, fmt.Errorf("output folder: %w", bare(err))
	}
	defer func() {
		if err != nil {
			file.Close() // harmless when already closed
			if e := root.Remove(temp); e != nil && !errors.Is(e, fs.ErrNotExist) {
				err = fmt.Errorf("%w (and the temporary file %s stays: %v)", err, temp, bare(e))
			}
			size = 0
		}
	}()
	if size, err = writeTo(ctx, file, m, f, quality); err != nil {
		return 0, err
	}
	if err := file.Close(); err != nil {
		return 0, writing(err)
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if err := vacant(root, name, replace); err != nil {
		return 0, err
	}
	if err := root.Rename(temp, name); err != nil {
		return 0, writing(err)
	}
	return size, nil
}

// writeTo encodes the picture to w, which cannot take back what it has got.
func writeTo(ctx context.Context, w io.Writer, m *image.NRGBA, f Format, quality int) (size int64, err error) {
	out := &counter{ctx: ctx, w: w}
	buf := bufio.NewWriterSize(out, 256<<10)
	if err = encode(buf, m, f, quality); err == nil {
		err = buf.Flush()
	}
	if err != nil {
		return out.n, writing(err)
	}
	return out.n, nil
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

// counter counts the bytes written. When the context ends, it returns its error.
type counter struct {
	ctx context.Context
	w   io.Writer
	n   int64
}

func (c *counter) Write(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
