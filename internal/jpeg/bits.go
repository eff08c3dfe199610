package jpeg

import (
	"encoding/binary"
	"errors"
	"io"
)

// The errors of Decode that come up in its loops.
var (
	errShort = errors.New("the pixels end too early")
	errCode  = errors.New("bits that are no code")
	errRange = errors.New("a coefficient out of range")
)

// bits reads the bits between two markers. A byte of 255 among them is followed by one of 0, which
// says that it is no marker.
type bits struct {
	r    io.Reader
	buf  []byte
	i, j int   // buf[i:j] has been read from r
	err  error // why r has no more

	acc  uint64 // the next bits, from the highest one
	n    uint   // how many of them count
	stop bool   // the next byte is that of a marker, or there is none
}

// fill reads on, and reports whether there are more bytes than before.
func (b *bits) fill() bool {
	if b.err != nil {
		return false
	}
	b.j = copy(b.buf, b.buf[b.i:b.j])
	b.i = 0
	for range 100 {
		n, err := b.r.Read(b.buf[b.j:])
		b.j += max(n, 0)
		b.err = err
		if n > 0 {
			return true
		}
		if err != nil {
			return false
		}
	}
	b.err = io.ErrNoProgress
	return false
}

// failure is the error of a file that ends where it must not.
func (b *bits) failure() error {
	if b.err == nil || b.err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return b.err
}

// byte reads a byte of a segment.
func (b *bits) byte() (byte, error) {
	if b.i == b.j && !b.fill() {
		return 0, b.failure()
	}
	b.i++
	return b.buf[b.i-1], nil
}

// full reads bytes of a segment.
func (b *bits) full(p []byte) error {
	for len(p) > 0 {
		if b.i == b.j && !b.fill() {
			return b.failure()
		}
		n := copy(p, b.buf[b.i:b.j])
		p, b.i = p[n:], b.i+n
	}
	return nil
}

// skip passes over bytes of a segment.
func (b *bits) skip(n int) error {
	for n > 0 {
		if b.i == b.j && !b.fill() {
			return b.failure()
		}
		k := min(n, b.j-b.i)
		n, b.i = n-k, b.i+k
	}
	return nil
}

// begin begins a run of bits where the bytes of a segment end.
func (b *bits) begin() { b.acc, b.n, b.stop = 0, 0, false }

// marker passes over all bytes before the next marker, and reads it.
func (b *bits) marker() (byte, error) {
	for {
		c, err := b.byte()
		if err != nil {
			return 0, err
		}
		for c == 0xff {
			if c, err = b.byte(); err != nil {
				return 0, err
			}
			if c != 0 && c != 0xff {
				return c, nil
			}
		}
	}
}

// refill takes as many bytes as fit, so that there are at least 57 bits, or all up to the marker.
func (b *bits) refill() {
	for b.n <= 56 && !b.stop {
		if b.j-b.i >= 8 {
			v := binary.BigEndian.Uint64(b.buf[b.i:])
			const ones = 0x0101010101010101
			if zeros := ^v; (zeros-ones)&v&(ones<<7) == 0 { // no byte is 255
				k := (64 - b.n) / 8
				b.acc |= v >> b.n // the bits of a part of a byte come once more, at the same place
				b.n += 8 * k
				b.i += int(k)
				return
			}
		} else if b.i == b.j && !b.fill() {
			b.stop = true
			return
		}
		c := b.buf[b.i]
		if c == 0xff {
			if b.j-b.i < 2 && !b.fill() || b.buf[b.i+1] != 0 {
				b.stop = true
				return
			}
			b.i++
		}
		b.i++
		b.acc |= uint64(c) << (56 - b.n)
		b.n += 8
	}
}

// number reads a number of up to 16 bits.
func (b *bits) number(n uint) (int, error) {
	if b.n < n {
		if b.refill(); b.n < n {
			return 0, errShort
		}
	}
	v := b.acc >> (64 - n) // a shift by 64 is 0
	b.acc <<= n
	b.n -= n
	return int(v), nil
}

// lookup is how many bits of a code are looked up at once. Few codes are longer.
const lookup = 10

// entry is what a code stands for: in its lowest byte the symbol, in the next one the length of
// the code in bits, and in the third one that length with the bits that follow the code. Of a symbol
// the lower half is how many these are. An entry is 0 if there is no such code.
type entry uint32

func (e entry) code() uint  { return uint(e>>8) & 31 }
func (e entry) total() uint { return uint(e>>16) & 63 }
func (e entry) zeros() int  { return int(e>>4) & 15 }
func (e entry) size() uint  { return uint(e) & 15 }

// decoding is a Huffman code as a decoder needs it.
type decoding struct {
	short [1 << lookup]entry
	// Codes of l bits are below limit[l], which is followed by zeros up to 16 bits. The symbol of such a
	// code is symbols[offset[l]+code].
	limit   [17]uint32
	offset  [17]int
	symbols []byte
}

// newDecoding makes a code of how many symbols have 1 to 16 bits, and of the symbols.
func newDecoding(counts [16]byte, symbols []byte) (*decoding, error) {
	d := &decoding{symbols: symbols}
	next, index := 0, 0
	for l := 1; l <= 16; l++ {
		n := int(counts[l-1])
		d.offset[l] = index - next
		if next+n > 1<<l {
			return nil, errors.New("a table of more codes than there are")
		}
		for range n {
			if l <= lookup {
				e := d.entry(index, l)
				for i := next << (lookup - l); i < (next+1)<<(lookup-l); i++ {
					d.short[i] = e
				}
			}
			next, index = next+1, index+1
		}
		d.limit[l] = uint32(next) << (16 - l)
		next <<= 1
	}
	return d, nil
}

func (d *decoding) entry(index, length int) entry {
	s := d.symbols[index]
	return entry(s) | entry(length)<<8 | entry(length+int(s&15))<<16
}

// find returns the entry of the next code.
func (d *decoding) find(acc uint64) entry {
	if e := d.short[acc>>(64-lookup)]; e != 0 {
		return e
	}
	return d.long(acc)
}

// long finds a code of more than lookup bits.
func (d *decoding) long(acc uint64) entry {
	code := uint32(acc >> 48)
	for l := lookup + 1; l <= 16; l++ {
		if code < d.limit[l] {
			if i := d.offset[l] + int(code>>(16-l)); i >= 0 && i < len(d.symbols) {
				return d.entry(i, l)
			}
			return 0
		}
	}
	return 0
}

// symbol reads a code.
func (b *bits) symbol(d *decoding) (entry, error) {
	if b.n < 32 {
		b.refill()
	}
	e := d.find(b.acc)
	switch {
	case e == 0:
		return 0, errCode
	case e.code() > b.n:
		return 0, errShort
	}
	b.acc <<= e.code()
	b.n -= e.code()
	return e, nil
}

// signed is the number that size bits v stand for. Half of the numbers are negative.
func signed(v int, size uint) int {
	if size > 0 && v < 1<<(size-1) {
		return v - 1<<size + 1
	}
	return v
}
