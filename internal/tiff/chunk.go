package tiff

import (
	"bufio"
	"compress/zlib"
	"errors"
	"io"
	"math/bits"
	"strings"

	"golang.org/x/image/ccitt"
	"golang.org/x/image/tiff/lzw"
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
		return bufio.NewReaderSize(in, int(min(size, 64<<10))), nil
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
		return h.unJPEG(raw, rows)
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

func early(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
