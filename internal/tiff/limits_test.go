package tiff

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/errs"
)

// greyJPEG is a JPEG picture of components of these names, all 128, none of them
// smaller than the others.
func greyJPEG(w, h int, names string, progressive bool) []byte {
	n := len(names)
	out := []byte{0xff, 0xd8}
	segment := func(marker byte, body ...byte) {
		out = append(binary.BigEndian.AppendUint16(append(out, 0xff, marker), uint16(len(body)+2)), body...)
	}
	segment(0xdb, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...)
	frame := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16([]byte{8}, uint16(h)), uint16(w))
	frame = append(frame, byte(n))
	scan := []byte{byte(n)}
	for i := range n {
		frame = append(frame, names[i], 0x11, 0)
		scan = append(scan, names[i], 0)
	}
	// The only code of a table, a bit 0, is symbol 0: no difference, and the end of a block.
	table := append([]byte{0, 1}, make([]byte, 16)...)
	segment(0xc4, table...)
	table[0] = 0x10
	segment(0xc4, table...)
	blocks := (w + 7) / 8 * ((h + 7) / 8) * n
	if progressive { // the first coefficients are all there is
		segment(0xc2, frame...)
		segment(0xda, append(scan, 0, 0, 0)...)
	} else {
		segment(0xc0, frame...)
		segment(0xda, append(scan, 0, 63, 0)...)
		blocks *= 2
	}
	out = append(out, make([]byte, blocks/8)...)
	if blocks%8 > 0 {
		out = append(out, 0xff>>(blocks%8))
	}
	return append(out, 0xff, 0xd9)
}

// counting counts the bytes that are read.
type counting struct {
	r io.ReaderAt
	n int64
}

func (c *counting) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.r.ReadAt(p, at)
	c.n += int64(n)
	return n, err
}

// read decodes a file and returns how many bytes it read for that and how many it
// had allocated, in all.
func read(data []byte) (h *Header, bytesRead, allocated int64, err error) {
	c := &counting{r: bytes.NewReader(data)}
	if h, err = ReadHeader(c, int64(len(data))); err != nil {
		return nil, c.n, 0, err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err = h.Decode(c, false, func(int, []byte) error { return nil })
	runtime.ReadMemStats(&after)
	return h, c.n, int64(after.TotalAlloc - before.TotalAlloc), err
}

// TestJPEGMemory holds what Memory says of JPEG strips against what is allocated,
// of which nothing can be freed before the end where there is one strip.
func TestJPEGMemory(t *testing.T) {
	const w, h = 1000, 700
	for _, c := range []struct {
		photometric int
		names       string
	}{{blackIsZero, "Y"}, {ycbcr, "\x01\x02\x03"}, {rgb, "RGB"}, {cmyk, "CMYK"}} {
		n := len(c.names)
		for _, progressive := range []bool{false, true} {
			stream := greyJPEG(w, h, c.names, progressive)
			k := kind{photometric: c.photometric, bits: 8, compression: jpegCoded, as: stream}
			hd, _, got, err := read(k.file(&drawn{w: w, h: h, n: n}))
			if err != nil {
				t.Errorf("%d components, progressive %v: %v", n, progressive, err)
				continue
			}
			if hd.progressive != progressive {
				t.Errorf("%d components: progressive is %v", n, hd.progressive)
			}
			if said := hd.Memory(); got > said || said > got*3/2+2<<20 {
				t.Errorf("%d components, progressive %v: %d bytes are allocated where Memory says %d", n, progressive, got, said)
			}
		}
	}
}

// TestJPEGMixed refuses a progressive strip that the first one does not announce.
func TestJPEGMixed(t *testing.T) {
	plain, prog := greyJPEG(16, 16, "Y", false), greyJPEG(16, 16, "Y", true)
	k := kind{photometric: blackIsZero, bits: 8, compression: jpegCoded, as: plain, rows: 16, omit: 273}
	d := &drawn{w: 16, h: 32, n: 1}
	k.as = append(append([]byte{}, plain...), prog...)
	for _, order := range [][]uint64{{8, 8 + uint64(len(plain))}, {8 + uint64(len(plain)), 8}} {
		k.add = []tag{{273, 4, order}}
		_, _, _, err := read(k.file(d))
		if first := order[0] == 8; first != errors.Is(err, errs.ErrUnsupported) || !first && err != nil {
			t.Errorf("strips at %v: got %v", order, err)
		}
	}
}

// TestSharedChunks reads files whose tiles lie in one and the same bytes: those of
// an honest writer, and those that would have the whole file read for each tile.
func TestSharedChunks(t *testing.T) {
	blank := make([]byte, 16*16)
	packed := (&kind{compression: deflate}).pack(blank)
	padding := make([]byte, 1<<16)
	// An empty block of deflate is five bytes and none of the picture.
	empty := append([]byte{0x78, 0x9c}, bytes.Repeat([]byte{0, 0, 0, 0xff, 0xff}, 1<<14)...)
	none128 := bytes.Repeat([]byte{128}, 1<<16) // PackBits for nothing
	grey := greyJPEG(16, 16, "Y", false)
	for name, c := range map[string]struct {
		compression int
		as          []byte
		claim       uint64
		text        string
	}{
		"blank":         {none, blank, 0, ""},
		"blank, packed": {deflate, packed, 0, ""},
		"all, plain":    {none, append(blank, padding...), 1 << 20, ""},
		"all, deflate":  {deflate, append(packed, padding...), 1 << 20, "one and the same many times"},
		"all, empty":    {deflate, empty, 1 << 31, "one and the same many times"},
		"all, PackBits": {packBits, none128, 1 << 31, "one and the same many times"},
		"all, JPEG":     {jpegCoded, append(grey, padding...), 1 << 31, "one and the same many times"},
		"all, fax":      {fax4, padding, 1 << 31, "one and the same many times"},
		"blank, JPEG":   {jpegCoded, grey, 0, ""},
	} {
		k := kind{photometric: blackIsZero, bits: 8, tile: 16, compression: c.compression, as: c.as, claim: c.claim}
		if c.compression == fax4 {
			k.bits = 1
		}
		const side = 640
		data := k.file(&drawn{w: side, h: side, n: 1})
		_, n, _, err := read(data)
		if c.text == "" && err != nil || c.text != "" && (err == nil || !strings.Contains(err.Error(), c.text)) {
			t.Errorf("%s: got %v, want an error with %q", name, err, c.text)
		}
		// Of JPEG, the beginning is read three times.
		if most := 4*int64(len(data)) + 3*2*side*side; n > most {
			t.Errorf("%s: %d bytes are read of a file of %d, want at most %d", name, n, len(data), most)
		}
	}
}

// TestFilledUp refuses tiles of which almost nothing is picture.
func TestFilledUp(t *testing.T) {
	k := kind{photometric: blackIsZero, bits: 8, tile: 16, compression: deflate, as: make([]byte, 1<<17)}
	for _, c := range []struct {
		w, h  uint64
		tw    uint64
		th    uint64
		wrong bool
	}{
		{1, 1 << 14, 1 << 22, 1, true},             // 2^36 pixels, each row within bounds
		{1<<31 - 1, 1<<31 - 1, 16, 16, true},       // more tiles than bytes
		{1, 1<<31 - 1, 1<<31 - 1, 1<<31 - 1, true}, // sums and products past 64 bits
		{100, 1, 1024, 1024, false},
	} {
		k := k
		k.omit = 257
		k.tile = 0
		k.rows = 1
		k.add = []tag{{257, 4, []uint64{c.h}}, {322, 4, []uint64{c.tw}}, {323, 4, []uint64{c.th}}}
		data := k.file(&drawn{w: int(min(c.w, 1<<31-1)), h: 1, n: 1})
		h, err := ReadHeader(bytes.NewReader(data), int64(len(data)))
		if (err != nil) != c.wrong {
			t.Errorf("%v: got %v", c, err)
		}
		if err == nil && h.Memory() < int64(c.tw)*4 {
			t.Errorf("%v: Memory is %d", c, h.Memory())
		}
	}
}
