package imageio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// The marks with which segments of JPEG begin.
var (
	jfifMark      = []byte("JFIF\x00")
	exifMark      = []byte("Exif\x00\x00")
	xmpMark       = []byte("http://ns.adobe.com/xap/1.0/\x00")
	xmpMoreMark   = []byte("http://ns.adobe.com/xmp/extension/\x00")
	iccMark       = []byte("ICC_PROFILE\x00")
	photoshopMark = []byte("Photoshop 3.0\x00")
)

const (
	jpegBody = 65533             // the most bytes in a segment
	iccPart  = jpegBody - 12 - 2 // of them for a part of a profile
	app0     = 0xe0              // the markers of segments
	app1     = 0xe1              //
	app2     = 0xe2              //
	app13    = 0xed              //
	comment  = 0xfe              //
)

// jpegInfo has the facts from the segments of a JPEG file.
type jpegInfo struct {
	gathered
	progressive bool
	coding      byte    // the marker of the frame, 0xc0 to 0xcf
	depth       byte    // bits a sample
	parts       int     // colour components
	sampling    string  // as Info.Subsampling
	samples     float64 // of all components, a pixel

	first     bool            // an EXIF segment has been read
	photoshop []byte          // resources of all their segments
	icc       map[byte][]byte // parts of the profile by their numbers
	iccParts  byte            // how many there should be
	kept      int             // bytes
}

// scanJPEG walks the segments of a JPEG file up to its pixels.
func scanJPEG(r io.ReadSeeker) *jpegInfo {
	j := &jpegInfo{gathered: gathered{turn: upright}}
	j.walk(r)
	j.put(&j.m.IPTC, "IPTC", iptcOf(j.photoshop))
	j.joinICC()
	return j
}

func (j *jpegInfo) walk(r io.ReadSeeker) {
	if _, err := r.Seek(2, io.SeekStart); err != nil {
		return
	}
	for {
		var head [4]byte
		if _, err := io.ReadFull(r, head[:2]); err != nil || head[0] != 0xff {
			return
		}
		for head[1] == 0xff { // fill bytes
			if _, err := io.ReadFull(r, head[1:2]); err != nil {
				return
			}
		}
		if head[1] == 0xda || head[1] == 0xd9 { // the pixels, or the end
			return
		}
		if _, err := io.ReadFull(r, head[2:]); err != nil {
			return
		}
		size := int64(binary.BigEndian.Uint16(head[2:])) - 2
		if size < 0 {
			return
		}
		here, err := r.Seek(0, io.SeekCurrent)
		if err != nil {
			return
		}
		switch m := head[1]; {
		case m >= 0xc0 && m <= 0xcf && m != 0xc4 && m != 0xc8 && m != 0xcc && j.coding == 0:
			j.frame(r, m, size)
		case m == app0 || m == app1 || m == app2 || m == app13 || m == comment:
			body := make([]byte, size)
			if _, err := io.ReadFull(r, body); err != nil {
				return
			}
			j.segment(m, body)
		}
		if _, err := r.Seek(here+size, io.SeekStart); err != nil {
			return
		}
	}
}

// segment keeps what a segment says.
func (j *jpegInfo) segment(marker byte, b []byte) {
	if j.kept += len(b); j.kept > 3*maxMetadata { // small segments without an end
		if j.kept-len(b) <= 3*maxMetadata {
			j.leave("segments", errLong)
		}
		return
	}
	rest := func(mark []byte) ([]byte, bool) { return bytes.CutPrefix(b, mark) }
	switch marker {
	case app0:
		if d, ok := rest(jfifMark); ok && len(d) >= 7 {
			unit := map[byte]float64{1: 1, 2: 2.54}[d[2]]
			j.density(unit*float64(binary.BigEndian.Uint16(d[3:])), unit*float64(binary.BigEndian.Uint16(d[5:])))
		}
	case app1:
		if d, ok := rest(exifMark); ok && !j.first {
			j.first = true
			j.exif(d)
		} else if d, ok := rest(xmpMark); ok {
			j.put(&j.m.XMP, "XMP", d)
		} else if _, ok := rest(xmpMoreMark); ok {
			j.m.own = appendSegment(j.m.own, marker, b)
		}
	case app2:
		if d, ok := rest(iccMark); ok && len(d) > 2 && d[0] > 0 {
			if j.icc == nil {
				j.icc, j.iccParts = map[byte][]byte{}, d[1]
			}
			if j.icc[d[0]] == nil {
				j.icc[d[0]] = d[2:]
			}
		}
	case app13:
		if d, ok := rest(photoshopMark); ok {
			j.photoshop = append(j.photoshop, d...)
		}
	case comment:
		j.m.own = appendSegment(j.m.own, marker, b)
	}
}

// joinICC puts the parts of the profile together.
func (j *jpegInfo) joinICC() {
	if j.icc == nil {
		return
	}
	var all []byte
	for i := 1; i <= int(j.iccParts); i++ {
		part := j.icc[byte(i)]
		if part == nil {
			j.leave("ICC", fmt.Errorf("part %d of %d is missing", i, j.iccParts))
			return
		}
		all = append(all, part...)
	}
	if len(all) == 0 {
		j.leave("ICC", errors.New("the profile has no parts"))
		return
	}
	j.gathered.icc(all)
}

func appendSegment(b []byte, marker byte, parts ...[]byte) []byte {
	n := 2
	for _, p := range parts {
		n += len(p)
	}
	b = append(b, 0xff, marker, byte(n>>8), byte(n))
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

// jpegSegments are the segments for what Fit has let through. They come after the first two bytes.
func (m *Metadata) jpegSegments() (b []byte) {
	if m.DensityX > 0 {
		round := func(v float64) uint16 { return uint16(min(max(math.Round(v), 1), 65535)) }
		head := append(bytes.Clone(jfifMark), 1, 2, 1)
		head = binary.BigEndian.AppendUint16(head, round(m.DensityX))
		head = binary.BigEndian.AppendUint16(head, round(m.DensityY))
		b = appendSegment(b, app0, head, []byte{0, 0})
	}
	if len(m.EXIF) > 0 {
		b = appendSegment(b, app1, exifMark, m.EXIF)
	}
	if len(m.XMP) > 0 {
		b = appendSegment(b, app1, xmpMark, m.XMP)
	}
	if len(m.IPTC) > 0 {
		b = appendSegment(b, app13, photoshopMark, resource(m.IPTC))
	}
	parts := (len(m.ICC) + iccPart - 1) / iccPart
	for i := range parts {
		part := m.ICC[i*iccPart : min((i+1)*iccPart, len(m.ICC))]
		b = appendSegment(b, app2, iccMark, []byte{byte(i + 1), byte(parts)}, part)
	}
	return append(b, m.own...)
}
