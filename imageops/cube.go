package imageops

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Cube is the look-up table of a .cube file: a curve of each colour, a cube of colours, or a curve
// and then a cube. ParseCube makes one. It is a spec.Numbers, so that LUT.Table may have it. As a
// picture it shows its colours side by side.
type Cube struct {
	title  string
	curve  int // colours of the curve
	size   int // colours along an edge of the cube
	domain [12]float64
	table  *tensor.Host
}

// maxCubeLine is the most bytes that a line of a .cube file may have.
const maxCubeLine = 4096

// ParseCube reads a .cube file, as the Cube LUT Specification 1.0 of Adobe describes it. A file has
// LUT_1D_SIZE, of 2 to 65536, or LUT_3D_SIZE, of 2 to 256. It may have both, as DaVinci Resolve writes
// it: then the curve comes first, and LUT_1D_INPUT_RANGE and LUT_3D_INPUT_RANGE say the ranges.
// Errors: ErrInvalidArgument, which names the line, and those of r.
func ParseCube(r io.Reader) (c *Cube, err error) {
	if errs.Nil(r) {
		return nil, cubeError(0, "no reader")
	}
	defer func() {
		if p := recover(); p != nil {
			c, err = nil, cubeError(0, "the reader panicked: %v", p)
		}
	}()
	p := cubeParser{seen: map[string]int{}}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, maxCubeLine), maxCubeLine)
	for lines.Scan() {
		p.line++
		text := lines.Text()
		if p.line == 1 {
			text = strings.TrimPrefix(text, "\ufeff")
		}
		if err := p.read(strings.TrimSpace(text)); err != nil {
			return nil, err
		}
	}
	switch err := lines.Err(); {
	case err == bufio.ErrTooLong:
		return nil, cubeError(p.line+1, "a line of more than %d bytes", maxCubeLine)
	case err != nil:
		return nil, fmt.Errorf("imageops: cube: %w", err)
	}
	return p.finish()
}

func cubeError(line int, format string, args ...any) error {
	where := ""
	if line > 0 {
		where = fmt.Sprintf("line %d: ", line)
	}
	return fmt.Errorf("imageops: cube: %w: %s%s", errs.ErrInvalidArgument, where, fmt.Sprintf(format, args...))
}

// cubeParser reads a .cube file line by line.
type cubeParser struct {
	line   int
	seen   map[string]int // the lines of keywords
	title  string
	sizes  [2]int        // of the curve and of the cube
	ranges [2][2]float64 // those of INPUT_RANGE
	domain [2][3]float64 // the lowest and the highest colour
	data   []byte        // the colours, as the tensor has them
	rows   int
}

// read reads a line.
func (p *cubeParser) read(text string) error {
	if text == "" || text[0] == '#' {
		return nil
	}
	words := strings.Fields(text)
	name := words[0]
	if c := name[0]; c >= '0' && c <= '9' || strings.IndexByte("+-.", c) >= 0 {
		return p.colour(words)
	}
	if line, again := p.seen[name]; again {
		return cubeError(p.line, "%s again, after line %d", name, line)
	}
	if p.rows > 0 {
		return cubeError(p.line, "%.40q after the first colour (want keywords before it, and three numbers)", name)
	}
	p.seen[name] = p.line
	switch name {
	case "TITLE":
		p.title = strings.Trim(strings.TrimSpace(text[len(name):]), `"`)
		if !utf8.ValidString(p.title) {
			p.title = strings.ToValidUTF8(p.title, "�")
		}
		return nil
	case "LUT_1D_SIZE":
		return p.size(words, &p.sizes[0], picture.MaxCurve)
	case "LUT_3D_SIZE":
		return p.size(words, &p.sizes[1], picture.MaxCube)
	case "DOMAIN_MIN":
		return p.numbers(words, p.domain[0][:])
	case "DOMAIN_MAX":
		return p.numbers(words, p.domain[1][:])
	case "LUT_1D_INPUT_RANGE":
		return p.numbers(words, p.ranges[0][:])
	case "LUT_3D_INPUT_RANGE":
		return p.numbers(words, p.ranges[1][:])
	}
	return cubeError(p.line, "%.40q (want TITLE, DOMAIN_MIN, DOMAIN_MAX, LUT_1D_SIZE, LUT_3D_SIZE, LUT_1D_INPUT_RANGE, LUT_3D_INPUT_RANGE or three numbers)", name)
}

// size reads a size.
func (p *cubeParser) size(words []string, to *int, most int) error {
	if len(words) == 2 {
		if n, err := strconv.Atoi(words[1]); err == nil && n >= 2 && n <= most {
			*to = n
			return nil
		}
	}
	return cubeError(p.line, "%.60q (want %s and a number from 2 to %d)", strings.Join(words, " "), words[0], most)
}

// numbers reads the numbers of a keyword.
func (p *cubeParser) numbers(words []string, to []float64) error {
	if len(words) != len(to)+1 {
		return cubeError(p.line, "%s has %d numbers (want %d)", words[0], len(words)-1, len(to))
	}
	for i := range to {
		v, err := strconv.ParseFloat(words[i+1], 64)
		if err != nil || !(math.Abs(v) <= picture.MaxFactor) {
			return cubeError(p.line, "%.40q (want a number within ±%g)", words[i+1], picture.MaxFactor)
		}
		to[i] = v
	}
	return nil
}

// expected returns the number of colours that the sizes ask for.
func (p *cubeParser) expected() int { return p.sizes[0] + p.sizes[1]*p.sizes[1]*p.sizes[1] }

// colour reads a line of a table.
func (p *cubeParser) colour(words []string) error {
	want := p.expected()
	if want == 0 {
		return cubeError(p.line, "a colour before LUT_1D_SIZE or LUT_3D_SIZE")
	}
	if p.rows == want {
		return cubeError(p.line, "more colours than the %d that the size asks for", want)
	}
	if len(words) != 3 {
		return cubeError(p.line, "a colour of %d numbers (want 3)", len(words))
	}
	for _, w := range words {
		v, err := strconv.ParseFloat(w, 32)
		if err != nil || !(math.Abs(v) <= picture.MaxFactor) {
			return cubeError(p.line, "%.40q (want a number within ±%g)", w, picture.MaxFactor)
		}
		p.data = binary.LittleEndian.AppendUint32(p.data, math.Float32bits(float32(v)))
	}
	p.data = binary.LittleEndian.AppendUint32(p.data, math.Float32bits(1))
	p.rows++
	return nil
}

// finish returns the table.
func (p *cubeParser) finish() (*Cube, error) {
	want := p.expected()
	switch {
	case want == 0:
		return nil, cubeError(0, "no LUT_1D_SIZE or LUT_3D_SIZE in %d lines", p.line)
	case p.rows < want:
		return nil, cubeError(p.line, "the file ends after %d colours (want %d)", p.rows, want)
	}
	c := &Cube{title: p.title, curve: p.sizes[0], size: p.sizes[1]}
	for i, name := range []string{"LUT_1D", "LUT_3D"} {
		low, high := [3]float64{}, [3]float64{1, 1, 1}
		input, ranged := p.seen[name+"_INPUT_RANGE"]
		switch {
		case ranged:
			for k := range 3 {
				low[k], high[k] = p.ranges[i][0], p.ranges[i][1]
			}
		case i == 0 || p.sizes[0] == 0: // The domain is that of what comes first.
			if input = p.seen["DOMAIN_MIN"]; input > 0 {
				low = p.domain[0]
			}
			if line, ok := p.seen["DOMAIN_MAX"]; ok {
				high, input = p.domain[1], max(input, line)
			}
		}
		for k := range 3 {
			if !(high[k]-low[k] >= 1e-6) {
				return nil, cubeError(input, "a range from %v to %v (want it to rise)", low[k], high[k])
			}
		}
		copy(c.domain[6*i:], low[:])
		copy(c.domain[6*i+3:], high[:])
	}
	shape := []int{1, want, 4}
	if c.curve == 0 {
		shape = []int{c.size * c.size, c.size, 4}
	}
	c.table = &tensor.Host{Desc: tensor.Contiguous(tensor.F32, shape...), Data: p.data}
	return c, nil
}

// Title returns the title that the file has, or "".
func (c *Cube) Title() string {
	if c == nil {
		return ""
	}
	return c.title
}

// Tensor returns the table as LUT takes it: f32 [n·n,n,4], [1,n,4], or [1,n,4] with the colours of the
// curve before those of the cube. It is nil for a Cube that ParseCube has not made.
func (c *Cube) Tensor() *tensor.Host {
	if c == nil {
		return nil
	}
	return c.table
}

// Complete implements spec.Numbers.
// Errors: ErrInvalidArgument if call is not a LUT.
func (c *Cube) Complete(call spec.Call) (spec.Call, error) {
	l, err := spec.As[*LUT](call)
	if err != nil || c == nil {
		return nil, fmt.Errorf("%w: a look-up table is no picture (want the operation lut)", errs.ErrInvalidArgument)
	}
	l.colours, l.domain = [2]int{c.curve, c.size}, c.domain
	return *l, nil
}

// ColorModel implements image.Image.
func (c *Cube) ColorModel() color.Model { return color.NRGBA64Model }

// Bounds implements image.Image.
func (c *Cube) Bounds() image.Rectangle { return tableBounds(c.Tensor()) }

// At implements image.Image.
func (c *Cube) At(x, y int) color.Color { return tableAt(c.Tensor(), x, y) }

// tableBounds are the bounds of a table as a picture.
func tableBounds(h *tensor.Host) image.Rectangle {
	if h == nil {
		return image.Rectangle{}
	}
	return image.Rect(0, 0, h.Shape[1], h.Shape[0])
}

// tableAt is a pixel of a table as a picture.
func tableAt(h *tensor.Host, x, y int) color.Color {
	if !image.Pt(x, y).In(tableBounds(h)) {
		return color.NRGBA64{}
	}
	level := func(channel int) uint16 { return uint16(picture.Clamp01(h.At(y, x, channel))*0xffff + 0.5) }
	return color.NRGBA64{R: level(0), G: level(1), B: level(2), A: 0xffff}
}
