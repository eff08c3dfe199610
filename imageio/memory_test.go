package imageio

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"
)

// pngHeader is the beginning of a PNG file: all that is read before memory is
// taken for its pixels.
func pngHeader(w, h uint32, depth, colour, interlaced byte, transparent bool) []byte {
	chunk := func(b []byte, id string, body []byte) []byte {
		b = binary.BigEndian.AppendUint32(b, uint32(len(body)))
		whole := append([]byte(id), body...)
		return binary.BigEndian.AppendUint32(append(b, whole...), crc32.ChecksumIEEE(whole))
	}
	ihdr := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)
	b := chunk([]byte("\x89PNG\r\n\x1a\n"), "IHDR", append(ihdr, depth, colour, 0, 0, interlaced))
	if transparent {
		b = chunk(b, "tRNS", make([]byte, map[byte]int{0: 2, 2: 6}[colour]))
	}
	return chunk(b, "IDAT", make([]byte, 100))
}

// TestDecodeBytes holds what is known of decoders against the headers.
func TestDecodeBytes(t *testing.T) {
	for _, c := range []struct {
		depth, colour, interlaced byte
		transparent               bool
		want                      int64 // bytes a pixel, the result's four included
	}{
		{8, 0, 0, false, 5}, {16, 0, 0, false, 6}, {8, 2, 0, false, 8}, {16, 2, 0, false, 12}, {8, 6, 0, false, 8}, {16, 6, 0, false, 12},
		{1, 0, 0, false, 5}, {8, 4, 0, false, 8}, {8, 0, 1, false, 6}, {8, 6, 1, false, 12}, {8, 0, 0, true, 8}, {8, 2, 0, true, 8}, {16, 2, 0, true, 12},
	} {
		file := pngHeader(1000, 1000, c.depth, c.colour, c.interlaced, c.transparent)
		info, err := DecodeConfig(t.Context(), bytes.NewReader(file), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Memory - 1<<20 - 20*1000; got != c.want*1e6 {
			t.Errorf("%+v: %d bytes for a million pixels", c, got)
		}
	}
}
