package avif

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"io"

	"github.com/lathe-gpu/lathe/internal/errs"
)

// Header is what the container tells of a picture.
type Header struct {
	Width, Height int    // as stored, pixels
	Orientation   int    // how to turn it upright, as in EXIF
	Depth         int    // bits a channel: 8, 10 or 12
	Grey          bool   // it has no colours
	Sampling      string // 4:4:4, 4:2:2 or 4:2:0; "" for grey
	Frames        int    // pictures of an animation, at least 1
	// EXIF, XMP and ICC are those of the file, nil if it has none.
	EXIF, XMP, ICC []byte
	// Lost says what the file says of the picture that is not read, and why.
	Lost []error

	whole         image.Point     // the size before it is cropped
	crop          image.Rectangle // the picture in it
	colour, alpha *picture
	premultiplied bool
}

// Stored is the size that is decoded, of which the picture may be a part.
func (h *Header) Stored() (width, height int) { return h.whole.X, h.whole.Y }

// picture is a coded picture: an item, or the tiles of a grid.
type picture struct {
	c     *catalogue
	items []*item // the first one is shown, the others are its tiles
	depth int
	grey  bool
}

// maxBytes bounds what is read of EXIF, XMP and ICC each: nobody writes as much.
const maxBytes = 8 << 20

// ReadHeader reads the container of a file of the size. It decodes nothing.
// Errors: ErrUnsupported naming the feature, io.ErrUnexpectedEOF, the reader's own; any other error
// says what is damaged.
func ReadHeader(r io.ReaderAt, size int64) (*Header, error) {
	boxes, err := topBoxes(r, size)
	if err != nil {
		return nil, err
	}
	h := &Header{Frames: 1}
	if at, ok := boxes["moov"]; ok {
		h.Frames = max(frames(r, at), 1)
	}
	at, ok := boxes["meta"]
	if !ok {
		if _, ok := boxes["moov"]; ok {
			return nil, fmt.Errorf("%w: AVIF animation without a still picture", errs.ErrUnsupported)
		}
		return nil, io.ErrUnexpectedEOF
	}
	c, err := readCatalogue(r, at, size)
	if err != nil {
		return nil, err
	}
	shown := c.items[c.primary]
	if shown == nil {
		return nil, errors.New("it does not say which picture to show")
	}
	if h.colour, err = c.picture(shown); err != nil {
		return nil, err
	}
	h.Depth, h.Grey = h.colour.depth, h.colour.grey
	h.Sampling = h.colour.sampling()
	if h.whole, err = sizeOf(shown); err != nil {
		return nil, err
	}
	for _, it := range c.describing("auxl", shown.id) {
		if !isAlpha(it) {
			continue
		}
		if h.alpha, err = c.picture(it); err != nil {
			return nil, fmt.Errorf("its alpha: %w", err)
		}
		if size, err := sizeOf(it); err != nil || size != h.whole {
			return nil, fmt.Errorf("its alpha has %d×%d pixels and the picture %d×%d", size.X, size.Y, h.whole.X, h.whole.Y)
		}
		h.premultiplied = len(c.describing("prem", it.id)) > 0 || c.refersTo("prem", shown.id, it.id)
		break
	}
	h.transform(shown)
	h.describe(r, c, shown)
	return h, nil
}

// refersTo reports whether there is such a reference.
func (c *catalogue) refersTo(kind string, from, to int64) bool {
	for _, it := range c.describing(kind, to) {
		if it.id == from {
			return true
		}
	}
	return false
}

func isAlpha(it *item) bool {
	b := it.prop("auxC")
	if len(b) < 4 {
		return false
	}
	name, _, _ := bytes.Cut(b[4:], []byte{0})
	return string(name) == alphaName || string(name) == "urn:mpeg:hevc:2015:auxid:1"
}

// alphaName says that a picture is the alpha of another one.
const alphaName = "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha"

// sizeOf is the size that an item says that it has.
func sizeOf(it *item) (image.Point, error) {
	b := it.prop("ispe")
	if len(b) < 12 {
		return image.Point{}, errors.New("a picture does not say its size")
	}
	return image.Pt(int(min(be32(b[4:]), 1<<30)), int(min(be32(b[8:]), 1<<30))), nil
}

// picture finds the parts of a picture.
func (c *catalogue) picture(it *item) (*picture, error) {
	p := &picture{c: c, items: []*item{it}}
	coded := p.items
	switch it.kind {
	case "av01":
	case "grid":
		if coded = c.parts(it); len(coded) == 0 || len(coded) > 256 {
			return nil, fmt.Errorf("a grid of %d tiles", len(coded))
		}
		p.items = append(p.items, coded...)
	default:
		return nil, fmt.Errorf("%w: AVIF with a picture of the kind %q", errs.ErrUnsupported, it.kind)
	}
	for _, part := range p.items {
		if part == nil {
			return nil, errors.New("a part of it is missing")
		}
		for _, q := range part.props {
			if q.essential && !known[q.kind] {
				return nil, fmt.Errorf("%w: AVIF with the property %q", errs.ErrUnsupported, q.kind)
			}
		}
	}
	if it.foreign {
		return nil, fmt.Errorf("%w: AVIF with an item that is not in the file itself", errs.ErrUnsupported)
	}
	for i, part := range coded {
		b := part.prop("av1C")
		if part.kind != "av01" || len(b) < 4 {
			return nil, errors.New("a part of it is no AV1")
		}
		depth := 8
		if b[2]&0x40 != 0 {
			if depth = 10; b[2]&0x20 != 0 {
				depth = 12
			}
		}
		if i > 0 && depth != p.depth {
			return nil, errors.New("its tiles have different depths")
		}
		p.depth, p.grey = depth, b[2]&0x10 != 0
	}
	return p, nil
}

// known are the properties that are read here, or by a codec, and mean something to a picture.
var known = map[string]bool{
	"ispe": true, "pixi": true, "av1C": true, "colr": true, "auxC": true, "irot": true, "imir": true, "clap": true, "pasp": true,
	"a1op": true, "a1lx": true, "lsel": true,
}

// forCodec are those of a part that the codec gets.
var forCodec = map[string]bool{"ispe": true, "pixi": true, "av1C": true, "a1op": true, "a1lx": true, "lsel": true}

func (p *picture) sampling() string {
	b := p.items[len(p.items)-1].prop("av1C")
	switch {
	case p.grey || len(b) < 4:
		return ""
	case b[2]&0x08 == 0:
		return "4:4:4"
	case b[2]&0x04 == 0:
		return "4:2:2"
	}
	return "4:2:0"
}

// transform reads how the picture is cut out and turned. The standard has this order: crop, then turn,
// then mirror.
func (h *Header) transform(it *item) {
	h.crop = image.Rectangle{Max: h.whole}
	if b := it.prop("clap"); b != nil {
		if r, ok := aperture(b, h.whole); ok {
			h.crop = r
		} else {
			h.Lost = append(h.Lost, errors.New("crop: its rectangle does not lie on pixels of the picture"))
		}
	}
	h.Width, h.Height = h.crop.Dx(), h.crop.Dy()
	turns, mirror := 0, 0
	if b := it.prop("irot"); len(b) > 0 {
		turns = int(b[0] & 3)
	}
	if b := it.prop("imir"); len(b) > 0 {
		mirror = 1 + int(b[0]&1)
	}
	h.Orientation = orientations[mirror][turns]
}

// orientations are those of EXIF, by how a picture is mirrored (not, top and bottom exchanged, left and
// right exchanged) after so many quarter turns anticlockwise.
var orientations = [3][4]int{{1, 8, 3, 6}, {4, 5, 2, 7}, {2, 7, 4, 5}}

// aperture is the rectangle of a box clap.
func aperture(b []byte, size image.Point) (r image.Rectangle, ok bool) {
	if len(b) < 32 {
		return r, false
	}
	var v [4]float64 // width, height, how far the centre is right and below of that of the picture
	for i := range v {
		n, d := int32(be32(b[8*i:])), int32(be32(b[8*i+4:]))
		if d <= 0 {
			return r, false
		}
		v[i] = float64(n) / float64(d)
	}
	x, y := (float64(size.X)-v[0])/2+v[2], (float64(size.Y)-v[1])/2+v[3]
	for _, f := range []float64{x, y, v[0], v[1]} {
		if f < 0 || f > 1<<30 || f != float64(int(f)) {
			return r, false
		}
	}
	r = image.Rect(int(x), int(y), int(x+v[0]), int(y+v[1]))
	return r, !r.Empty() && r.In(image.Rectangle{Max: size})
}

// describe reads metadata and what colours mean.
func (h *Header) describe(r io.ReaderAt, c *catalogue, shown *item) {
	lose := func(what string, err error) { h.Lost = append(h.Lost, fmt.Errorf("%s: %w", what, err)) }
	read := func(what string, it *item) []byte {
		if it.length() > maxBytes {
			lose(what, fmt.Errorf("more than %d MiB", maxBytes>>20))
			return nil
		}
		b, err := c.data(r, it)
		if err != nil {
			lose(what, err)
		}
		return b
	}
	for _, it := range c.describing("cdsc", shown.id) {
		switch {
		case it.kind == "Exif" && h.EXIF == nil:
			b := read("EXIF", it)
			if len(b) < 4 {
				break
			}
			if skip := int64(be32(b)); skip < int64(len(b)-4) {
				h.EXIF = b[4+skip:]
			} else {
				lose("EXIF", errShort)
			}
		case it.kind == "mime" && it.mime == xmpType && h.XMP == nil:
			h.XMP = read("XMP", it)
		}
	}
	meaning := ""
	for _, p := range shown.props {
		if p.kind != "colr" || len(p.body) < 4 {
			continue
		}
		switch b := p.body; string(b[:4]) {
		case "prof", "rICC":
			if h.ICC == nil {
				h.ICC = bytes.Clone(b[4:])
			}
		case "nclx":
			if len(b) >= 11 {
				meaning = foreignColours(be16(b[4:]), be16(b[6:]))
			}
		}
	}
	if meaning != "" && h.ICC == nil {
		lose("colours", fmt.Errorf("they are those of %s, without a profile, and are taken for sRGB", meaning))
	}
}

const xmpType = "application/rdf+xml"

// foreignColours names primary colours and a curve, by their numbers in ISO/IEC 23091-2, if they are not
// those of sRGB, and near to them. 2 means that the file does not say them.
func foreignColours(primaries, transfer uint16) string {
	switch {
	case transfer == 16:
		return "HDR (PQ)"
	case transfer == 18:
		return "HDR (HLG)"
	case transfer == 8:
		return "linear light"
	case primaries == 9:
		return "BT.2020"
	case primaries == 11 || primaries == 12:
		return "P3"
	}
	return ""
}

// frames counts the pictures of the longest track of a film.
func frames(r io.ReaderAt, at span) (most int) {
	if at.size > maxMeta {
		return 2 // an animation, of which the number of pictures does not matter
	}
	b, err := at.read(r)
	if err != nil {
		return 0
	}
	var walk func(b []byte)
	walk = func(b []byte) {
		eachBox(b, func(kind string, body, _ []byte) error {
			switch kind {
			case "trak", "mdia", "minf", "stbl":
				walk(body)
			case "stsz":
				if len(body) >= 12 {
					most = max(most, int(min(be32(body[8:]), 1<<24)))
				}
			}
			return nil
		})
	}
	walk(b)
	return most
}
