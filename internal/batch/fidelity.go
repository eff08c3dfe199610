package batch

import (
	"errors"
	"fmt"
	"image"
	"strings"

	"github.com/lathe-gpu/lathe/imageio"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
)

// deepBytes is what decoding with 16 bits a channel takes beside Info.Memory, which counts 4 bytes a pixel.
func deepBytes(h imageio.Info) int64 {
	n := 4 * int64(h.Width) * int64(h.Height)
	if h.Depth <= 8 {
		n *= 2 // decoded with 8 bits first
	}
	return n
}

// floatBytes is how many bytes of floats are between a picture of 16 bits and the device.
const floatBytes = 16 << 20

// deep reports whether a picture is processed with 16 bits a channel.
func (r *runner) deep(h imageio.Info, format imageio.Format) (bool, error) {
	switch {
	case r.Depth == 16 && !hasDepth(format):
		return false, fmt.Errorf("%w: %s has 8 bits a channel, and --depth says 16: write PNG or TIFF (--format)", errs.ErrInvalidArgument, title(format))
	case r.Depth == 0:
		return h.Depth > 8 && hasDepth(format), nil
	}
	return r.Depth == 16, nil
}

// callsFor returns the calls for a picture. If its colours are converted, the header then has metadata
// with the new profile, or without one for sRGB.
func (r *runner) callsFor(h *imageio.Info, format imageio.Format) ([]spec.Call, error) {
	calls := r.calls
	h.Grey = h.Grey || r.Profile != nil && r.GreyProfile
	if h.Grey && r.ForGrey != nil {
		calls = r.ForGrey(calls)
	}
	var own []byte
	if h.Metadata != nil {
		own = h.Metadata.ICC
	}
	if r.Convert == nil || len(own) == 0 && r.Profile == nil {
		return calls, nil
	}
	if err := r.holds(format); err != nil {
		return nil, err
	}
	c, err := r.Convert(own)
	if err != nil || c == nil && r.Profile == nil {
		return calls, err
	}
	if r.Profile == nil {
		h.Metadata = h.Metadata.InSRGB()
	} else {
		h.Metadata = h.Metadata.InProfile(r.Profile)
	}
	if c == nil {
		return calls, nil
	}
	return append([]spec.Call{c}, calls...), nil
}

// holds returns an error if files of a format cannot have the profile that is asked for.
func (r *runner) holds(format imageio.Format) error {
	switch {
	case r.Profile == nil:
	case format == imageio.GIF:
		return fmt.Errorf("%w: GIF has no place for a colour profile: write another format (--format), or make sRGB (--profile srgb)", imageio.ErrUnsupported)
	case r.GreyProfile && (format == imageio.WebP || format == imageio.AVIF):
		return fmt.Errorf("%w: %s has no grey pictures, and --profile is for grey: write another format (--format)", imageio.ErrUnsupported, title(format))
	}
	return nil
}

// isGrey reports whether red, green and blue are equal in each pixel of a result.
func isGrey(m image.Image) bool {
	switch m := m.(type) {
	case *image.NRGBA:
		for i := 0; i+3 < len(m.Pix); i += 4 {
			if m.Pix[i] != m.Pix[i+1] || m.Pix[i] != m.Pix[i+2] {
				return false
			}
		}
	case *image.NRGBA64:
		for i := 0; i+7 < len(m.Pix); i += 8 {
			if p := m.Pix[i : i+6]; p[0] != p[2] || p[1] != p[3] || p[0] != p[4] || p[1] != p[5] {
				return false
			}
		}
	}
	return true
}

// hasDepth reports whether a format can have 16 bits a channel.
func hasDepth(f imageio.Format) bool { return f == imageio.PNG || f == imageio.TIFF }

// title is the name of a format that has 8 bits a channel.
func title(f imageio.Format) string {
	if f == imageio.WebP {
		return "WebP"
	}
	return strings.ToUpper(string(f))
}

// encodeOptions says how a picture is written. It notes what is not kept.
func (r *runner) encodeOptions(f *File, h imageio.Info, format imageio.Format) *imageio.EncodeOptions {
	if r.Strip {
		h.Metadata = h.Metadata.Stripped()
	} else {
		f.note(h.MetadataErr)
	}
	var err error
	h.Metadata, err = h.Metadata.Fit(format)
	f.note(err)
	if r.asked && r.WebP == "" && format == imageio.WebP && h.WebP == "lossless" {
		f.note(errors.New("the quality is not used, because the input is a lossless WebP file and the output is one too (--webp lossy makes it smaller)"))
	}
	return &imageio.EncodeOptions{Quality: r.Quality, Compression: r.Level, Subsampling: r.Sampling, Progressive: r.Progressive, WebP: r.WebP, Source: &h}
}

// frames is what the pictures of a file are called.
func frames(f imageio.Format) string {
	if f == imageio.TIFF {
		return "pages"
	}
	return "frames"
}

// single returns an error for a file of several pictures.
func single(h imageio.Info) error {
	if h.Frames <= 1 {
		return nil
	}
	return fmt.Errorf("%w: it has %d %s, and one picture is wanted (lathe image --first takes the first one%s)", imageio.ErrUnsupported, h.Frames, frames(h.Format), another(h.Format))
}

// severalError is the error of a file of several pictures whose output has one.
func severalError(h imageio.Info) error {
	keeps := ""
	if h.Format.CanAnimate() {
		keeps = "--format gif or webp keeps all, "
	}
	return fmt.Errorf("%w: it has %d %s, and the output would have one (%s--first takes the first one%s)", imageio.ErrUnsupported, h.Frames, frames(h.Format), keeps, another(h.Format))
}

// another names the flag for the other pictures of a file, if it is one whose other pictures are read.
func another(f imageio.Format) string {
	if f == imageio.TIFF || f.CanAnimate() {
		return ", --page N another"
	}
	return ""
}

// note keeps an error that does not keep the picture from being done.
func (f *File) note(err error) {
	if err != nil {
		text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "imageio: "), "fit: ")
		f.Notes = append(f.Notes, strings.ReplaceAll(text, "\n", "; "))
	}
}
