package batch

import (
	"bytes"
	"encoding/binary"
	"image"
	"io"

	"github.com/bep/imagemeta"
)

// orientation is the EXIF tag of that name. It says how the stored rows and columns lie in
// the upright picture.
type orientation int

// upright is the orientation of a picture that is stored upright.
const upright orientation = 1

// swaps reports whether turning upright exchanges width and height.
func (o orientation) swaps() bool { return o >= 5 && o <= 8 }

// place writes the stored rows y0 to y1−1 of a w×h picture to their place in dst. strip has
// these rows.
func (o orientation) place(dst *image.NRGBA, strip []byte, w, h, y0, y1 int) {
	// Where stored pixel (0, 0) goes, and the steps in bytes for one stored
	// column and one stored row.
	s := dst.Stride
	var origin, dx, dy int
	switch o {
	case 2: // mirrored
		origin, dx, dy = (w-1)*4, -4, s
	case 3: // upside down
		origin, dx, dy = (h-1)*s+(w-1)*4, -4, -s
	case 4: // mirrored and upside down
		origin, dx, dy = (h-1)*s, 4, -s
	case 5: // mirrored along the main diagonal
		origin, dx, dy = 0, s, 4
	case 6: // to be turned a quarter clockwise
		origin, dx, dy = (h-1)*4, s, -4
	case 7: // mirrored along the other diagonal
		origin, dx, dy = (w-1)*s+(h-1)*4, -s, -4
	case 8: // to be turned a quarter anticlockwise
		origin, dx, dy = (w-1)*s, -s, 4
	default:
		origin, dx, dy = 0, 4, s
	}
	// Columns in the outer loop when they become rows: writes stay together.
	if o.swaps() {
		for x := range w {
			to := origin + x*dx + y0*dy
			from := 4 * x
			for y := y0; y < y1; y++ {
				copy(dst.Pix[to:to+4], strip[from:from+4])
				to += dy
				from += 4 * w
			}
		}
		return
	}
	for y := y0; y < y1; y++ {
		to := origin + y*dy
		row := strip[(y-y0)*4*w : (y-y0+1)*4*w]
		for from := 0; from < len(row); from += 4 {
			copy(dst.Pix[to:to+4], row[from:from+4])
			to += dx
		}
	}
}

// readOrientation returns the EXIF orientation of a picture in the named
// format (as image.Decode names it), and upright when there is none or the
// metadata cannot be read: a picture with damaged metadata is still a picture.
// For JPEG and WebP it reads exif, as scanJPEG and package webp give it, and
// not r.
//
// The EXIF block of these is found here, because imagemeta takes the first APP1
// segment for EXIF, where some programs put XMP, and does not know that WebP
// chunks of odd size are padded. The block is a TIFF structure.
func readOrientation(r io.ReadSeeker, format string, exif []byte) (found orientation) {
	found = upright
	defer func() {
		if recover() != nil {
			found = upright
		}
	}()
	kind := imagemeta.TIFF // what an EXIF block is
	switch format {
	case "png":
		kind = imagemeta.PNG
	case "webp":
		exif = bytes.TrimPrefix(exif, exifMark) // some writers keep JPEG's mark
	case "jpeg":
	default:
		return upright
	}
	if format == "jpeg" || format == "webp" {
		if exif == nil {
			return upright
		}
		r = bytes.NewReader(exif)
	} else if _, err := r.Seek(0, io.SeekStart); err != nil {
		return upright
	}
	isOrientation := func(t imagemeta.TagInfo) bool { return t.Namespace == "IFD0" && t.Tag == "Orientation" }
	err := imagemeta.Decode(imagemeta.Options{
		R: r, ImageFormat: kind, Sources: imagemeta.EXIF,
		ShouldHandleTag: isOrientation,
		HandleTag: func(t imagemeta.TagInfo) error {
			if v, ok := t.Value.(uint16); ok && v >= 1 && v <= 8 {
				found = orientation(v)
			}
			return imagemeta.ErrStopWalking
		},
	})
	if err != nil {
		return upright
	}
	return found
}

var exifMark = []byte("Exif\x00\x00")

// scanJPEG walks the segments of a JPEG file up to its pixels.
func scanJPEG(r io.ReadSeeker) (j jpegInfo) {
	if _, err := r.Seek(2, io.SeekStart); err != nil {
		return j
	}
	for {
		var head [4]byte
		if _, err := io.ReadFull(r, head[:2]); err != nil || head[0] != 0xff {
			return j
		}
		for head[1] == 0xff { // fill bytes
			if _, err := io.ReadFull(r, head[1:2]); err != nil {
				return j
			}
		}
		if head[1] == 0xda || head[1] == 0xd9 { // the pixels, or the end
			return j
		}
		if _, err := io.ReadFull(r, head[2:]); err != nil {
			return j
		}
		size := int64(binary.BigEndian.Uint16(head[2:])) - 2
		if size < 0 {
			return j
		}
		here, err := r.Seek(0, io.SeekCurrent)
		if err != nil {
			return j
		}
		switch m := head[1]; {
		case m >= 0xc0 && m <= 0xcf && m != 0xc4 && m != 0xc8 && m != 0xcc && j.coding == 0:
			j.frame(r, m, size)
		case m == 0xe1 && j.exif == nil:
			body := make([]byte, size)
			if _, err := io.ReadFull(r, body); err != nil {
				return j
			}
			if bytes.HasPrefix(body, exifMark) {
				j.exif = body[len(exifMark):]
			}
		}
		if _, err := r.Seek(here+size, io.SeekStart); err != nil {
			return j
		}
	}
}
