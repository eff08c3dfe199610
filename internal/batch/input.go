package batch

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/lathe-gpu/lathe/imageio"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/pixels"
)

// input is the picture of a job.
type input struct {
	size int64       // bytes
	info os.FileInfo // of a regular file; nil if there is none
	file *os.File    // the file to close, if openFile has opened it
	dec  *imageio.Decoder
}

// openFile opens a regular file, and reads nothing.
func openFile(name string) (*input, error) {
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
	return &input{size: info.Size(), info: info, file: f}, nil
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

func (in *input) close() {
	if in.file != nil {
		in.file.Close()
	}
}

// header reads what the picture says about itself, and refuses it if it has more than maxPixels. page is that of
// imageio.DecodeOptions.
func (in *input) header(ctx context.Context, maxPixels int64, page int) (h imageio.Info, err error) {
	if in.dec == nil {
		if in.size == 0 {
			return h, errors.New("the file is empty")
		}
		if in.dec, err = imageio.NewDecoder(ctx, in.file, &imageio.DecodeOptions{MaxBytes: math.MaxInt64, MaxPixels: math.MaxInt64, Page: page}); err != nil {
			return h, own(err)
		}
	}
	h = in.dec.Info()
	if err := checkPixels("", image.Pt(h.Width, h.Height), maxPixels, " if you trust the file"); err != nil {
		return h, err
	}
	return h, ctx.Err()
}

// checkPixels refuses a size of more than most pixels. what names the picture, and when says when a
// user should raise the limit.
func checkPixels(what string, size image.Point, most int64, when string) error {
	if size.Y == 0 || int64(size.X) <= most/int64(size.Y) {
		return nil
	}
	if what != "" {
		what += " of "
	}
	return fmt.Errorf("%w: %s%d×%d is %s, the limit is %s (raise --max-pixels%s)", imageio.ErrTooLarge,
		what, size.X, size.Y, pixels.Count(float64(size.X)*float64(size.Y)), pixels.Count(float64(most)), when)
}

// own removes from an error of package imageio the package's name, and of decoding what bare
// removes.
func own(err error) error {
	inner := errors.Unwrap(err)
	if inner == nil || !strings.HasPrefix(err.Error(), "imageio: ") {
		return err
	}
	switch decoding := strings.HasPrefix(err.Error(), "imageio: decode: "); {
	case decoding && bare(inner) != inner:
		return fmt.Errorf("cannot be read: %w", bare(inner))
	case decoding && errors.Is(err, imageio.ErrTooLarge): // with the limits that this package sets
		return fmt.Errorf("%w: it says that it has more pixels than any memory", imageio.ErrTooLarge)
	}
	return inner
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

// ReadPicture reads a picture from a file, upright and with 8 or 16 bits a channel, if it has at most
// maxPixels pixels and needs at most memory bytes. 0 means no limit. first says that the first
// picture of several in the file is meant. Errors do not name the file.
// Errors: those of imageio.Decode and of opening the file, and ErrTooLarge.
func ReadPicture(ctx context.Context, name string, maxPixels, memory int64, first bool) (image.Image, error) {
	if ctx == nil {
		return nil, fmt.Errorf("batch: read picture: %w", errs.Context(ctx))
	}
	if maxPixels <= 0 {
		maxPixels = math.MaxInt64
	}
	in, err := openFile(name)
	if err != nil {
		return nil, err
	}
	defer in.close()
	h, err := in.header(ctx, maxPixels, 0)
	if err != nil {
		return nil, err
	}
	if !first {
		if err := single(h); err != nil {
			return nil, err
		}
	}
	limit, need := budget{limit: memory, hard: memory > 0}, h.Memory
	if h.Depth > 8 {
		need += deepBytes(h)
	}
	if err := limit.check(h, need); err != nil {
		return nil, err
	}
	var m draw.Image = image.NewNRGBA(image.Rect(0, 0, h.Width, h.Height))
	if h.Depth > 8 {
		m = image.NewNRGBA64(m.Bounds())
	}
	if err := in.dec.DecodeTo(ctx, m); err != nil {
		return nil, own(err)
	}
	return m, nil
}

// clobbers returns an error if the output is the same file as one of the inputs, also
// under another name.
func (r *runner) clobbers(j *Job, src *input) error {
	var info os.FileInfo
	var err error
	switch out, isFile := j.To.(*os.File); {
	case j.To == nil:
		info, err = r.root.Stat(j.Output)
	case isFile:
		info, err = out.Stat()
	default:
		return nil
	}
	if err != nil {
		return nil // nothing there that could be an input
	}
	if src.info != nil && os.SameFile(src.info, info) {
		return errors.New("the output would replace the input itself: choose another output folder, or a --suffix")
	}
	if j.To != nil {
		return nil
	}
	if p, err := filepath.EvalSymlinks(filepath.Join(r.Folder, j.Output)); err == nil {
		if p, err = filepath.Abs(p); err == nil && r.inputs[p] != "" {
			return fmt.Errorf("the output would replace the input %s: choose another output folder, or a --suffix", r.inputs[p])
		}
	}
	return nil
}

// inputPaths resolves the names of all inputs that exist, and of other files to keep.
func inputPaths(jobs []Job, keep []string) map[string]string {
	paths := make(map[string]string, len(jobs))
	add := func(name string) {
		if p, err := filepath.EvalSymlinks(name); err == nil {
			if p, err = filepath.Abs(p); err == nil {
				paths[p] = name
			}
		}
	}
	for i := range jobs {
		if jobs[i].From == nil {
			add(jobs[i].Input)
		}
	}
	for _, name := range keep {
		add(name)
	}
	return paths
}
