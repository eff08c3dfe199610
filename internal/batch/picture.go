package batch

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/lathe-gpu/lathe/imageio"
	"github.com/lathe-gpu/lathe/internal/errs"
)

// Picture is a picture in a file, for commands that look at several pictures at once. Its
// errors do not name the file.
type Picture struct {
	in   *input
	info imageio.Info
}

// OpenPicture opens the file name and reads what it says about its picture. A picture of more
// than maxPixels is refused; 0 means DefaultMaxPixels. Close the Picture when you are done.
// Errors: ErrInvalidArgument (no context), imageio.ErrUnsupported, ErrTooLarge and ErrDamaged,
// those of the file, ctx.Err().
func OpenPicture(ctx context.Context, name string, maxPixels int64) (*Picture, error) {
	if err := errs.Context(ctx); err != nil {
		return nil, fmt.Errorf("batch: open picture: %w", err)
	}
	if maxPixels == 0 {
		maxPixels = DefaultMaxPixels
	}
	in, err := openFile(name)
	if err != nil {
		return nil, err
	}
	p := &Picture{in: in}
	if p.info, err = in.header(ctx, maxPixels, 0); err != nil {
		in.close()
		return nil, err
	}
	return p, nil
}

// Info is what the file says about the picture.
func (p *Picture) Info() imageio.Info {
	if p == nil {
		return imageio.Info{}
	}
	return p.info
}

// Single returns an error that wraps imageio.ErrUnsupported if the file has several pictures, such as
// the frames of an animation.
func (p *Picture) Single() error { return single(p.Info()) }

// Memory is about how many bytes Decode takes for a depth.
func (p *Picture) Memory(depth int) int64 {
	h := p.Info()
	if depth == 16 && h.Depth > 8 {
		return h.Memory + deepBytes(h)
	}
	return h.Memory
}

// Decode returns the picture, upright, as imageio.Decode does for a depth.
// Errors: as OpenPicture.
func (p *Picture) Decode(ctx context.Context, depth int) (image.Image, error) {
	m, _, err := p.DecodeAtLeast(ctx, depth, image.Point{})
	return m, err
}

// DecodeAtLeast is Decode of a picture that may be decoded smaller, but not smaller than least, and
// says how it was decoded. See imageio.DecodeOptions.AtLeast.
// Errors: as OpenPicture.
func (p *Picture) DecodeAtLeast(ctx context.Context, depth int, least image.Point) (image.Image, imageio.Info, error) {
	if p == nil || p.in == nil {
		return nil, imageio.Info{}, fmt.Errorf("batch: decode: %w: a Picture that OpenPicture has not made", errs.ErrInvalidArgument)
	}
	if _, err := p.in.file.Seek(0, io.SeekStart); err != nil {
		return nil, imageio.Info{}, bare(err)
	}
	m, info, err := imageio.Decode(ctx, p.in.file, &imageio.DecodeOptions{
		MaxBytes: math.MaxInt64, MaxPixels: math.MaxInt64, Depth: depth, AtLeast: least,
	})
	if err != nil {
		return nil, info, own(err)
	}
	return m, info, nil
}

// Close closes the file.
func (p *Picture) Close() {
	if p != nil && p.in != nil {
		p.in.close()
	}
}

// Save writes a picture into the file name, completely or not at all, and makes its folder if
// there is none. quality is that of JPEG, WebP and AVIF files, 1 to 100; 0 means that of imageio.EncodeOptions. replace says
// whether it may replace a file.
// Errors: ErrInvalidArgument (no context or picture), imageio.ErrTooLarge, those of the file,
// ctx.Err().
func Save(ctx context.Context, name string, m *image.NRGBA, f imageio.Format, quality int, replace bool) error {
	if err := errs.Context(ctx); err != nil {
		return fmt.Errorf("batch: save: %w", err)
	}
	if m == nil || !f.CanEncode() {
		return fmt.Errorf("batch: save: %w: no picture, or a format that is not written (got %q)", errs.ErrInvalidArgument, f)
	}
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("output folder %s: %w", dir, bare(err))
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("output folder %s: %w", dir, bare(err))
	}
	defer root.Close()
	file := filepath.Base(name)
	if err := vacant(root, file, replace); err != nil {
		if errors.Is(err, errExists) {
			return errors.New("the output exists: use --force to replace it")
		}
		return err
	}
	_, err = write(ctx, root, file, func(w io.Writer) error {
		return put(ctx, w, m, f, &imageio.EncodeOptions{Quality: quality})
	}, replace, time.Time{})
	return err
}
