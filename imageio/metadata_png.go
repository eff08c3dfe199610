package imageio

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"strconv"
	"strings"
)

const (
	xmpKeyword  = "XML:com.adobe.xmp"
	iptcKeyword = "Raw profile type iptc" // what ImageMagick and exiftool read and write
	rawKeyword  = "Raw profile type "
	mostChunks  = 1 << 18
)

// pngInfo has the facts from the chunks of a PNG file.
type pngInfo struct {
	gathered
	interlaced, transparent bool
	depth, kind             byte // bits a sample, and the type of colours
	frames                  int  // of an animation
}

// scanPNG walks all chunks of a PNG file. Some writers put metadata behind the pixels.
func (v *view) scanPNG() *pngInfo {
	p := &pngInfo{gathered: gathered{turn: upright}}
	var ihdr [29]byte
	if _, err := v.ReadAt(ihdr[:], 0); err != nil {
		return p
	}
	p.depth, p.kind, p.interlaced = ihdr[24], ihdr[25], ihdr[28] != 0
	at, kept := int64(8), int64(0)
	for range mostChunks {
		var head [8]byte
		if _, err := v.ReadAt(head[:], at); err != nil {
			break
		}
		n, name := int64(binary.BigEndian.Uint32(head[:])), string(head[4:])
		at += 12 + n
		switch name {
		case "IEND":
			return p
		case "tRNS":
			p.transparent = true
		case "acTL":
			var b [4]byte
			if _, err := v.ReadAt(b[:], at-4-n); err == nil && n >= 4 {
				p.frames = int(min(binary.BigEndian.Uint32(b[:]), 1<<20))
			}
		case "eXIf", "iCCP", "iTXt", "zTXt", "tEXt", "pHYs", "tIME", "gAMA", "cHRM", "sRGB", "cICP":
			if kept += n; n > maxMetadata || kept > 3*maxMetadata {
				p.leave(name, errLong)
				continue
			}
			b := make([]byte, min(n, v.atMost(at-4)-(at-4-n)))
			if m, _ := v.ReadAt(b, at-4-n); int64(m) < n {
				p.leave(name, errors.New("it ends too early"))
				return p
			}
			p.chunk(name, b)
		}
	}
	return p
}

// atMost is at, or where the bytes end if they are known to end before.
func (v *view) atMost(at int64) int64 {
	if v.src.place != nil {
		return min(at, v.src.size)
	}
	return at
}

// chunk keeps what a chunk says.
func (p *pngInfo) chunk(name string, b []byte) {
	switch name {
	case "eXIf":
		if p.m.EXIF == nil {
			p.exif(b)
		}
	case "iCCP":
		_, rest, ok := bytes.Cut(b, []byte{0})
		if !ok || len(rest) < 1 || rest[0] != 0 {
			p.leave("ICC", errors.New("its chunk has no profile"))
			return
		}
		profile, err := inflate(rest[1:])
		if err != nil {
			p.leave("ICC", err)
			return
		}
		p.icc(profile)
	case "pHYs":
		if len(b) == 9 && b[8] == 1 {
			p.density(perInch(binary.BigEndian.Uint32(b)), perInch(binary.BigEndian.Uint32(b[4:])))
		}
	case "gAMA", "cHRM", "sRGB", "cICP":
		p.m.colour = appendChunk(p.m.colour, name, b)
	case "iTXt", "zTXt", "tEXt":
		p.text(name, b)
	case "tIME": // when the pixels were changed, which is now
	}
}

// perInch is the density for pixels a metre: a whole number, if that is what was rounded.
func perInch(metre uint32) float64 {
	v := 0.0254 * float64(metre)
	if whole := math.Round(v); math.Abs(v-whole) <= 0.0254/2 {
		return whole
	}
	return v
}

// text keeps a text: XMP, what other programs hide in texts, or what a person has written.
func (p *pngInfo) text(name string, b []byte) {
	key, value, _ := bytes.Cut(b, []byte{0})
	raw, isRaw := strings.CutPrefix(string(key), rawKeyword)
	if string(key) != xmpKeyword && !isRaw {
		if len(p.m.own)+len(b) > maxMetadata {
			p.leave(name, errLong)
			return
		}
		p.m.own = appendChunk(p.m.own, name, b)
		return
	}
	packed := name == "zTXt"
	if name == "iTXt" {
		if len(value) < 2 {
			p.leave("XMP", errors.New("its chunk ends too early"))
			return
		}
		packed = value[0] == 1
		value = value[2:]
		for range 2 { // language, keyword in that language
			_, value, _ = bytes.Cut(value, []byte{0})
		}
	} else if packed {
		value = value[min(1, len(value)):]
	}
	if packed {
		var err error
		if value, err = inflate(value); err != nil {
			p.leave(string(key), err)
			return
		}
	}
	if isRaw {
		if value = unhex(value); value == nil {
			p.leave(string(key), errors.New("it is damaged"))
			return
		}
	}
	switch raw = strings.ToLower(raw); {
	case !isRaw || raw == "xmp":
		p.put(&p.m.XMP, "XMP", value)
	case raw == "exif" || raw == "app1" && bytes.HasPrefix(value, exifMark):
		if p.m.EXIF == nil {
			p.exif(value)
		}
	case raw == "app1":
		if x, ok := bytes.CutPrefix(value, xmpMark); ok {
			p.put(&p.m.XMP, "XMP", x)
		}
	case raw == "iptc" || raw == "8bim":
		if inner := iptcOf(bytes.TrimPrefix(value, photoshopMark)); inner != nil {
			value = inner
		} else if raw == "8bim" {
			return
		}
		p.put(&p.m.IPTC, "IPTC", value)
	case raw == "icc" || raw == "icm":
		p.icc(value)
	}
}

// inflate undoes zlib, of at most maxMetadata bytes.
func inflate(b []byte) ([]byte, error) {
	z, err := zlib.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(z, maxMetadata+1))
	if len(out) > maxMetadata {
		return nil, errLong
	}
	return out, err
}

// unhex reads the form that ImageMagick gives a raw profile: a line with its name, one with its
// length, and hex digits.
func unhex(b []byte) []byte {
	_, b, _ = bytes.Cut(bytes.TrimLeft(b, "\n"), []byte("\n"))
	length, digits, _ := bytes.Cut(b, []byte("\n"))
	n, err := strconv.Atoi(string(bytes.TrimSpace(length)))
	out, err2 := hex.DecodeString(string(bytes.Join(bytes.Fields(digits), nil)))
	if err != nil || err2 != nil || n < 1 || n > len(out) {
		return nil
	}
	return out[:n]
}

func appendChunk(b []byte, name string, parts ...[]byte) []byte {
	start := len(b)
	b = append(append(b, 0, 0, 0, 0), name...)
	for _, p := range parts {
		b = append(b, p...)
	}
	binary.BigEndian.PutUint32(b[start:], uint32(len(b)-start-8))
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[start+4:]))
}

// deflated compresses metadata.
func deflated(data []byte) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	z.Write(data) // a Buffer takes all
	z.Close()
	return b.Bytes()
}

// pngChunks are the chunks of the metadata. They come after the header.
func (m *Metadata) pngChunks() (b []byte) {
	if len(m.ICC) > 0 {
		b = appendChunk(b, "iCCP", []byte("ICC profile\x00\x00"), deflated(m.ICC))
	} else {
		b = append(b, m.colour...)
	}
	if m.DensityX > 0 {
		round := func(v float64) uint32 { return uint32(min(max(math.Round(v/0.0254), 1), math.MaxInt32)) }
		d := binary.BigEndian.AppendUint32(nil, round(m.DensityX))
		d = binary.BigEndian.AppendUint32(d, round(m.DensityY))
		b = appendChunk(b, "pHYs", d, []byte{1}) // a metre
	}
	if len(m.EXIF) > 0 {
		b = appendChunk(b, "eXIf", m.EXIF)
	}
	if len(m.XMP) > 0 {
		b = appendChunk(b, "iTXt", []byte(xmpKeyword), make([]byte, 5), m.XMP)
	}
	if len(m.IPTC) > 0 {
		var text strings.Builder
		fmt.Fprintf(&text, "\niptc\n%8d\n", len(m.IPTC))
		for i := 0; i < len(m.IPTC); i += 36 {
			fmt.Fprintf(&text, "%x\n", m.IPTC[i:min(i+36, len(m.IPTC))])
		}
		b = appendChunk(b, "zTXt", []byte(iptcKeyword), []byte{0, 0}, deflated([]byte(text.String())))
	}
	return append(b, m.own...)
}
