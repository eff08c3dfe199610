package imageio

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"

	"github.com/lathe-gpu/lathe/internal/exif"
)

// gatherTIFF reads the metadata of a page of a TIFF file: the tags of the directory at an offset that describe
// the picture.
func gatherTIFF(r io.ReaderAt, size, at int64) *gathered {
	g := &gathered{turn: upright}
	order, list, err := exif.ReadAt(r, size, at, func(tag uint16) bool {
		return exif.OfTIFF(tag) || tag == exif.XMP || tag == exif.IPTC || tag == exif.Photoshop || tag == exif.ICC
	})
	if err != nil {
		g.leave("tags", err)
		return g
	}
	var tags []exif.Entry
	for _, e := range list {
		switch e.Tag {
		case exif.XMP:
			g.put(&g.m.XMP, "XMP", e.Data)
		case exif.IPTC:
			if len(e.Data) > 0 && e.Data[0] != iptcTag && e.Kind == 4 { // written on a machine of the other byte order
				e.Data = exif.Swapped(e.Data, 4)
			}
			g.put(&g.m.IPTC, "IPTC", e.Data)
		case exif.ICC:
			g.icc(e.Data)
		case exif.Photoshop: // Its tag is above that of IPTC.
			g.put(&g.m.IPTC, "IPTC", iptcOf(e.Data))
		default:
			tags = append(tags, e)
		}
	}
	g.resolution(order, list)
	camera := func(e exif.Entry) bool {
		return e.Tag != exif.XResolution && e.Tag != exif.YResolution && e.Tag != exif.Unit
	}
	for _, e := range tags {
		if camera(e) {
			g.m.EXIF = exif.Block(order, tags)
			break
		}
	}
	return g
}

// iptcTag is the first byte of every IPTC record.
const iptcTag = 0x1c

// resolution keeps the density that tags say.
func (g *gathered) resolution(order binary.ByteOrder, list []exif.Entry) {
	x, _ := exif.Find(list, exif.XResolution)
	y, _ := exif.Find(list, exif.YResolution)
	dx, ok1 := exif.Fraction(order, x)
	dy, ok2 := exif.Fraction(order, y)
	unit := 1.0
	if e, ok := exif.Find(list, exif.Unit); ok {
		switch v, _ := exif.Number(order, e); v {
		case 1:
			return // it says the shape of a pixel only
		case 3:
			unit = 2.54
		}
	}
	if ok1 && ok2 {
		g.density(dx*unit, dy*unit)
	}
}

// tiffTags are the tags for the metadata, and the EXIF block with which the file begins. The
// directories inside EXIF stay where they are in the block: cameras keep offsets in data of their own.
func (m *Metadata) tiffTags() (head []byte, tags []exif.Entry) {
	var order binary.AppendByteOrder = binary.LittleEndian
	_, list, err := exif.Read(bytes.NewReader(m.EXIF), int64(len(m.EXIF)), exif.OfTIFF)
	if err == nil && len(m.EXIF) > 8 {
		if head = m.EXIF; head[0] == 'M' {
			order = binary.BigEndian
		}
	}
	add := func(tag, kind uint16, count int, data []byte) {
		if count > 0 {
			tags = append(tags, exif.Entry{Tag: tag, Kind: kind, Count: uint32(count), Data: data})
		}
	}
	if m.DensityX > 0 {
		fraction := func(v float64) []byte {
			b := order.AppendUint32(nil, uint32(min(math.Round(v*1000), math.MaxUint32)))
			return order.AppendUint32(b, 1000)
		}
		add(exif.XResolution, 5, 1, fraction(m.DensityX))
		add(exif.YResolution, 5, 1, fraction(m.DensityY))
		add(exif.Unit, 3, 1, order.AppendUint16(nil, 2)) // an inch
	}
	add(exif.XMP, 1, len(m.XMP), m.XMP)
	add(exif.IPTC, 7, len(m.IPTC), m.IPTC)
	add(exif.ICC, 7, len(m.ICC), m.ICC)
	for _, e := range list { // Of two equal tags the first one counts.
		e.Sub = nil
		tags = append(tags, e)
	}
	return head, tags
}
