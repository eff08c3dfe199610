package exif

import (
	"bytes"
	"slices"
)

// Clean returns a copy of EXIF data without the thumbnail, which would show the picture as it
// was. All else lies where it did, because cameras keep offsets in data of their own.
// orientation is the one that the data say, 1 if they say none.
// Errors: data that cannot be read.
func Clean(block []byte) (clean []byte, orientation int, err error) {
	clean, orientation = bytes.Clone(block), 1
	d := &reader{r: bytes.NewReader(clean), size: int64(len(clean)), left: MaxBytes}
	at, err := d.head()
	if err != nil {
		return nil, 1, err
	}
	list, next, err := d.directory(at, []uint16{Settings, Place})
	if err != nil {
		return nil, 1, err
	}
	if e, ok := Find(list, Orientation); ok {
		if v, whole := d.number(e); whole && v >= 1 && v <= 8 {
			orientation = int(v)
		}
	}
	if d.big || next > d.size-4 {
		return clean, orientation, nil
	}
	thumbnail := int64(d.order.Uint32(clean[next:]))
	d.order.PutUint32(clean[next:], 0)
	used := []span{{0, 8}, {at, next + 4 - at}}
	return d.cut(clean, thumbnail, d.spans(list, used)), orientation, nil
}

// span is where some bytes lie, and how many.
type span struct{ at, n int64 }

// spans appends where the values of the tags and of those inside them lie.
func (d *reader) spans(list []Entry, to []span) []span {
	for _, e := range list {
		to = append(to, span{e.at, int64(len(e.Data))})
		if len(e.Sub) > 0 {
			to = append(to, span{e.Sub[0].row - 2, 12*int64(len(e.Sub)) + 6})
		}
		to = d.spans(e.Sub, to)
	}
	return to
}

// cut removes the directory at an offset, with its values and the picture that it leads to,
// unless used has these bytes. It overwrites them with zeros, and cuts the end off if no more
// is there.
func (d *reader) cut(b []byte, at int64, used []span) []byte {
	list, next, err := d.directory(at, nil)
	if err != nil {
		return b
	}
	gone := d.spans(list, []span{{at, next + 4 - at}})
	for _, tags := range [][2]uint16{{0x0201, 0x0202}, {0x0111, 0x0117}} { // a JPEG file, a strip
		from, ok1 := Find(list, tags[0])
		size, ok2 := Find(list, tags[1])
		if !ok1 || !ok2 {
			continue
		}
		x, ok1 := d.number(from)
		n, ok2 := d.number(size)
		if ok1 && ok2 && x >= 0 && x <= d.size {
			gone = append(gone, span{x, min(n, d.size-x)})
		}
	}
	var end int64
	for _, u := range used {
		end = max(end, min(u.at+u.n, d.size))
	}
	for _, g := range gone {
		overlaps := func(u span) bool { return u.at < g.at+g.n && g.at < u.at+u.n }
		if !slices.ContainsFunc(used, overlaps) {
			clear(b[g.at:min(g.at+g.n, d.size)])
		}
	}
	if len(bytes.Trim(b[end:], "\x00")) == 0 {
		b = b[:end]
	}
	return b
}

// set overwrites the first value of an entry, if v fits its kind.
func (d *reader) set(b []byte, e Entry, v int) {
	switch {
	case e.Count == 0:
	case e.Kind == 3 && v <= 0xffff:
		d.order.PutUint16(b[e.at:], uint16(v))
	case e.Kind == 4:
		d.order.PutUint32(b[e.at:], uint32(v))
	}
}

// Sized returns EXIF data that say the size of the picture in pixels, where they said a size
// before. Data that cannot be read are returned as they are.
func Sized(block []byte, w, h int) []byte {
	return changed(block, func(set func(list []Entry, tag uint16, v int), list []Entry) {
		set(list, 0x0100, w)
		set(list, 0x0101, h)
		if e, ok := Find(list, Settings); ok {
			set(e.Sub, 0xa002, w)
			set(e.Sub, 0xa003, h)
		}
	})
}

// Upright returns EXIF data with the orientation 1, if they say one. Data that cannot be read
// are returned as they are.
func Upright(block []byte) []byte {
	return changed(block, func(set func(list []Entry, tag uint16, v int), list []Entry) { set(list, Orientation, 1) })
}

// SRGB returns EXIF data that say that colours are those of sRGB, where they said what colours are. Data
// that cannot be read are returned as they are.
func SRGB(block []byte) []byte { return space(block, 1) }

// Uncalibrated returns EXIF data that say that a profile says what colours are, where they said what
// colours are. Data that cannot be read are returned as they are.
func Uncalibrated(block []byte) []byte { return space(block, 0xffff) }

// space sets the colour space.
func space(block []byte, v int) []byte {
	return changed(block, func(set func(list []Entry, tag uint16, v int), list []Entry) {
		if e, ok := Find(list, Settings); ok {
			set(e.Sub, 0xa001, v)
		}
	})
}

// changed returns a copy of EXIF data in which f has set numbers.
func changed(block []byte, f func(set func(list []Entry, tag uint16, v int), list []Entry)) []byte {
	b := bytes.Clone(block)
	d := &reader{r: bytes.NewReader(b), size: int64(len(b)), left: MaxBytes}
	at, err := d.head()
	if err != nil || d.big {
		return block
	}
	list, _, err := d.directory(at, []uint16{Settings})
	if err != nil {
		return block
	}
	f(func(list []Entry, tag uint16, v int) {
		if e, ok := Find(list, tag); ok {
			d.set(b, e, v)
		}
	}, list)
	return b
}

// OfTIFF reports whether a tag of the first directory describes the picture of a TIFF file, and
// not how its pixels are stored. Those tags are EXIF data too.
func OfTIFF(tag uint16) bool {
	switch tag {
	case Orientation, 0x010d, 0x010e, 0x010f, 0x0110, 0x011d, // names, description, maker and model
		XResolution, YResolution, Unit,
		0x0131, 0x0132, 0x013b, 0x013c, // software, time, artist, computer
		0x013e, 0x013f, 0xc4a5, // white point, primaries, print matching
		0x4746, 0x4749, 0x8298, // rating, copyright
		0x9c9b, 0x9c9c, 0x9c9d, 0x9c9e, 0x9c9f, // those of Windows
		Settings, Place:
		return true
	}
	return false
}
