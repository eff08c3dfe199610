package testimg

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// Camera returns EXIF data as a camera writes them: with maker and orientation, settings that say
// the size 4000×3000 and have data of the camera's own, and a thumbnail in another directory.
func Camera(o uint16, order binary.AppendByteOrder) []byte {
	b := []byte("MM\x00*")
	if order.String() == binary.LittleEndian.String() {
		b = []byte("II*\x00")
	}
	entry := func(tag, kind uint16, count, value uint32) {
		b = order.AppendUint16(b, tag)
		b = order.AppendUint16(b, kind)
		b = order.AppendUint32(b, count)
		if kind == 3 {
			b = order.AppendUint16(b, uint16(value))
			b = order.AppendUint16(b, 0)
			return
		}
		b = order.AppendUint32(b, value)
	}
	const first, maker, settings, note, thumbnail, picture = 8, 50, 64, 106, 126, 156
	b = order.AppendUint32(b, first)
	b = order.AppendUint16(b, 3)
	entry(0x010f, 2, 12, maker)
	entry(0x0112, 3, 1, uint32(o))
	entry(0x8769, 4, 1, settings)
	b = order.AppendUint32(b, thumbnail)
	b = append(b, "Lathe Works\x00\x00\x00"...)
	b = order.AppendUint16(b, 3)
	entry(0x927c, 7, 20, note)
	entry(0xa002, 4, 1, 4000)
	entry(0xa003, 3, 1, 3000)
	b = order.AppendUint32(b, 0)
	b = append(b, "note at its own place"[:20]...)
	b = order.AppendUint16(b, 2)
	entry(0x0201, 4, 1, picture)
	entry(0x0202, 4, 1, 9)
	b = order.AppendUint32(b, 0)
	return append(b, "\xff\xd8thumb\xff\xd9"...)
}

// XMP is a packet with the orientation o, a digit.
func XMP(o string) []byte {
	return []byte(`<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">` +
		`<rdf:Description rdf:about="" xmlns:tiff="http://ns.adobe.com/tiff/1.0/" tiff:Orientation="` + o + `" xmlns:dc="http://purl.org/dc/elements/1.1/">` +
		`<dc:subject><rdf:Bag><rdf:li>lake</rdf:li></rdf:Bag></dc:subject></rdf:Description></rdf:RDF></x:xmpmeta>`)
}

// IPTC are records with the city Oslo.
const IPTC = "\x1c\x01\x5a\x00\x03\x1b%G\x1c\x02\x5a\x00\x04Oslo"

// ICC returns a profile of n bytes for the kind of colours, such as "RGB ". Its header is as it should be, and
// it has a description and bytes without meaning.
func ICC(colours string, n int) []byte {
	b := make([]byte, n)
	Fill(7, b[180:])
	binary.BigEndian.PutUint32(b, uint32(n))
	copy(b[8:], "\x02\x10\x00\x00mntr"+colours+"XYZ ")
	copy(b[36:], "acspAPPL")
	copy(b[68:], "\x00\x00\xf6\xd6\x00\x01\x00\x00\x00\x00\xd3\x2d")
	binary.BigEndian.PutUint32(b[128:], 1)
	copy(b[132:], "cprt\x00\x00\x00\x90\x00\x00\x00\x14text\x00\x00\x00\x00made here\x00\x00\x00")
	return b
}

// JPEGSegment is a segment of a JPEG file.
func JPEGSegment(marker byte, body ...string) string {
	text := strings.Join(body, "")
	return string([]byte{0xff, marker, byte((len(text) + 2) >> 8), byte(len(text) + 2)}) + text
}

// Photograph returns the JPEG file with everything that a camera and an editor put into one: EXIF with the
// orientation o, XMP, IPTC, a profile in several parts, a density of 300 an inch, a comment.
func Photograph(jpeg []byte, o uint16, icc []byte) []byte {
	resource := "8BIM\x03\xed\x00\x00\x00\x00\x00\x02ab8BIM\x04\x04\x00\x00\x00\x00\x00" + string([]byte{byte(len(IPTC))}) + IPTC
	out := string(jpeg[:2]) + JPEGSegment(0xe0, "JFIF\x00\x01\x02\x01\x01\x2c\x01\x2c\x00\x00") +
		JPEGSegment(0xe1, "Exif\x00\x00", string(Camera(o, binary.BigEndian))) +
		JPEGSegment(0xe1, "http://ns.adobe.com/xap/1.0/\x00", string(XMP(string(rune('0'+o))))) +
		JPEGSegment(0xed, "Photoshop 3.0\x00", resource[:20]) + JPEGSegment(0xed, "Photoshop 3.0\x00", resource[20:])
	const part = 60000
	parts := (len(icc) + part - 1) / part
	for i := parts - 1; i >= 0; i-- { // in the wrong order
		out += JPEGSegment(0xe2, "ICC_PROFILE\x00", string([]byte{byte(i + 1), byte(parts)}), string(icc[i*part:min((i+1)*part, len(icc))]))
	}
	out += JPEGSegment(0xfe, "a comment")
	return bytes.Join([][]byte{[]byte(out), jpeg[2:]}, nil)
}
