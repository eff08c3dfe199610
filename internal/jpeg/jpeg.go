// Package jpeg writes JPEG files with the colours at full resolution, or at half of it in one
// direction or both, baseline or progressive. The standard library writes baseline files with the
// last of these only, and reads all. Decode reads files at a part of their size, which the standard
// library cannot.
package jpeg

import (
	"bufio"
	"io"
)

// Picture is a picture to be written. All its sides are from 1 to 65535.
type Picture struct {
	Width, Height int // pixels
	// Row writes row y as RGBA of 8 bits a channel. Alpha does not count.
	Row func(dst []byte, y int)
	// Across and Down are how many pixels share a colour: 1 or 2.
	Across, Down int
	Quality      int // 1 to 100, as in libjpeg
	// Progressive files show the whole picture before all of it has arrived. Their coefficients are
	// in memory, two bytes each, until the last row is read.
	Progressive bool
	// Grey writes the brightness and no colours. It is for progressive files. Across and Down are 1.
	Grey bool
}

// The tables of quantisation that the standard proposes, for brightness and for colours.
var quantisation = [2][64]int{
	{
		16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29, 51, 87, 80, 62,
		18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99,
	}, {
		17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99, 99, 99, 47, 66, 99, 99, 99, 99, 99, 99,
		99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
	},
}

// zigzag is the place in a block of each coefficient in the order of the file.
var zigzag = func() (order [64]int) {
	x, y := 0, 0
	for i := range order {
		order[i] = 8*y + x
		switch up := (x+y)%2 == 0; {
		case up && x == 7:
			y++
		case up && y == 0:
			x++
		case up:
			x, y = x+1, y-1
		case y == 7:
			x++
		case x == 0:
			y++
		default:
			x, y = x-1, y+1
		}
	}
	return order
}()

// code is a Huffman code: how many symbols have 1 to 16 bits, and the symbols.
type code struct {
	counts  [16]byte
	symbols []byte
	bits    [256]uint32
	length  [256]uint
}

// The codes that the standard proposes: for the means of blocks and for the other coefficients, of
// brightness and of colours. The rarest symbols follow in their order.
var codes = [2][2]*code{
	{
		newCode([16]byte{0, 1, 5, 1, 1, 1, 1, 1, 1}, "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b"),
		newCode([16]byte{0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 125}, "\x01\x02\x03\x00\x04\x11\x05\x12\x21\x31\x41\x06\x13\x51\x61\x07\x22\x71\x14\x32\x81\x91\xa1\x08\x23\x42\xb1\xc1\x15\x52\xd1\xf0\x24\x33\x62\x72\x82"),
	}, {
		newCode([16]byte{0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1}, "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b"),
		newCode([16]byte{0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 119}, "\x00\x01\x02\x03\x11\x04\x05\x21\x31\x06\x12\x41\x51\x07\x61\x71\x13\x22\x32\x81\x08\x14\x42\x91\xa1\xb1\xc1\x09\x23\x33\x52\xf0\x15\x62\x72\xd1\x0a\x16\x24\x34\xe1\x25\xf1"),
	},
}

func newCode(counts [16]byte, frequent string) *code {
	c := &code{counts: counts, symbols: []byte(frequent)}
	all, known := 0, map[byte]bool{}
	for _, n := range counts {
		all += int(n)
	}
	for _, s := range c.symbols {
		known[s] = true
	}
	for s := 1; len(c.symbols) < all; s++ {
		if size := s & 15; size >= 1 && size <= 10 && !known[byte(s)] {
			c.symbols = append(c.symbols, byte(s))
		}
	}
	at, next := 0, uint32(0)
	for length, n := range counts {
		for range n {
			s := c.symbols[at]
			c.bits[s], c.length[s] = next, uint(length+1)
			at, next = at+1, next+1
		}
		next <<= 1
	}
	return c
}

// scales are the factors that transform leaves in the coefficients of a row or column.
var scales = [8]float64{1, 1.387039845, 1.306562965, 1.175875602, 1, 0.785694958, 0.541196100, 0.275899379}

type encoder struct {
	*Picture
	w    *bufio.Writer
	acc  uint64 // bits that are not written yet
	n    uint   // how many
	mean [3]int // of the last block of each component

	steps  [2][64]float32 // what coefficients are multiplied by
	planes []plane        // of progressive files
}

// Encode writes the picture. Errors: those of w.
func Encode(w io.Writer, p *Picture) error {
	e := &encoder{Picture: p, w: bufio.NewWriter(w)}
	e.header()
	if p.Progressive {
		e.planes = newPlanes(p)
	}
	e.pixels()
	if p.Progressive {
		e.scans()
	}
	e.align()
	e.w.WriteString("\xff\xd9")
	return e.w.Flush()
}

// align fills the last byte with ones.
func (e *encoder) align() {
	if e.n > 0 {
		e.put(0x7f, 7)
	}
	e.acc, e.n = 0, 0
}

func (e *encoder) segment(marker byte, body ...byte) {
	n := len(body) + 2
	e.w.Write([]byte{0xff, marker, byte(n >> 8), byte(n)})
	e.w.Write(body)
}

// header writes all before the pixels.
func (e *encoder) header() {
	e.w.WriteString("\xff\xd8")
	scale := 200 - 2*e.Quality
	if e.Quality < 50 {
		scale = 5000 / e.Quality
	}
	for t := range quantisation {
		body := []byte{byte(t)}
		for _, at := range zigzag {
			q := min(max((quantisation[t][at]*scale+50)/100, 1), 255)
			body = append(body, byte(q))
			e.steps[t][at] = float32(1 / (8 * float64(q) * scales[at/8] * scales[at%8]))
		}
		e.segment(0xdb, body...)
	}
	frame := []byte{8, byte(e.Height >> 8), byte(e.Height), byte(e.Width >> 8), byte(e.Width), 3,
		1, byte(e.Across<<4 | e.Down), 0, 2, 0x11, 1, 3, 0x11, 1}
	if e.Grey {
		frame[5], frame = 1, frame[:9]
	}
	if e.Progressive {
		e.segment(0xc2, frame...) // Each scan has codes of its own.
		return
	}
	e.segment(0xc0, frame...)
	for t := range codes {
		for kind, c := range codes[t] {
			e.segment(0xc4, append(append([]byte{byte(kind<<4 | t)}, c.counts[:]...), c.symbols...)...)
		}
	}
	e.segment(0xda, 3, 1, 0x00, 2, 0x11, 3, 0x11, 0, 63, 0)
}

// pixels writes the blocks, in bands of as many rows as a colour block covers.
func (e *encoder) pixels() {
	across, down := 8*e.Across, 8*e.Down
	wide := (e.Width + across - 1) / across * across
	line := make([]byte, 4*e.Width)
	var planes [3][]float32
	for i := range planes {
		planes[i] = make([]float32, wide*down)
	}
	share := 1 / float32(e.Across*e.Down)
	for top := 0; top < e.Height; top += down {
		for y := range down {
			if top+y < e.Height {
				e.Row(line, top+y) // else the last row once more
			}
			e.convert(&planes, line, y*wide, wide)
		}
		for left := 0; left < wide; left += across {
			for by := 0; by < down; by += 8 {
				for bx := 0; bx < across; bx += 8 {
					var b [64]float32
					for y := range 8 {
						copy(b[8*y:8*y+8], planes[0][(by+y)*wide+left+bx:])
					}
					e.block(&b, 0, 0, (left+bx)/8, (top+by)/8)
				}
			}
			for c := 1; c < 3 && !e.Grey; c++ {
				var b [64]float32
				for y := range 8 {
					for x := range 8 {
						var sum float32
						for dy := range e.Down {
							o := (y*e.Down+dy)*wide + left + x*e.Across
							for _, v := range planes[c][o : o+e.Across] {
								sum += v
							}
						}
						b[8*y+x] = sum * share
					}
				}
				e.block(&b, c, 1, left/across, top/down)
			}
		}
	}
}

// convert writes a row of the planes of brightness and colours, around 0.
func (e *encoder) convert(planes *[3][]float32, line []byte, at, wide int) {
	l, u, v := planes[0][at:at+wide], planes[1][at:at+wide], planes[2][at:at+wide]
	for x := range e.Width {
		p := line[4*x : 4*x+4 : 4*x+4]
		r, g, b := float32(p[0]), float32(p[1]), float32(p[2])
		l[x] = 0.299*r + 0.587*g + 0.114*b - 128
		u[x] = -0.168735892*r - 0.331264108*g + 0.5*b
		v[x] = 0.5*r - 0.418687589*g - 0.081312411*b
	}
	for x := e.Width; x < wide; x++ { // the last column once more
		l[x], u[x], v[x] = l[x-1], u[x-1], v[x-1]
	}
}

// block writes a block of component c, or keeps it for the scans. x and y count the blocks of the
// component.
func (e *encoder) block(b *[64]float32, c, table, x, y int) {
	for i := 0; i < 64; i += 8 {
		transform(b, i, 1)
	}
	for i := range 8 {
		transform(b, i, 8)
	}
	var q [64]int
	last := 0
	for i, at := range zigzag {
		v := b[at] * e.steps[table][at]
		if v < 0 {
			q[i] = -int(0.5 - v)
		} else {
			q[i] = int(v + 0.5)
		}
		if i > 0 {
			q[i] = min(max(q[i], -1023), 1023)
		}
		if q[i] != 0 {
			last = i
		}
	}
	if e.Progressive {
		kept := e.planes[c].block(x, y)
		for i, v := range q {
			kept[i] = int16(v)
		}
		return
	}
	means, others := codes[table][0], codes[table][1]
	e.number(means, 0, q[0]-e.mean[c])
	e.mean[c] = q[0]
	zeros := 0
	for i := 1; i <= last; i++ {
		if q[i] == 0 {
			zeros++
			continue
		}
		for ; zeros > 15; zeros -= 16 {
			e.put(others.bits[0xf0], others.length[0xf0])
		}
		e.number(others, zeros, q[i])
		zeros = 0
	}
	if last < 63 {
		e.put(others.bits[0], others.length[0])
	}
}

// number writes a number after so many zeros: the code of how many bits it has, and the bits.
func (e *encoder) number(c *code, zeros, v int) {
	size, bits := sized(v)
	symbol := zeros<<4 | int(size)
	e.put(c.bits[symbol], c.length[symbol])
	e.put(bits, size)
}

// sized returns how many bits a number has, and the bits. Those of a number below 0 are those of the
// number less one.
func sized(v int) (size uint, bits uint32) {
	rest := v
	if v < 0 {
		rest, v = -v, v-1
	}
	for ; rest > 0; rest >>= 1 {
		size++
	}
	return size, uint32(v) & (1<<size - 1)
}

// put writes the n lowest bits of v. A byte of ones is followed by a zero.
func (e *encoder) put(v uint32, n uint) {
	e.acc, e.n = e.acc<<n|uint64(v), e.n+n
	for e.n >= 8 {
		b := byte(e.acc >> (e.n - 8))
		e.w.WriteByte(b)
		if b == 0xff {
			e.w.WriteByte(0)
		}
		e.n -= 8
	}
}

// transform makes the cosine transform of eight numbers that lie step apart, times 8 and the numbers of
// scales, by the method of Arai, Agui and Nakajima.
func transform(b *[64]float32, at, step int) {
	p := func(i int) *float32 { return &b[(at+i*step)&63] }
	s0, d0 := *p(0)+*p(7), *p(0)-*p(7)
	s1, d1 := *p(1)+*p(6), *p(1)-*p(6)
	s2, d2 := *p(2)+*p(5), *p(2)-*p(5)
	s3, d3 := *p(3)+*p(4), *p(3)-*p(4)

	e0, e1, e2, e3 := s0+s3, s1+s2, s1-s2, s0-s3
	*p(0), *p(4) = e0+e1, e0-e1
	turn := (e2 + e3) * 0.707106781
	*p(2), *p(6) = e3+turn, e3-turn

	o0, o1, o2 := d3+d2, d2+d1, d1+d0
	both := (o0 - o2) * 0.382683433
	low, high, middle := 0.541196100*o0+both, 1.306562965*o2+both, 0.707106781*o1
	plus, minus := d0+middle, d0-middle
	*p(5), *p(3) = minus+low, minus-low
	*p(1), *p(7) = plus+high, plus-high
}
