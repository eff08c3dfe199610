// Package exif reads and changes EXIF data, which are a TIFF structure without pixels: a directory
// of tags, and directories inside it for the camera's settings and the place. It changes what
// would be wrong after a picture was turned or resized, and moves tags between EXIF data and the
// directory of a TIFF file.
package exif

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Tags that this package or its callers treat in a way of their own.
const (
	Orientation = 0x0112
	XResolution = 0x011a
	YResolution = 0x011b
	Unit        = 0x0128 // of the resolutions: 1 none, 2 inch, 3 centimetre
	XMP         = 0x02bc
	IPTC        = 0x83bb
	Photoshop   = 0x8649
	ICC         = 0x8773
	Settings    = 0x8769 // the directory of the camera's settings
	Place       = 0x8825 // the directory of GPS
	Interop     = 0xa005 // a directory inside Settings
)

// MaxBytes is how many bytes of values are read. It is more than any camera writes.
const MaxBytes = 8 << 20

// Entry is a tag with its values.
type Entry struct {
	Tag   uint16
	Kind  uint16 // the type of a value, as TIFF numbers them
	Count uint32
	Data  []byte  // the values as they lie, in the byte order of the file
	Sub   []Entry // the directory that Settings, Place or Interop lead to

	at  int64 // where the values lie
	row int64 // where the entry lies in its directory
}

// sizes is the length of a value by kind.
var sizes = [...]int64{1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8}

// reader reads directories of one file.
type reader struct {
	r     io.ReaderAt
	size  int64
	order binary.ByteOrder
	big   bool  // BigTIFF
	left  int64 // bytes of values that may still be read
	keep  func(tag uint16) bool
}

// Read returns the tags of the first directory, and of those inside it, for which keep is true in
// the first one. Nil for keep means all. Values that lie outside of the file are left out. No directory is
// read that leads back to another one.
// Errors: a directory that cannot be read, or more than MaxBytes of values.
func Read(r io.ReaderAt, size int64, keep func(tag uint16) bool) (binary.ByteOrder, []Entry, error) {
	return ReadAt(r, size, 0, keep)
}

// ReadAt is Read of the directory at an offset, such as that of a further page of a TIFF file. 0 is the first
// one.
func ReadAt(r io.ReaderAt, size, at int64, keep func(tag uint16) bool) (binary.ByteOrder, []Entry, error) {
	d := &reader{r: r, size: size, left: MaxBytes, keep: keep}
	first, err := d.head()
	if err != nil {
		return nil, nil, err
	}
	if at == 0 {
		at = first
	}
	list, _, err := d.directory(at, []uint16{Settings, Place})
	return d.order, list, err
}

// Number is the first value of an entry of whole numbers.
func Number(order binary.ByteOrder, e Entry) (v int64, ok bool) {
	return (&reader{order: order}).number(e)
}

// Fraction is the first value of an entry of fractions.
func Fraction(order binary.ByteOrder, e Entry) (v float64, ok bool) {
	if e.Kind != 5 || len(e.Data) < 8 || order.Uint32(e.Data[4:]) == 0 {
		return 0, false
	}
	return float64(order.Uint32(e.Data)) / float64(order.Uint32(e.Data[4:])), true
}

// head reads where the first directory lies.
func (d *reader) head() (at int64, err error) {
	var b [16]byte
	n, err := d.r.ReadAt(b[:], 0)
	if n < 8 {
		return 0, early(err)
	}
	switch string(b[:2]) {
	case "II":
		d.order = binary.LittleEndian
	case "MM":
		d.order = binary.BigEndian
	default:
		return 0, errors.New("it does not begin as EXIF data do")
	}
	at = int64(d.order.Uint32(b[4:]))
	switch magic := d.order.Uint16(b[2:]); {
	case magic == 43 && n == 16:
		d.big, at = true, int64(d.order.Uint64(b[8:]))
	case magic != 42:
		return 0, errors.New("it does not begin as EXIF data do")
	}
	return at, nil
}

// directory reads the directory at an offset, and those that the tags in subs lead to. next is
// where the file has the link to another directory.
func (d *reader) directory(at int64, subs []uint16) (list []Entry, next int64, err error) {
	head, row, inline := int64(2), int64(12), int64(4)
	if d.big {
		head, row, inline = 8, 20, 8
	}
	if at < 8 || at > d.size-head {
		return nil, 0, errors.New("its directory lies outside of it")
	}
	b := make([]byte, 8)
	if err := d.read(b[:head], at); err != nil {
		return nil, 0, err
	}
	n := int64(d.order.Uint16(b))
	if d.big {
		n = int64(d.order.Uint64(b))
	}
	if at += head; n < 0 || n > 1<<16 || n*row > d.size-at {
		return nil, 0, errors.New("its directory is longer than it")
	}
	table := make([]byte, n*row)
	if err := d.read(table, at); err != nil {
		return nil, 0, err
	}
	for i := int64(0); i < n; i++ {
		t := table[i*row : (i+1)*row]
		e := Entry{Tag: d.order.Uint16(t), Kind: d.order.Uint16(t[2:]), row: at + i*row}
		count := uint64(d.order.Uint32(t[4:]))
		value, place := t[8:12], at+i*row+8
		if d.big {
			count, value, place = d.order.Uint64(t[4:]), t[12:20], at+i*row+12
		}
		if d.keep != nil && !d.keep(e.Tag) || int(e.Kind) >= len(sizes) || sizes[e.Kind] == 0 || count > 1<<31 {
			continue
		}
		e.Count = uint32(count)
		length := int64(count) * sizes[e.Kind]
		if length > inline {
			if place = int64(d.order.Uint32(value)); d.big {
				place = int64(d.order.Uint64(value))
			}
			if place < 0 || place > d.size || length > d.size-place {
				continue
			}
		}
		if d.left -= length; d.left < 0 {
			return nil, 0, fmt.Errorf("it has more than %d MiB", MaxBytes>>20)
		}
		e.at, e.Data = place, make([]byte, length)
		if err := d.read(e.Data, place); err != nil {
			return nil, 0, err
		}
		if slices.Contains(subs, e.Tag) {
			inner, ok := d.number(e)
			if !ok {
				continue
			}
			var deeper []uint16
			if e.Tag == Settings {
				deeper = []uint16{Interop}
			}
			keep := d.keep
			d.keep = nil
			e.Sub, _, err = d.directory(inner, deeper)
			d.keep = keep
			if err != nil || len(e.Sub) == 0 {
				err = nil
				continue // The other tags are still good.
			}
		}
		list = append(list, e)
	}
	return list, at + n*row, nil
}

// number is the first value of an entry of whole numbers.
func (d *reader) number(e Entry) (v int64, ok bool) {
	switch {
	case e.Count == 0:
	case e.Kind == 3:
		return int64(d.order.Uint16(e.Data)), true
	case e.Kind == 4 || e.Kind == 13:
		return int64(d.order.Uint32(e.Data)), true
	case e.Kind == 16 || e.Kind == 18:
		v = int64(d.order.Uint64(e.Data))
		return v, v >= 0
	}
	return 0, false
}

func (d *reader) read(b []byte, at int64) error {
	if n, err := d.r.ReadAt(b, at); n < len(b) {
		return early(err)
	}
	return nil
}

func early(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return errors.New("it ends too early")
	}
	return err
}

// Append writes the tags as a directory, with those inside it, and returns b with it at its end.
// b holds the file from its first byte, or base bytes less. at is where the directory lies in
// the file. Tags are written in their order, each once, and all values as they are: their byte
// order must be order.
func Append(b []byte, base int64, order binary.AppendByteOrder, list []Entry) (out []byte, at int64) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Entry) int { return int(a.Tag) - int(b.Tag) })
	list = slices.DeleteFunc(list, func(e Entry) bool { return e.Kind > 13 && e.Sub == nil }) // of BigTIFF
	list = slices.CompactFunc(list, func(a, b Entry) bool { return a.Tag == b.Tag })
	put := func(data []byte) (place int64) {
		if len(b)%2 != 0 {
			b = append(b, 0)
		}
		place = base + int64(len(b))
		b = append(b, data...)
		return place
	}
	row := []byte{}
	row = order.AppendUint16(row, uint16(len(list)))
	for _, e := range list {
		data := e.Data
		if e.Sub != nil {
			e.Kind, e.Count = 4, 1
			b, at = Append(b, base, order, e.Sub)
			data = order.AppendUint32(nil, uint32(at))
		}
		row = order.AppendUint16(row, e.Tag)
		row = order.AppendUint16(row, e.Kind)
		row = order.AppendUint32(row, e.Count)
		if len(data) > 4 {
			data = order.AppendUint32(nil, uint32(put(data)))
		}
		row = append(row, data...)
		row = append(row, make([]byte, 4-len(data))...)
	}
	row = order.AppendUint32(row, 0) // no other directory
	at = put(row)
	return b, at
}

// Swapped returns data of numbers of n bytes in the other byte order.
func Swapped(data []byte, n int) []byte {
	out := bytes.Clone(data)
	for at := 0; at+n <= len(out); at += n {
		slices.Reverse(out[at : at+n])
	}
	return out
}

// Find returns the entry of a tag.
func Find(list []Entry, tag uint16) (Entry, bool) {
	i := slices.IndexFunc(list, func(e Entry) bool { return e.Tag == tag })
	if i < 0 {
		return Entry{}, false
	}
	return list[i], true
}

// Block makes EXIF data of tags in a byte order.
func Block(order binary.ByteOrder, list []Entry) []byte {
	o, b := binary.AppendByteOrder(binary.BigEndian), []byte("MM\x00*")
	if order == binary.ByteOrder(binary.LittleEndian) {
		o, b = binary.LittleEndian, []byte("II*\x00")
	}
	b, at := Append(o.AppendUint32(b, 0), 0, o, list)
	order.PutUint32(b[4:], uint32(at))
	return b
}
