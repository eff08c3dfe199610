// Package tiff reads TIFF and BigTIFF pictures: a page of a file, in
// strips or tiles, with its samples together or in planes, of 1 to 16 or of 32
// bits, grey, by palette, RGB, CMYK, YCbCr or Lab, with or without alpha. The
// bit streams are left to libraries: CCITT fax and LZW to golang.org/x/image,
// deflate and JPEG to the standard library.
//
// What it does not read it names: floating-point samples, camera raw data, and
// the rarer compressions. CMYK and Lab become sRGB without a colour profile.
package tiff

import (
	"errors"
	"fmt"
	"io"

	"github.com/lathe-gpu/lathe/internal/errs"
)

// Compressions.
const (
	none       = 1
	fax3       = 3
	fax4       = 4
	lzwCoded   = 5
	jpegCoded  = 7
	deflate    = 8
	packBits   = 32773
	deflateOld = 32946
)

// refused are the compressions that are named and not read.
var refused = map[int]string{
	2: "CCITT run lengths", 6: "JPEG compression in its old form", 9: "JBIG compression", 10: "JBIG compression",
	32766: "NeXT compression", 32771: "CCITT run lengths", 32809: "ThunderScan compression", 34661: "JBIG compression",
	34676: "SGI log compression", 34677: "SGI log compression", 34712: "JPEG 2000 compression", 34887: "LERC compression",
	34925: "LZMA compression", 50000: "Zstandard compression", 50001: "WebP compression", 50002: "JPEG XL compression",
}

// Photometric interpretations.
const (
	whiteIsZero = 0
	blackIsZero = 1
	rgb         = 2
	paletted    = 3
	cmyk        = 5
	ycbcr       = 6
	cieLab      = 8
	iccLab      = 9
)

// colours is how many samples each takes.
var colours = map[int]int{whiteIsZero: 1, blackIsZero: 1, rgb: 3, paletted: 1, cmyk: 4, ycbcr: 3, cieLab: 3, iccLab: 3}

var strange = map[int]string{4: "a transparency mask", 10: "ITU Lab colours", 32803: "raw data of a camera",
	32844: "log luminance", 32845: "log luminance", 34892: "raw data of a camera"}

// Header is what a file's directory tells of its picture.
type Header struct {
	Width, Height int // pixels, as stored
	Orientation   int // 1 to 8, as in EXIF

	dir         *directory
	bits        int // of a sample
	samples     int // of a pixel
	planar      bool
	tiled       bool
	chunkW      int // pixels of a strip or tile
	chunkH      int
	compression int
	photometric int
	predict     bool
	lsbFirst    bool // the bits of each byte the other way round
	alpha       int  // which sample it is; 0 = none
	multiplied  bool // colours have been multiplied by it
	sub         [2]int
	tables      []byte // of JPEG
	progressive bool   // chunks may be progressive JPEG pictures
}

// IsTIFF reports whether a file that begins with head is a TIFF or BigTIFF file.
func IsTIFF(head []byte) bool {
	if len(head) < 4 {
		return false
	}
	switch string(head[:4]) {
	case "II*\x00", "MM\x00*", "II+\x00", "MM\x00+":
		return true
	}
	return false
}

// Grey reports whether the picture has no colours.
func (h *Header) Grey() bool { return h.photometric <= blackIsZero }

// Depth is the number of bits of a sample, but at most 8 if Decode cannot give more.
func (h *Header) Depth() int {
	if h.bits > 8 && !h.Deep() {
		return 8
	}
	return h.bits
}

// Deep reports whether the samples have more than 8 bits and Decode can give 16 of them.
func (h *Header) Deep() bool {
	return h.bits > 8 && (h.photometric <= rgb || h.photometric == cmyk)
}

// Palette is the most colours that the palette has, 0 if there is none.
func (h *Header) Palette() int {
	if h.photometric != paletted {
		return 0
	}
	return 1 << h.bits
}

func unsupported(format string, a ...any) error {
	return fmt.Errorf("TIFF with %s: %w", fmt.Sprintf(format, a...), errs.ErrUnsupported)
}

// At is where the directory of the page lies.
func (h *Header) At() int64 { return int64(h.dir.at) }

// ReadHeader reads the first directory of a file of the size.
// Errors: ErrUnsupported naming the feature, io.ErrUnexpectedEOF, the reader's
// own; any other error says what is damaged.
func ReadHeader(r io.ReaderAt, size int64) (*Header, error) { return ReadPage(r, size, 1) }

// ReadPage reads the directory of a page, from 1 to what Pages returns.
// Errors: as ReadHeader.
func ReadPage(r io.ReaderAt, size int64, page int) (*Header, error) {
	d, err := readDirectory(r, size)
	if err != nil {
		return nil, err
	}
	for seen := map[uint64]bool{}; page > 1; page-- {
		if !d.nextPage(seen) {
			return nil, errors.New("the page is missing")
		}
	}
	h := &Header{dir: d}
	var rows, planar, predictor, fill, t4, ink int
	for _, f := range []struct {
		to  *int
		tag uint16
		def int
	}{
		{&h.Width, 256, 0}, {&h.Height, 257, 0}, {&h.compression, 259, none}, {&h.photometric, 262, -1},
		{&fill, 266, 1}, {&h.Orientation, 274, 1}, {&h.samples, 277, 0}, {&rows, 278, 1<<31 - 1}, {&planar, 284, 1},
		{&t4, 292, 0}, {&predictor, 317, 1}, {&h.chunkW, 322, 0}, {&h.chunkH, 323, 0}, {&ink, 332, 1},
	} {
		v, err := d.number(f.tag, f.def)
		if err != nil && f.tag == 278 { // 2³²−1 is all rows
			v, err = f.def, nil
		}
		if err != nil {
			return nil, err
		}
		*f.to = v
	}
	if h.Width < 1 || h.Height < 1 {
		return nil, fmt.Errorf("its size is %d×%d", h.Width, h.Height)
	}
	if h.Orientation < 1 || h.Orientation > 8 {
		h.Orientation = 1
	}
	h.planar, h.predict, h.lsbFirst = planar == 2, predictor == 2, fill == 2
	if h.tiled = h.chunkW > 0 && h.chunkH > 0; !h.tiled {
		if h.chunkW, h.chunkH = h.Width, min(rows, h.Height); rows < 1 {
			h.chunkH = h.Height
		}
	}
	if predictor == 3 {
		return nil, unsupported("floating-point samples")
	}
	if err := h.checkCompression(t4); err != nil {
		return nil, err
	}
	if err := h.readSamples(); err != nil {
		return nil, err
	}
	if h.photometric == cmyk && ink != 1 {
		return nil, unsupported("inks other than CMYK")
	}
	if err := h.checkChunks(); err != nil {
		return nil, err
	}
	return h, h.readJPEG(r)
}

func (h *Header) checkCompression(t4 int) (err error) {
	switch h.compression {
	case none, lzwCoded, deflate, deflateOld, packBits, fax4:
	case 0:
		h.compression = none
	case fax3:
		if t4&1 != 0 {
			return unsupported("two-dimensional CCITT group 3 compression")
		}
		if t4&4 != 0 {
			return unsupported("filled lines of CCITT group 3 compression")
		}
	case jpegCoded:
		h.tables, _, err = h.dir.bytes(347, 1<<16)
	default:
		if name := refused[h.compression]; name != "" {
			return unsupported("%s", name)
		}
		return unsupported("compression %d", h.compression)
	}
	return err
}

// readSamples reads what the samples of a pixel are.
func (h *Header) readSamples() error {
	depths, err := h.dir.numbers(258, 64)
	if err != nil {
		return err
	}
	if len(depths) == 0 {
		depths = []uint64{1}
	}
	if h.samples == 0 {
		h.samples = len(depths)
	}
	if h.samples > 64 {
		return unsupported("%d samples a pixel", h.samples)
	}
	for _, v := range depths {
		if v != depths[0] {
			return unsupported("channels of different depths")
		}
	}
	formats, err := h.dir.numbers(339, 64)
	if err != nil {
		return err
	}
	for _, f := range formats {
		switch f {
		case 1, 4:
		case 2:
			return unsupported("signed samples")
		case 3:
			return unsupported("floating-point samples")
		default:
			return unsupported("complex samples")
		}
	}
	if h.bits = int(min(depths[0], 1<<20)); h.bits < 1 || h.bits > 16 && h.bits != 32 {
		return unsupported("%d bits a sample", depths[0])
	}
	fax := h.compression == fax3 || h.compression == fax4
	if h.photometric < 0 { // a mistake so common that everyone guesses
		switch {
		case fax:
			h.photometric = whiteIsZero
		case h.samples >= 3:
			h.photometric = rgb
		default:
			h.photometric = blackIsZero
		}
	}
	n, known := colours[h.photometric]
	switch {
	case !known && strange[h.photometric] != "":
		return unsupported("%s", strange[h.photometric])
	case !known:
		return unsupported("colours of kind %d", h.photometric)
	case h.samples < n:
		return fmt.Errorf("%d samples a pixel where its colours take %d", h.samples, n)
	case fax && (h.bits != 1 || h.samples != 1):
		return fmt.Errorf("fax compression of %d × %d bits a pixel", h.samples, h.bits)
	case h.compression == jpegCoded && h.bits != 8:
		return unsupported("JPEG compression of %d bits a sample", h.bits)
	case h.compression == jpegCoded && !h.planar && h.samples != n:
		return unsupported("JPEG compression of an extra channel")
	case h.photometric == paletted && h.bits > 16:
		return fmt.Errorf("a palette for %d bits", h.bits)
	case h.photometric >= cieLab && h.bits != 8 && h.bits != 16:
		return unsupported("Lab colours of %d bits", h.bits)
	}
	extra, err := h.dir.numbers(338, 64)
	if err != nil {
		return err
	}
	for i, kind := range extra {
		if at := n + i; at < h.samples && h.alpha == 0 && (kind == 1 || kind == 2) {
			h.alpha, h.multiplied = at, kind == 1
		}
	}
	return h.readSubsampling()
}

// readSubsampling reads how many pixels share a colour.
func (h *Header) readSubsampling() error {
	h.sub = [2]int{1, 1}
	if h.photometric != ycbcr || h.compression == jpegCoded && !h.planar {
		return nil // JPEG says it itself
	}
	v, err := h.dir.numbers(530, 2)
	if err != nil {
		return err
	}
	h.sub = [2]int{2, 2}
	if len(v) == 2 {
		h.sub = [2]int{int(min(v[0], 99)), int(min(v[1], 99))}
	}
	ok := func(n int) bool { return n == 1 || n == 2 || n == 4 }
	switch {
	case !ok(h.sub[0]) || !ok(h.sub[1]):
		return fmt.Errorf("%d × %d pixels share a colour", h.sub[0], h.sub[1])
	case h.sub == [2]int{1, 1}:
		return nil
	case h.planar:
		return unsupported("YCbCr planes of different sizes")
	case h.bits != 8:
		return unsupported("shared YCbCr colours of %d bits", h.bits)
	case h.samples != 3:
		return unsupported("shared YCbCr colours and an extra channel")
	case h.predict:
		return unsupported("shared YCbCr colours and a predictor")
	}
	return nil
}

// checkChunks bounds the pixels that a small picture can have decoded: tiles are
// filled up past its edges. Decode bounds the bytes that are read for them.
func (h *Header) checkChunks() error {
	w, ht := float64(h.chunkW), float64(h.chunkH)
	area := float64(h.Width) * float64(h.Height)
	all := w * ht * float64(h.across()) * float64(h.down())
	if h.tiled && (w*ht > 4*area+1<<22 || all > 16*area+1<<26) {
		return unsupported("tiles of %d×%d in a picture of %d×%d", h.chunkW, h.chunkH, h.Width, h.Height)
	}
	if int64(h.chunkW)*int64(h.samples) > 1<<28 {
		return unsupported("rows of %d pixels with %d samples each", h.chunkW, h.samples)
	}
	if h.chunks() > h.dir.size/2 {
		return io.ErrUnexpectedEOF // each has an offset
	}
	return nil
}

// The first chunk of the last column or row is inside the picture: no sum that
// could pass 31 bits is needed.
func (h *Header) across() int { return (h.Width-1)/h.chunkW + 1 }
func (h *Header) down() int   { return (h.Height-1)/h.chunkH + 1 }

// planes is how many chunks a pixel's samples are spread over.
func (h *Header) planes() int {
	if h.planar {
		return h.samples
	}
	return 1
}

// rowBytes is the length of what is stored at once: a row of a chunk, or the rows
// that share their colours.
func (h *Header) rowBytes() int64 {
	w := int64(h.chunkW)
	if hs, vs := int64(h.sub[0]), int64(h.sub[1]); hs*vs > 1 {
		return (w + hs - 1) / hs * (hs*vs + 2)
	}
	return (w*int64(h.samples/h.planes())*int64(h.bits) + 7) / 8
}

// chunkBytes is the length of a whole chunk, uncompressed.
func (h *Header) chunkBytes() int64 {
	return h.rowBytes() * ((int64(h.chunkH)-1)/int64(h.sub[1]) + 1)
}

// chunks is how many strips or tiles there are.
func (h *Header) chunks() int64 {
	n := int64(h.across()) * int64(h.down())
	if n < 1<<40 {
		n *= int64(h.planes())
	}
	return n
}

// bandRows is how many rows of strips are handed over at once.
const bandRows = 32

// Memory is about how many bytes Decode holds at once.
func (h *Header) Memory() int64 {
	rows := int64(min(h.chunkH, bandRows))
	if h.tiled {
		rows = int64(min(h.chunkH, h.Height))
	}
	n := 8*rows*int64(h.Width) + 40*int64(h.chunkW)*int64(h.samples) + 24*h.chunks() + int64(h.planes())<<16 + 1<<20
	if h.compression == jpegCoded {
		n += h.jpegMemory()
	}
	if h.photometric == paletted {
		n += 12 << h.bits
	}
	return n
}
