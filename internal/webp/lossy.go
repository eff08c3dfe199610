package webp

import (
	"context"
	"errors"
	"math"
	"sync"

	"github.com/lathe-gpu/lathe/internal/pixels"
)

// pitch is the length of a row of a workspace.
const pitch = 32

// workspace has the pixels of a macroblock as a decoder has them, with a row above and a column to
// the left: luma from lumaAt on, and the two chroma blocks below.
type workspace [26 * pitch]uint8

const (
	lumaAt = 1*pitch + 8
	blueAt = 18*pitch + 8
	redAt  = 18*pitch + 24
)

// macroblock is what the first partition says of 16 by 16 pixels.
type macroblock struct {
	large, empty bool
	chroma       uint8
	modes        [16]uint8 // of the small blocks, or one mode
}

// lossyEncoder writes one picture.
type lossyEncoder struct {
	p                            *Picture
	across, down                 int // macroblocks
	quality                      int
	limit                        int     // 0: all modes, 1: large blocks only, 2: one mode only
	upY, upU, upV                []uint8 // the pixels above each row, as a decoder has them
	upSome                       [][9]uint8
	upModes                      []uint8
	lumaStep, dcStep, chromaStep steps
	lambda                       int64
	costs                        costs
	tokens                       tokens
	blocks                       []macroblock
	rows                         [together]rowEncoder
	turns                        turns
}

// together is how many rows of macroblocks are in work at once. They have the same probabilities.
const together = 4

// rowEncoder is in work on a row of macroblocks.
type rowEncoder struct {
	*lossyEncoder
	y, u, v   []uint8 // as they should be
	rgba      [2][]byte
	leftSome  [9]uint8
	leftModes [4]uint8
	work      workspace
	luma      [16][16]uint8 // the macroblock as it should be, in blocks of 4 by 4
	tokens    tokens
	blocks    []macroblock
	levels    [25][16]int16 // 16 luma, 4 blue, 4 red, the means
}

var errHeader = errors.New("the first partition is too long")

// lossy makes the bit stream of a lossy picture.
func lossy(ctx context.Context, p *Picture) ([]byte, error) {
	var err error
	for limit := range 3 {
		var out []byte
		if out, err = newLossy(p, limit).encode(ctx); !errors.Is(err, errHeader) {
			return out, err
		}
	}
	return nil, err
}

func newLossy(p *Picture, limit int) *lossyEncoder {
	e := &lossyEncoder{p: p, limit: limit, across: (p.Width + 15) / 16, down: (p.Height + 15) / 16}
	// As in libwebp, so that a quality means the same.
	c := float64(p.Quality) / 100
	if c < 0.75 {
		c *= 2.0 / 3
	} else {
		c = 2*c - 1
	}
	e.quality = int(127 * (1 - math.Cbrt(c)))
	q := e.quality
	e.lumaStep = newSteps(int32(dcSteps[q]), int32(acSteps[q]), 104)
	e.dcStep = newSteps(2*int32(dcSteps[q]), max(8, int32(acSteps[q])*155/100), 108)
	e.chromaStep = newSteps(int32(dcSteps[min(q, 117)]), int32(acSteps[q]), 108)
	e.lambda = max(1, int64(acSteps[q])*int64(acSteps[q])*lambdaScale/64)
	e.upY, e.upU, e.upV = make([]uint8, 16*e.across), make([]uint8, 8*e.across), make([]uint8, 8*e.across)
	e.upSome, e.upModes = make([][9]uint8, e.across), make([]uint8, 4*e.across)
	e.blocks = make([]macroblock, 0, e.across*e.down)
	for i := range e.rows {
		r := &e.rows[i]
		r.lossyEncoder = e
		r.y, r.u, r.v = make([]uint8, 256*e.across), make([]uint8, 64*e.across), make([]uint8, 64*e.across)
		r.rgba = [2][]byte{make([]byte, 4*p.Width), make([]byte, 4*p.Width)}
	}
	probs := e.tokens.fitted() // those at the start
	e.costs.set(&probs)
	return e
}

// lambdaScale is what a bit is worth, in squares of a step.
const lambdaScale = 16

func (e *lossyEncoder) encode(ctx context.Context) ([]byte, error) {
	for my := 0; my < e.down; my += together {
		n := min(together, e.down-my)
		e.turns.begin()
		pixels.Parallel(n, 0, func(next func() (int, bool)) {
			for i, ok := next(); ok; i, ok = next() {
				e.rows[i].encode(ctx, my, i)
			}
		})
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for i := range n {
			e.blocks = append(e.blocks, e.rows[i].blocks...)
			e.tokens.add(&e.rows[i].tokens)
		}
		if n == together { // The tokens so far tell what the next ones will take.
			probs := e.tokens.fitted()
			e.costs.set(&probs)
		}
	}
	return e.write()
}

// encode encodes the row number my + i. What it needs of the row above is there when that row is two macroblocks ahead.
func (e *rowEncoder) encode(ctx context.Context, my, i int) {
	defer e.turns.reach(i, math.MaxInt) // after an error too, because others wait
	e.blocks, e.leftSome, e.leftModes = e.blocks[:0], [9]uint8{}, [4]uint8{}
	e.tokens.reset()
	if ctx.Err() != nil {
		return
	}
	my += i
	e.readRow(my)
	above := 0
	for mx := range e.across {
		if i > 0 && above < min(mx+2, e.across) {
			above = e.turns.wait(i-1, min(mx+2, e.across))
		}
		e.prepare(mx, my)
		e.blocks = append(e.blocks, e.macroblock(mx, my))
		copy(e.upY[16*mx:16*mx+16], e.work[lumaAt+15*pitch:][:16])
		copy(e.upU[8*mx:8*mx+8], e.work[blueAt+7*pitch:][:8])
		copy(e.upV[8*mx:8*mx+8], e.work[redAt+7*pitch:][:8])
		if mx%8 == 7 {
			e.turns.reach(i, mx+1)
		}
	}
}

// turns say how many macroblocks of each row are done.
type turns struct {
	mu   sync.Mutex
	more *sync.Cond
	done [together]int
}

func (t *turns) begin() {
	if t.more == nil {
		t.more = sync.NewCond(&t.mu)
	}
	t.done = [together]int{}
}

func (t *turns) reach(row, n int) {
	t.mu.Lock()
	t.done[row] = n
	t.mu.Unlock()
	t.more.Broadcast()
}

// wait waits until n macroblocks of a row are done, and returns how many are.
func (t *turns) wait(row, n int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.done[row] < n {
		t.more.Wait()
	}
	return t.done[row]
}

// readRow makes the planes of a row of macroblocks. The last pixels of the picture are repeated.
func (e *rowEncoder) readRow(my int) {
	w, h := e.p.Width, e.p.Height
	wide := 16 * e.across
	for pair := range 8 {
		y0 := min(16*my+2*pair, h-1)
		y1 := min(16*my+2*pair+1, h-1)
		e.p.Row(e.rgba[0], y0)
		if y1 == y0 {
			copy(e.rgba[1], e.rgba[0])
		} else {
			e.p.Row(e.rgba[1], y1)
		}
		for i, row := range e.rgba {
			line := e.y[(2*pair+i)*wide:][:wide]
			for x := range w {
				p := row[4*x : 4*x+4 : 4*x+4]
				line[x] = uint8((16839*int32(p[0]) + 33059*int32(p[1]) + 6420*int32(p[2]) + 1<<15 + 16<<16) >> 16)
			}
			for x := w; x < wide; x++ {
				line[x] = line[w-1]
			}
		}
		us, vs := e.u[pair*wide/2:][:wide/2], e.v[pair*wide/2:][:wide/2]
		for x := range us {
			var r, g, b, a int32
			left, right := 4*min(2*x, w-1), 4*min(2*x+1, w-1)
			for _, p := range [4][]byte{e.rgba[0][left:][:4], e.rgba[0][right:][:4], e.rgba[1][left:][:4], e.rgba[1][right:][:4]} {
				alpha := int32(p[3])
				r, g, b, a = r+int32(p[0])*alpha, g+int32(p[1])*alpha, b+int32(p[2])*alpha, a+alpha
			}
			switch { // Four times the mean, as seen.
			case a == 4*255:
				r, g, b = r/255, g/255, b/255
			case a > 0:
				r, g, b = (4*r+a/2)/a, (4*g+a/2)/a, (4*b+a/2)/a
			}
			const round = 1<<17 + 128<<18
			us[x] = clip((-9719*r - 19081*g + 28800*b + round) >> 18)
			vs[x] = clip((28800*r - 24116*g - 4684*b + round) >> 18)
		}
	}
}

// prepare puts what is above and to the left of a macroblock into the workspace.
func (e *rowEncoder) prepare(mx, my int) {
	b := &e.work
	for y := range 26 {
		if mx == 0 {
			b[y*pitch+7], b[y*pitch+23] = 129, 129
			continue
		}
		if y < 17 {
			b[y*pitch+7] = b[y*pitch+23]
		} else {
			b[y*pitch+7], b[y*pitch+23] = b[y*pitch+15], b[y*pitch+31]
		}
	}
	top, blue, red := b[lumaAt-pitch:][:20], b[blueAt-pitch:][:8], b[redAt-pitch:][:8]
	if my == 0 {
		for _, row := range [][]uint8{b[lumaAt-pitch-1:][:21], b[blueAt-pitch-1:][:9], b[redAt-pitch-1:][:9]} {
			for i := range row {
				row[i] = 127
			}
		}
	} else {
		copy(top, e.upY[16*mx:])
		if mx == e.across-1 {
			for i := range 4 {
				top[16+i] = top[15]
			}
		}
		copy(blue, e.upU[8*mx:])
		copy(red, e.upV[8*mx:])
	}
	for y := 4; y < 16; y += 4 {
		copy(b[lumaAt+(y-1)*pitch+16:][:4], top[16:])
	}
}

// steps are those of a quantizer, for the mean and for the other coefficients.
type steps [2]struct {
	step, bias int32
	inverse    uint64 // 1/step in 1/2³², rounded up: exact for coefficients, which are below 2¹⁶
}

// newSteps makes a quantizer. slack is what is added before rounding down, in 1/256 of a step.
func newSteps(dc, ac, slack int32) (s steps) {
	for i, step := range []int32{dc, ac} {
		s[i].step, s[i].bias, s[i].inverse = step, step*slack>>8, 1<<32/uint64(step)+1
	}
	return s
}

// quantize divides coefficients by their steps, from the place first on. It leaves in c what a decoder has, and
// returns the last place that is not 0, or the one before first.
func quantize(c *[16]int32, s *steps, first int, levels *[16]int16) (last int) {
	last = first - 1
	levels[0] = 0
	q := &s[0]
	for n := first; n < 16; n++ {
		i := zigzag[n] & 15
		if n > 0 {
			q = &s[1]
		}
		sign := c[i] >> 31
		v := (c[i] ^ sign - sign) + q.bias
		v = int32(uint64(v) * q.inverse >> 32)
		if v > 0 {
			last = n
		}
		v = min(v, maxLevel)
		v = v ^ sign - sign
		levels[n] = int16(v)
		c[i] = v * q.step
	}
	return last
}

func distance(a, b *[16]uint8) int64 {
	sum := int32(0)
	for i := range a {
		d := int32(a[i]) - int32(b[i])
		sum += d * d
	}
	return int64(sum)
}

// score joins an error and a length.
func (e *lossyEncoder) score(distance int64, bits int32) int64 {
	return distance*4096 + e.lambda*int64(bits)
}

// source returns 4 by 4 pixels of a plane.
func source(plane []uint8, wide, x, y int) (out [16]uint8) {
	for i := range 4 {
		copy(out[4*i:4*i+4], plane[(y+i)*wide+x:])
	}
	return out
}

func (b *workspace) store(at int, pix *[16]uint8) {
	for i := range 4 {
		copy(b[at+i*pitch:][:4], pix[4*i:4*i+4])
	}
}
