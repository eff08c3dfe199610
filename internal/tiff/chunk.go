package tiff

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"math/bits"
	"strings"

	"golang.org/x/image/ccitt"
	"golang.org/x/image/tiff/lzw"

	"github.com/lathe-gpu/lathe/internal/errs"
)

// open returns the contents of the chunk at a place in the file, uncompressed;
// rows is how many rows it has.
func (h *Header) open(r io.ReaderAt, at, size int64, rows int) (io.Reader, error) {
	raw := io.NewSectionReader(r, at, size)
	var in io.Reader = raw
	if h.lsbFirst && h.compression != fax3 && h.compression != fax4 && h.compression != jpegCoded {
		in = reversed{raw}
	}
	switch h.compression {
	case none:
		return bufio.NewReaderSize(in, 64<<10), nil
	case fax3, fax4:
		order, form := ccitt.MSB, ccitt.Group4
		if h.lsbFirst {
			order = ccitt.LSB
		}
		if h.compression == fax3 {
			form = ccitt.Group3
		}
		// Black is the bit 1, whatever colour the photometric interpretation
		// then makes of it.
		return faxReader{ccitt.NewReader(raw, order, form, h.chunkW, rows, &ccitt.Options{Invert: true})}, nil
	case lzwCoded:
		b := bufio.NewReader(in)
		if head, err := b.Peek(2); err == nil && head[0] == 0 && head[1]&1 == 1 {
			return nil, unsupported("LZW compression in its old bit order")
		}
		return lzw.NewReader(b, lzw.MSB, 8), nil
	case deflate, deflateOld:
		return zlib.NewReader(bufio.NewReader(in))
	case packBits:
		return &unpacker{in: bufio.NewReader(in)}, nil
	case jpegCoded:
		b, err := h.unJPEG(raw, rows)
		return bytes.NewReader(b), err
	}
	return nil, unsupported("compression %d", h.compression)
}

// reversed turns the bits of each byte round.
type reversed struct{ r io.Reader }

func (v reversed) Read(p []byte) (int, error) {
	n, err := v.r.Read(p)
	for i, b := range p[:n] {
		p[i] = bits.Reverse8(b)
	}
	return n, err
}

// faxReader tells what the fax decoder does not know from what is damaged.
type faxReader struct{ r io.Reader }

func (f faxReader) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil {
		switch text := err.Error(); {
		case strings.Contains(text, "missing End-of-Line"):
			err = unsupported("lines of CCITT group 3 compression without an end mark")
		case strings.Contains(text, "unsupported mode"):
			err = unsupported("uncompressed runs in CCITT compression")
		}
	}
	return n, err
}

// unpacker undoes PackBits.
type unpacker struct {
	in      *bufio.Reader
	left    int // bytes of the run
	repeats bool
	value   byte
}

func (u *unpacker) Read(p []byte) (n int, err error) {
	for n < len(p) {
		for u.left == 0 {
			c, err := u.in.ReadByte()
			if err != nil {
				return n, err
			}
			switch {
			case c < 128:
				u.left, u.repeats = int(c)+1, false
			case c > 128:
				if u.value, err = u.in.ReadByte(); err != nil {
					return n, early(err)
				}
				u.left, u.repeats = 257-int(c), true
			}
		}
		k := min(u.left, len(p)-n)
		if u.repeats {
			for i := range k {
				p[n+i] = u.value
			}
		} else if k, err = io.ReadFull(u.in, p[n:n+k]); err != nil {
			return n + k, early(err)
		}
		n, u.left = n+k, u.left-k
	}
	return n, nil
}

// adobe is the segment that tells a JPEG decoder that four components are CMYK.
var adobe = []byte("\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00\x00")

// unJPEG decodes a chunk that is a JPEG picture, whose tables may be apart. The
// result is samples as an uncompressed chunk would have them.
func (h *Header) unJPEG(raw io.Reader, rows int) ([]byte, error) {
	data, err := io.ReadAll(raw)
	if err != nil {
		return nil, err
	}
	if len(data) < 4 || data[0] != 0xff || data[1] != 0xd8 {
		return nil, errors.New("a strip or tile is not the JPEG picture it should be")
	}
	head := []byte{0xff, 0xd8}
	if h.photometric == cmyk && !h.planar && !bytes.Contains(data[:min(len(data), 256)], adobe[4:9]) {
		head = append(head, adobe...)
	}
	if len(h.tables) > 4 { // without its first and last marker
		head = append(head, h.tables[2:len(h.tables)-2]...)
	}
	whole := func() io.Reader { return io.MultiReader(bytes.NewReader(head), bytes.NewReader(data[2:])) }
	cfg, err := jpeg.DecodeConfig(whole())
	if err != nil {
		return nil, named(err)
	}
	// Some writers give the last strip the height of all.
	if cfg.Width != h.chunkW || cfg.Height < rows || cfg.Height > h.chunkH {
		return nil, fmt.Errorf("a JPEG strip or tile of %d×%d where %d×%d should be", cfg.Width, cfg.Height, h.chunkW, rows)
	}
	m, err := jpeg.Decode(whole())
	if err != nil {
		return nil, named(err)
	}
	w, n := h.chunkW, h.samples
	if h.planar {
		n = 1
	}
	out := make([]byte, w*rows*n)
	switch m := m.(type) {
	case *image.Gray:
		if n == 1 {
			for y := range rows {
				copy(out[y*w:(y+1)*w], m.Pix[y*m.Stride:])
			}
			return out, nil
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
			return out, nil
		}
	case *image.RGBA:
		if n == 3 && h.photometric == rgb {
			for y := range rows {
				for x := range w {
					copy(out[3*(y*w+x):3*(y*w+x)+3], m.Pix[y*m.Stride+4*x:])
				}
			}
			return out, nil
		}
	case *image.CMYK:
		if n == 4 {
			for y := range rows {
				copy(out[4*y*w:4*(y+1)*w], m.Pix[y*m.Stride:])
			}
			for i := range out {
				out[i] = 255 - out[i] // the decoder takes Adobe's for inverted; these are not
			}
			return out, nil
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

func early(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
