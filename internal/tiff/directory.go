package tiff

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// directory is an image file directory.
type directory struct {
	r     io.ReaderAt
	size  int64
	order binary.ByteOrder
	big   bool // BigTIFF: 64-bit offsets
	tags  map[uint16]entry
	at    uint64 // where it lies
	next  uint64 // where the next directory lies, 0 if there is none
}

// entry is where a tag's values are.
type entry struct {
	kind  uint16
	count uint64
	at    int64
}

// bytesOf is the length of one value by kind.
var bytesOf = map[uint16]uint64{1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8}

func readDirectory(r io.ReaderAt, size int64) (*directory, error) {
	d := &directory{r: r, size: size, tags: map[uint16]entry{}}
	head := make([]byte, 16)
	if err := readAt(r, head[:8], 0); err != nil {
		return nil, err
	}
	switch string(head[:2]) {
	case "II":
		d.order = binary.LittleEndian
	case "MM":
		d.order = binary.BigEndian
	default:
		return nil, errors.New("it does not begin as a TIFF file")
	}
	at := uint64(d.order.Uint32(head[4:]))
	if d.order.Uint16(head[2:]) == 43 {
		d.big = true
		if err := readAt(r, head, 0); err != nil {
			return nil, err
		}
		at = d.order.Uint64(head[8:])
	}
	return d, d.readTable(at)
}

// Pages counts the pictures of a file, without smaller copies and masks, as far as its directories can
// be read. There is at least one.
func Pages(r io.ReaderAt, size int64) int {
	d, err := readDirectory(r, size)
	pages := 1
	for seen := map[uint64]bool{}; err == nil && d.nextPage(seen); {
		pages++
	}
	return pages
}

// nextPage reads the directory of the next picture that is no smaller copy and no mask, and reports whether
// there is one. seen has the places of directories that were read.
func (d *directory) nextPage(seen map[uint64]bool) bool {
	for d.next != 0 && !seen[d.next] && len(seen) < 1<<16 {
		seen[d.next] = true
		d.tags = map[uint16]entry{}
		if d.readTable(d.next) != nil {
			return false
		}
		if kind, err := d.number(254, 0); err == nil && kind&5 == 0 {
			return true
		}
	}
	return false
}

// readTable reads the directory at an offset.
func (d *directory) readTable(at uint64) error {
	r, size, head := d.r, d.size, make([]byte, 16)
	d.at = at
	countBytes, entryBytes, inline := 2, 12, uint64(4)
	if d.big {
		countBytes, entryBytes, inline = 8, 20, 8
	}
	if at > uint64(size) {
		return io.ErrUnexpectedEOF
	}
	if err := readAt(r, head[:countBytes], int64(at)); err != nil {
		return err
	}
	n := uint64(d.order.Uint16(head))
	if d.big {
		n = d.order.Uint64(head)
	}
	if n > 1<<16 {
		return fmt.Errorf("a directory of %d tags", n)
	}
	table := make([]byte, int(n)*entryBytes)
	at += uint64(countBytes)
	if err := readAt(r, table, int64(at)); err != nil {
		return err
	}
	for i := 0; i < len(table); i += entryBytes {
		b := table[i:]
		e := entry{kind: d.order.Uint16(b[2:]), count: uint64(d.order.Uint32(b[4:])), at: int64(at) + int64(i) + 8}
		value := uint64(d.order.Uint32(b[8:]))
		if d.big {
			e.count, e.at = d.order.Uint64(b[4:]), int64(at)+int64(i)+12
			value = d.order.Uint64(b[12:])
		}
		if one := bytesOf[e.kind]; one == 0 || e.count > uint64(size)/one+8 {
			continue // a kind of the future, or more than there is
		} else if one*e.count > inline {
			if value > uint64(size) {
				continue
			}
			e.at = int64(value)
		}
		if _, twice := d.tags[d.order.Uint16(b)]; !twice {
			d.tags[d.order.Uint16(b)] = e
		}
	}
	last := head[:4]
	if d.big {
		last = head[:8]
	}
	d.next = 0
	if err := readAt(r, last, int64(at)+int64(len(table))); err == nil { // Some writers leave it out at the end.
		if d.next = uint64(d.order.Uint32(last)); d.big {
			d.next = d.order.Uint64(last)
		}
	}
	return nil
}

// bytes returns the first n values of a tag, or all if there are fewer, as they lie.
func (d *directory) bytes(tag uint16, n uint64) ([]byte, entry, error) {
	e, ok := d.tags[tag]
	if !ok {
		return nil, e, nil
	}
	e.count = min(e.count, n)
	b := make([]byte, e.count*bytesOf[e.kind])
	return b, e, readAt(d.r, b, e.at)
}

// numbers returns the first n whole numbers of a tag, or all if there are fewer;
// none if the tag is not there.
func (d *directory) numbers(tag uint16, n uint64) ([]uint64, error) {
	b, e, err := d.bytes(tag, n)
	if err != nil || b == nil {
		return nil, err
	}
	out := make([]uint64, e.count)
	for i := range out {
		switch e.kind {
		case 1, 6, 7:
			out[i] = uint64(b[i])
		case 3, 8:
			out[i] = uint64(d.order.Uint16(b[2*i:]))
		case 4, 9, 13:
			out[i] = uint64(d.order.Uint32(b[4*i:]))
		case 16, 17, 18:
			out[i] = d.order.Uint64(b[8*i:])
		default:
			return nil, fmt.Errorf("tag %d holds no whole numbers", tag)
		}
	}
	return out, nil
}

// number returns the first value of a tag, def if it is not there. What does not
// fit into 31 bits is an error.
func (d *directory) number(tag uint16, def int) (int, error) {
	v, err := d.numbers(tag, 1)
	if err != nil || len(v) == 0 {
		return def, err
	}
	if v[0] > 1<<31-1 {
		return 0, fmt.Errorf("tag %d is %d", tag, v[0])
	}
	return int(v[0]), nil
}

// fractions returns the n fractions of a tag, def if they are not all there.
func (d *directory) fractions(tag uint16, def []float64) []float64 {
	b, e, err := d.bytes(tag, uint64(len(def)))
	if err != nil || e.kind != 5 || int(e.count) != len(def) {
		return def
	}
	out := make([]float64, len(def))
	for i := range out {
		den := d.order.Uint32(b[8*i+4:])
		if den == 0 {
			return def
		}
		out[i] = float64(d.order.Uint32(b[8*i:])) / float64(den)
	}
	return out
}

func readAt(r io.ReaderAt, b []byte, at int64) error {
	n, err := r.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
