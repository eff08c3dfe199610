// Package imageio reads and writes pictures, as lathe image does: JPEG, PNG, TIFF, BMP, GIF and
// WebP are read. JPEG, PNG, TIFF, GIF and WebP are written. With package imageio/avif AVIF is read and
// written too.
//
// Decode turns a picture upright as its EXIF orientation says. Its result is what the methods
// Apply and ApplyTo of a lathe.Device take as it is. A picture of too many bytes or pixels is
// refused before memory is taken for its pixels. Damaged and hostile files are errors.
//
//	img, info, err := imageio.Decode(ctx, r, nil)
//	out, err := dev.Apply(ctx, img, imageops.GaussianBlur{Sigma: 3})
//	err = imageio.Encode(ctx, w, out, imageio.JPEG, nil)
//
// Colours have 8 bits a channel, or 16 on request, and are not converted. Of an animation Decode reads the
// first frame; Decoder.Frames and EncodeFrames are for all frames, one at a time. Info has the metadata of the file, and Encode writes them if
// EncodeOptions.Source is that Info. The file is also grey, or has a palette, as its source:
//
//	err = imageio.Encode(ctx, w, out, imageio.JPEG, &imageio.EncodeOptions{Source: &info})
//
// The package needs no device. A program may import it alone.
package imageio

import (
	"context"
	"errors"
	"image"
	"io"

	"github.com/lathe-gpu/lathe/internal/errs"
)

// The errors of pictures. Returned errors wrap one of them and add the facts. Test with
// errors.Is. An error that wraps none of them is that of the context, of the reader or of the
// writer, or lathe.ErrInvalidArgument.
var (
	// ErrUnsupported: not a picture in one of the formats, or one with a feature that is not
	// read or written. It is the same value as lathe.ErrUnsupported.
	ErrUnsupported = errs.ErrUnsupported
	// ErrTooLarge: a picture of more bytes or pixels than the options allow, or than a format
	// can hold.
	ErrTooLarge = errors.New("picture too large")
	// ErrDamaged: a picture that ends too early, that contradicts itself, or of no bytes.
	ErrDamaged = errors.New("damaged picture")
)

const (
	// DefaultMaxBytes is 512 MiB.
	DefaultMaxBytes = 512 << 20
	// DefaultMaxPixels is 16384 × 16384.
	DefaultMaxPixels = 1 << 28
	// DefaultQuality is the quality of JPEG, and of WebP that is not lossless. That of AVIF is 60.
	DefaultQuality = 90
)

// DecodeOptions are the settings of Decode, DecodeConfig and NewDecoder. The zero value is
// ready to use, and so is nil. Write the names of fields: there will be more.
type DecodeOptions struct {
	// MaxBytes is the most bytes that an input may have; 0 means DefaultMaxBytes.
	MaxBytes int64
	// MaxPixels is the most pixels that a picture may have; 0 means DefaultMaxPixels. It bounds
	// the memory, because a small file can claim to be huge: see Info.Memory.
	MaxPixels int64
	// AsStored leaves a picture as its file has it, and does not turn it upright.
	AsStored bool
	// Depth is the most bits a channel that the image of Decode has, 8 or 16; 0 means 8. With 16 it is
	// an *image.NRGBA64 if Info.Depth is above 8.
	Depth int
	// Page is which picture is decoded of a file that has several, from 1: a page of a TIFF file, or a frame of an
	// animated GIF or WebP file. 0 means the first one. All that Info says is then said of this picture, but for Frames.
	// A page that the file does not have is lathe.ErrInvalidArgument, and the error says how many it has.
	// A frame takes as long as all frames before it, which count for MaxPixels.
	Page int
	// AtLeast lets Decode make the image smaller than the picture, but not smaller than so many pixels
	// wide and high: it is for thumbnails of JPEG files, which are then decoded several times as fast. Make it
	// twice the size of the thumbnail, or it is not sharp. One side may be 0, which means any. The zero Point
	// means the whole picture. See Decoder.AtLeast, which is for a Decoder.
	AtLeast image.Point
}

// Info is what a file says about its picture.
type Info struct {
	Format Format
	// Width and Height are the size in pixels of the image that Decode returns. An
	// orientation of 5 to 8 has exchanged those of the file.
	Width, Height int
	// Full is the size of the upright picture in the file. It is Width×Height, unless
	// DecodeOptions.AtLeast or Decoder.AtLeast have let the image be smaller.
	Full image.Point
	// Orientation is the one that the file has, 1 to 8 as in EXIF. 1 is upright, and what a
	// file without an orientation has. Decode has turned the picture, unless it was told not to.
	Orientation int
	// Memory is about how many bytes Decode takes at once: the image, what the decoder holds
	// beside it, and the bytes of an input that is not read in place. DecodeConfig counts those
	// that it has read.
	Memory int64
	// Grey is whether the file has no colours. It may have alpha.
	Grey bool
	// Depth is the number of bits that the file has for a channel, 1 to 16 or 32, and for a pixel if
	// there is a palette. Above 8 it has more than an *image.NRGBA can have. It is at most 8 for a
	// TIFF file of YCbCr or Lab colours.
	Depth int
	// Palette is the most colours that the palette of the file has, or 0 if it has none.
	Palette int
	// Subsampling is how a JPEG or AVIF file stores colours: "4:4:4" at full resolution, "4:2:2" at half of it
	// across, "4:4:0" down, "4:2:0" in both directions, and rarely "4:1:1" or "4:1:0". It is "" for
	// other files, and for JPEG files of other kinds.
	Subsampling string
	// WebP is how a WebP file stores the pixels of the picture, "lossless" or "lossy". It is "" for other
	// files.
	WebP string
	// Frames is how many pictures the file has: the frames of an animation, or the pages of a TIFF file.
	// Decode returns the first one, or that of DecodeOptions.Page, and Decoder.Frames the frames of an animated GIF or WebP file.
	Frames int
	// Plays is how many times an animated GIF or WebP file is shown. 0 means for ever.
	Plays int
	// Metadata is what the file has beside the pixels, and nil if it has none. Do not change it.
	Metadata *Metadata
	// MetadataErr says which metadata of the file is not in Metadata, and why: it is damaged, has
	// more than 8 MiB, or is a profile of colours that the image does not have. It is nil
	// otherwise. The picture is good.
	MetadataErr error
}

// Decode reads one picture of any of the formats. The image is upright, has its origin at
// (0, 0), and is an *image.NRGBA of 8 bits a channel: colours of more bits are rounded, unless
// DecodeOptions.Depth wants them. Of an animation it is the first frame, and of a TIFF
// file the first page, unless DecodeOptions.Page wants another one. Info.Format may be given to
// Encode if its CanEncode says so.
//
// An r that is an io.ReaderAt and an io.Seeker too, such as a regular file, is read in place from
// where it stands. Any other r is read to its end and kept in memory until Decode returns, unless
// its first bytes are refused. Where r stands afterwards is not defined.
//
// When ctx ends, Decode returns, although a call of r.Read may be left behind.
// Errors: ErrUnsupported, ErrTooLarge, ErrDamaged, that of r, ctx.Err(), lathe.ErrInvalidArgument
// (no context or reader, a negative limit or size, an unknown depth, a page that is not there).
func Decode(ctx context.Context, r io.Reader, o *DecodeOptions) (image.Image, Info, error) {
	d, err := NewDecoder(ctx, r, o)
	if err != nil {
		return nil, Info{}, err
	}
	var want image.Point
	if o != nil {
		want = o.AtLeast
	}
	m, info, err := d.decodeSmaller(ctx, want)
	if err != nil {
		return nil, Info{}, err
	}
	return m, info, nil
}

// DecodeConfig reads what a file says about its picture, and decodes no pixels. Of an r that is
// not read in place it reads as many bytes as that needs, which may be all of them.
// To decode the same picture after that, use NewDecoder.
// Errors: as Decode. ErrTooLarge is one of them, so that a limit is checked in the same way.
func DecodeConfig(ctx context.Context, r io.Reader, o *DecodeOptions) (Info, error) {
	d, err := open(ctx, r, o)
	if err != nil {
		return Info{}, err
	}
	return d.info, nil
}
