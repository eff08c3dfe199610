package avif

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

func be16(b []byte) uint16 { return binary.BigEndian.Uint16(b) }
func be32(b []byte) uint32 { return binary.BigEndian.Uint32(b) }

// errShort is the error of a box that ends too early.
var errShort = errors.New("a box ends too early")

// eachBox calls do for the boxes in b. whole is the box with its head.
func eachBox(b []byte, do func(kind string, body, whole []byte) error) error {
	for len(b) > 0 {
		if len(b) < 8 {
			return errShort
		}
		size, head := int64(be32(b)), int64(8)
		switch size {
		case 0:
			size = int64(len(b))
		case 1:
			if len(b) < 16 {
				return errShort
			}
			size, head = int64(binary.BigEndian.Uint64(b[8:])), 16
		}
		if size < head || size > int64(len(b)) {
			return fmt.Errorf("the box %q has %d bytes of %d", b[4:8], size, len(b))
		}
		if err := do(string(b[4:8]), b[head:size], b[:size]); err != nil {
			return err
		}
		b = b[size:]
	}
	return nil
}

// topBoxes finds the boxes of a file by their kind, the first one of each. Damage after the first
// meta box is not looked at.
func topBoxes(r io.ReaderAt, size int64) (map[string]span, error) {
	found := map[string]span{}
	for at, n := int64(0), 0; at < size; n++ {
		if n == 1000 {
			return nil, errors.New("it has more than 1000 boxes")
		}
		var b [16]byte
		got, err := r.ReadAt(b[:min(16, size-at)], at)
		if got < 8 {
			if _, ok := found["meta"]; ok && (err == nil || errors.Is(err, io.EOF)) {
				break
			}
			return nil, noEOF(err)
		}
		length, head := int64(be32(b[:])), int64(8)
		switch {
		case length == 0:
			length = size - at
		case length == 1 && got == 16:
			length, head = int64(binary.BigEndian.Uint64(b[8:])), 16
		}
		kind := string(b[4:8])
		if length < head || length > size-at {
			if kind == "mdat" || found["meta"].size > 0 {
				break // The extents of the items say what is there.
			}
			return nil, io.ErrUnexpectedEOF
		}
		if _, ok := found[kind]; !ok {
			found[kind] = span{at + head, length - head}
		}
		at += length
	}
	return found, nil
}

// noEOF returns the error of a read of too few bytes.
func noEOF(err error) error {
	if err == nil || err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// span is where bytes lie in the file.
type span struct{ at, size int64 }

func (s span) read(r io.ReaderAt) ([]byte, error) {
	b := make([]byte, s.size)
	if n, err := r.ReadAt(b, s.at); n < len(b) {
		return nil, noEOF(err)
	}
	return b, nil
}

// cursor reads numbers. After the end it reads zeros, and short is set.
type cursor struct {
	b     []byte
	short bool
}

func (c *cursor) next(n int) []byte {
	if n > len(c.b) {
		c.b, c.short = nil, true
		return make([]byte, n)
	}
	v := c.b[:n]
	c.b = c.b[n:]
	return v
}

// number reads a number of 0 to 8 bytes.
func (c *cursor) number(bytes int) (v uint64) {
	for _, b := range c.next(bytes) {
		v = v<<8 | uint64(b)
	}
	return v
}

func (c *cursor) u8() int    { return int(c.number(1)) }
func (c *cursor) u16() int   { return int(c.number(2)) }
func (c *cursor) u32() int64 { return int64(c.number(4)) }

// text reads a text that ends with a zero.
func (c *cursor) text() string {
	for i, b := range c.b {
		if b == 0 {
			s := string(c.b[:i])
			c.b = c.b[i+1:]
			return s
		}
	}
	s := string(c.b)
	c.b = nil
	return s
}

// version reads the version and the flags of a box.
func (c *cursor) version() (version, flags int) {
	v := c.u32()
	return int(v >> 24), int(v & 0xffffff)
}

// box makes a box.
func box(kind string, parts ...[]byte) []byte {
	b := append(make([]byte, 4), kind...)
	for _, p := range parts {
		b = append(b, p...)
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)))
	return b
}

func put16(v ...int) (b []byte) {
	for _, x := range v {
		b = binary.BigEndian.AppendUint16(b, uint16(x))
	}
	return b
}

func put32(v ...int64) (b []byte) {
	for _, x := range v {
		b = binary.BigEndian.AppendUint32(b, uint32(x))
	}
	return b
}
