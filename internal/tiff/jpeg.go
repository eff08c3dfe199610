package tiff

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"io"

	"github.com/lathe-gpu/lathe/internal/errs"
)

// adobe is the segment that tells a JPEG decoder that four components are CMYK.
var adobe = []byte("\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00\x00")

// readJPEG looks into the first chunk for what decoding will take.
func (h *Header) readJPEG(r io.ReaderAt) error {
	if h.compression != jpegCoded {
		return nil
	}
	tag, _ := h.placeTags()
	at, err := h.dir.numbers(tag, 1)
	if err != nil {
		return err
	}
	h.progressive = true
	if len(at) == 1 && at[0] < uint64(h.dir.size) {
		whole, err := h.jpegStream(io.NewSectionReader(r, int64(at[0]), h.dir.size-int64(at[0])))
		h.progressive = err != nil || progressive(whole)
	}
	return nil
}

// jpegMemory is how many bytes are held of a chunk that is a JPEG picture, which
// may have as many of each colour as of brightness.
func (h *Header) jpegMemory() int64 {
	n := int64(h.samples / h.planes())
	per := int64(h.samples) + n // what is returned, of all planes, and the decoder's planes
	if h.progressive {
		per += 4 * n // its coefficients, until the last scan
	}
	if n == 4 || n == 3 && h.photometric == rgb {
		per += 4 // its planes joined
	}
	side := func(n int) int64 { return (int64(min(n, 1<<16)) + 31) &^ 15 } // no JPEG picture is larger
	return per * side(h.chunkW) * side(h.chunkH)
}

// jpegStream returns the JPEG picture of a chunk, whose tables may be apart.
func (h *Header) jpegStream(raw *io.SectionReader) (io.Reader, error) {
	start := make([]byte, min(raw.Size(), 256))
	if err := readAt(raw, start, 0); err != nil {
		return nil, err
	}
	if len(start) < 4 || start[0] != 0xff || start[1] != 0xd8 {
		return nil, errors.New("a strip or tile is not the JPEG picture it should be")
	}
	head := []byte{0xff, 0xd8}
	if h.photometric == cmyk && !h.planar && !bytes.Contains(start, adobe[4:9]) {
		head = append(head, adobe...)
	}
	if len(h.tables) > 4 { // without its first and last marker
		head = append(head, h.tables[2:len(h.tables)-2]...)
	}
	return io.MultiReader(bytes.NewReader(head), io.NewSectionReader(raw, 2, raw.Size()-2)), nil
}

// progressive reports whether a JPEG picture is or may be progressive: where its
// segments do not plainly lead to another frame, what the decoder will make of
// them is not foreseen.
func progressive(r io.Reader) bool {
	in := bufio.NewReader(r)
	if _, err := in.Discard(2); err != nil {
		return true
	}
	for {
		var b [4]byte
		if _, err := io.ReadFull(in, b[:]); err != nil || b[0] != 0xff {
			return true
		}
		switch m := b[1]; {
		case m == 0xc0 || m == 0xc1:
			return false
		case m == 0xc4 || m == 0xdb || m == 0xdd || m == 0xfe || m >= 0xe0 && m <= 0xef: // tables, remarks
			if _, err := in.Discard(int(b[2])<<8 + int(b[3]) - 2); err != nil {
				return true
			}
		default:
			return true
		}
	}
}

// unJPEG decodes a chunk that is a JPEG picture. The result is samples as an
// uncompressed chunk would have them.
func (h *Header) unJPEG(raw *io.SectionReader, rows int) (io.Reader, error) {
	whole, err := h.jpegStream(raw)
	if err != nil {
		return nil, err
	}
	cfg, err := jpeg.DecodeConfig(whole)
	if err != nil {
		return nil, named(err)
	}
	// Some writers give the last strip the height of all.
	if cfg.Width != h.chunkW || cfg.Height < rows || cfg.Height > h.chunkH {
		return nil, fmt.Errorf("a JPEG strip or tile of %d×%d where %d×%d should be", cfg.Width, cfg.Height, h.chunkW, rows)
	}
	if whole, err = h.jpegStream(raw); err != nil {
		return nil, err
	}
	if !h.progressive && progressive(whole) { // Memory has not counted on it
		return nil, unsupported("strips or tiles of which only some are progressive JPEG pictures")
	}
	if whole, err = h.jpegStream(raw); err != nil {
		return nil, err
	}
	m, err := jpeg.Decode(bufio.NewReaderSize(whole, 32<<10))
	if err != nil {
		return nil, named(err)
	}
	w, n := h.chunkW, h.samples/h.planes()
	out := make([]byte, w*rows*n)
	switch m := m.(type) {
	case *image.Gray:
		if n == 1 {
			for y := range rows {
				copy(out[y*w:(y+1)*w], m.Pix[y*m.Stride:])
			}
			return bytes.NewReader(out), nil
		}
	case *image.YCbCr:
		// The components as they are: if they are red, green and blue, so be it.
		if n == 3 {
			for y := range rows {
				for x := range w {
					c, o := m.COffset(x, y), 3*(y*w+x)
					out[o], out[o+1], out[o+2] = m.Y[m.YOffset(x, y)], m.Cb[c], m.Cr[c]
				}
			}
			return bytes.NewReader(out), nil
		}
	case *image.RGBA:
		if n == 3 && h.photometric == rgb {
			for y := range rows {
				for x := range w {
					copy(out[3*(y*w+x):3*(y*w+x)+3], m.Pix[y*m.Stride+4*x:])
				}
			}
			return bytes.NewReader(out), nil
		}
	case *image.CMYK:
		if n == 4 {
			for y := range rows {
				copy(out[4*y*w:4*(y+1)*w], m.Pix[y*m.Stride:])
			}
			for i := range out {
				out[i] = 255 - out[i] // the decoder takes Adobe's for inverted; these are not
			}
			return bytes.NewReader(out), nil
		}
	}
	return nil, unsupported("JPEG compression of other colours than it says")
}

// named tells what the JPEG decoder does not know from what is damaged.
func named(err error) error {
	var u jpeg.UnsupportedError
	if errors.As(err, &u) {
		return fmt.Errorf("TIFF with a JPEG feature Lathe does not read (%s): %w", string(u), errs.ErrUnsupported)
	}
	return early(err)
}
