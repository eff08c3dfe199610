package gif

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	stdgif "image/gif"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// shown reads all frames of a file.
func shown(t *testing.T, data []byte) (frames [][]byte, delays []int, err error) {
	t.Helper()
	r, err := NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, nil, err
	}
	for {
		pix, delay, err := r.Next()
		if err == io.EOF {
			return frames, delays, nil
		}
		if err != nil {
			return frames, delays, err
		}
		frames, delays = append(frames, bytes.Clone(pix)), append(delays, delay)
	}
}

// written writes frames.
func written(t *testing.T, w, h, plays int, frames [][]byte, delays []int) []byte {
	t.Helper()
	var file bytes.Buffer
	to := NewWriter(&file, w, h, plays)
	for i, f := range frames {
		if err := to.Add(func(dst []byte, y int) { copy(dst, f[4*w*y:4*w*(y+1)]) }, delays[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// standard composes the frames that the standard library decodes.
func standard(t *testing.T, data []byte) (frames [][]byte, g *stdgif.GIF) {
	t.Helper()
	g, err := stdgif.DecodeAll(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	canvas := image.NewNRGBA(image.Rect(0, 0, g.Config.Width, g.Config.Height))
	for i, m := range g.Image {
		before := slices.Clone(canvas.Pix)
		for y := m.Rect.Min.Y; y < m.Rect.Max.Y; y++ {
			for x := m.Rect.Min.X; x < m.Rect.Max.X; x++ {
				if c := color.NRGBAModel.Convert(m.At(x, y)).(color.NRGBA); c.A > 0 {
					canvas.SetNRGBA(x, y, c)
				}
			}
		}
		frames = append(frames, slices.Clone(canvas.Pix))
		switch g.Disposal[i] {
		case stdgif.DisposalBackground:
			for y := m.Rect.Min.Y; y < m.Rect.Max.Y; y++ {
				clear(canvas.Pix[canvas.PixOffset(m.Rect.Min.X, y):][:4*m.Rect.Dx()])
			}
		case stdgif.DisposalPrevious:
			canvas.Pix = before
		}
	}
	return frames, g
}

func equal(t *testing.T, what string, got, want [][]byte) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d frames (want %d)", what, len(got), len(want))
	}
	for i := range got {
		if !bytes.Equal(got[i], want[i]) {
			t.Fatalf("%s: frame %d differs", what, i)
		}
	}
}

// Files of any disposal, palette, rectangle and transparency look as they do with the standard library.
func TestRead(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 60 {
		w, h := 1+r.IntN(30), 1+r.IntN(30)
		g := &stdgif.GIF{Config: image.Config{Width: w, Height: h}, LoopCount: []int{-1, 0, 3}[n%3]}
		general := palette256(r, 1+r.IntN(255))
		g.Config.ColorModel = general
		for range 1 + r.IntN(6) {
			p := general
			if r.IntN(2) == 0 {
				p = palette256(r, 1+r.IntN(255))
			}
			x, y := r.IntN(w), r.IntN(h)
			m := image.NewPaletted(image.Rect(x, y, x+1+r.IntN(w-x), y+1+r.IntN(h-y)), p)
			for i := range m.Pix {
				m.Pix[i] = byte(r.IntN(len(p)))
			}
			g.Image, g.Delay, g.Disposal = append(g.Image, m), append(g.Delay, r.IntN(300)), append(g.Disposal, byte(r.IntN(4)))
		}
		var file bytes.Buffer
		if err := stdgif.EncodeAll(&file, g); err != nil {
			t.Fatal(err)
		}
		want, _ := standard(t, file.Bytes())
		got, delays, err := shown(t, file.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "read", got, want)
		plays := map[int]int{-1: 1, 0: 0, 3: 4}[g.LoopCount]
		if len(g.Image) == 1 {
			plays = 1 // the standard library leaves the count out
		}
		if s := Scan(bytes.NewReader(file.Bytes())); !slices.Equal(delays, g.Delay) || s.Frames != len(want) || s.Plays != plays {
			t.Fatalf("delays %v, %+v; want %v, %d plays", delays, s, g.Delay, plays)
		}
	}
}

// palette256 has n colours and maybe a transparent one.
func palette256(r *rand.Rand, n int) color.Palette {
	var p color.Palette
	for range n {
		p = append(p, color.NRGBA{byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32()), 255})
	}
	if r.IntN(2) == 0 {
		p[r.IntN(n)] = color.NRGBA{}
	}
	return p
}

// The rows of an interlaced frame come in four passes.
func TestInterlaced(t *testing.T) {
	for h := 1; h < 20; h++ {
		m := image.NewPaletted(image.Rect(0, 0, 3, h), color.Palette{color.Black, color.White, color.NRGBA{255, 0, 0, 255}, color.NRGBA{0, 0, 255, 255}})
		for i := range m.Pix {
			m.Pix[i] = byte(i*i/3) % 4
		}
		turned, at := image.NewPaletted(m.Rect, m.Palette), 0
		for _, pass := range [][2]int{{0, 8}, {4, 8}, {2, 4}, {1, 2}} {
			for y := pass[0]; y < h; y += pass[1] {
				copy(turned.Pix[3*at:3*at+3], m.Pix[3*y:])
				at++
			}
		}
		var plain, file bytes.Buffer
		if err := errors.Join(stdgif.Encode(&plain, m, nil), stdgif.Encode(&file, turned, nil)); err != nil {
			t.Fatal(err)
		}
		data := file.Bytes()
		flags := bytes.IndexByte(data[13+12:], picture) + 13 + 12 + 9
		data[flags] |= 0x40
		got, _, err := shown(t, data)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := standard(t, plain.Bytes())
		equal(t, "interlaced", got, want)
		again, _ := standard(t, data)
		equal(t, "as the standard library", got, again)
	}
}

// Frames of up to 256 colours are the same when they are read again, by this package and by the standard library.
func TestExact(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := range 120 {
		w, h := 1+r.IntN(40), 1+r.IntN(40)
		colours := [][4]byte{{}}
		for range 1 + r.IntN([]int{2, 5, 254}[n%3]) {
			colours = append(colours, [4]byte{byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32()), 255})
		}
		if n%2 == 0 {
			colours = colours[1:] // nothing is transparent
		}
		var frames [][]byte
		var delays []int
		f := make([]byte, 4*w*h)
		for range 1 + r.IntN(8) {
			f = bytes.Clone(f)
			if r.IntN(5) > 0 { // otherwise nothing changes
				x, y := r.IntN(w), r.IntN(h)
				x1, y1 := x+1+r.IntN(w-x), y+1+r.IntN(h-y)
				if len(frames) == 0 {
					x, y, x1, y1 = 0, 0, w, h
				}
				hole := n%2 == 1 && r.IntN(2) == 0
				for ; y < y1; y++ {
					for i := x; i < x1; i++ {
						c := colours[r.IntN(len(colours))]
						if hole {
							c = [4]byte{}
						}
						copy(f[4*(y*w+i):], c[:])
					}
				}
			}
			frames, delays = append(frames, f), append(delays, r.IntN(1000))
		}
		data := written(t, w, h, n%4, frames, delays)
		got, gotDelays, err := shown(t, data)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "own", got, frames)
		got, g := standard(t, data)
		equal(t, "standard library", got, frames)
		if len(frames) == 1 {
			continue
		}
		if s := Scan(bytes.NewReader(data)); !slices.Equal(gotDelays, delays) || !slices.Equal(g.Delay, delays) || s.Plays != n%4 {
			t.Fatalf("delays %v and %v (want %v), %+v", gotDelays, g.Delay, delays, s)
		}
	}
}

// manyColours has a colour of its own for each pixel of a row of 256.
func manyColours(h int) []byte {
	f := make([]byte, 4*256*h)
	for i := range 256 * h {
		f[4*i], f[4*i+1], f[4*i+2], f[4*i+3] = byte(i), byte(i*7), byte(255-i), 255
	}
	return f
}

// With 256 colours there is none left for transparent pixels.
func TestAllColours(t *testing.T) {
	one := manyColours(4)
	part := bytes.Clone(one)
	copy(part[4*300:], []byte{1, 2, 3, 255, 4, 5, 6, 255})
	for name, frames := range map[string][][]byte{"still": {one}, "twice": {one, one}, "a part": {one, part, one}} {
		data := written(t, 256, 4, 0, frames, make([]int, len(frames)))
		got, _ := standard(t, data)
		equal(t, name, got, frames)
	}
	// A hole makes the first frame give up a colour.
	hole := bytes.Clone(one)
	clear(hole[4*700 : 4*710])
	got, _ := standard(t, written(t, 256, 4, 0, [][]byte{one, hole, one}, []int{1, 2, 3}))
	for i, want := range [][]byte{one, hole, one} {
		if d := far(got[i], want); d > 3 {
			t.Errorf("frame %d: the colours are %.2f away", i, d)
		}
	}
}

// far is the root of the mean square of how far colours are apart. Alpha must be the same.
func far(a, b []byte) float64 {
	sum := 0.0
	for i := range a {
		if i%4 == 3 && a[i] != b[i] {
			return math.Inf(1)
		}
		d := float64(a[i]) - float64(b[i])
		sum += d * d
	}
	return math.Sqrt(sum / float64(len(a)))
}

// smooth is a picture of many colours.
func smooth(w, h int) []byte {
	f := make([]byte, 0, 4*w*h)
	for y := range h {
		for x := range w {
			s := math.Sin(float64(x)/17)*math.Cos(float64(y)/23)*40 + 40
			f = append(f, byte(x*175/w)+byte(s), byte(y*175/h)+byte(s), byte((x+y)*175/(w+h))+byte(s), 255)
		}
	}
	return f
}

// Many colours become 255 good ones, whose mean over a few pixels is right.
func TestManyColours(t *testing.T) {
	const w, h = 240, 160
	f := smooth(w, h)
	data := written(t, w, h, 1, [][]byte{f}, []int{0})
	got, g := standard(t, data)
	if n := len(g.Image[0].Palette); n != 256 {
		t.Errorf("%d colours", n)
	}
	if d := far(got[0], f); d > 7 {
		t.Errorf("colours are %.2f away", d)
	}
	blurred := func(f []byte) []byte {
		var out []byte
		for y := 0; y+8 <= h; y += 8 {
			for x := 0; x+8 <= w; x += 8 {
				var sum [4]int
				for i := range 64 {
					for c := range 4 {
						sum[c] += int(f[4*((y+i/8)*w+x+i%8)+c])
					}
				}
				for _, s := range sum {
					out = append(out, byte(s/64))
				}
			}
		}
		return out
	}
	if d := far(blurred(got[0]), blurred(f)); d > 1.2 {
		t.Errorf("the means of 8×8 pixels are %.2f away", d)
	}
}

// A small change of a picture of many colours costs few bytes, and leaves the rest as it is.
func TestSmallChange(t *testing.T) {
	const w, h = 240, 160
	one := smooth(w, h)
	frames := [][]byte{one}
	for i := range 9 {
		f := bytes.Clone(one)
		for y := 20; y < 30; y++ {
			clear(f[4*(y*w+10*i):][:40])
			for x := range 10 {
				f[4*(y*w+10*i+x)+3] = 255
			}
		}
		frames = append(frames, f)
	}
	single := len(written(t, w, h, 0, frames[:1], []int{5}))
	data := written(t, w, h, 0, frames, make([]int, 10))
	if more := len(data) - single; more > single/2 {
		t.Errorf("nine small changes take %d bytes, and the picture %d", more, single)
	}
	got, _ := standard(t, data)
	for i, f := range got[1:] {
		for p := range w * h {
			if bytes.Equal(frames[i+1][4*p:4*p+4], frames[i][4*p:4*p+4]) && !bytes.Equal(f[4*p:4*p+4], got[i][4*p:4*p+4]) {
				t.Fatalf("frame %d: pixel %d changes, and should stay", i+1, p)
			}
		}
	}
}

// A file that is cut off or changed is an error, or has some frames. It never panics.
func TestDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	frames := [][]byte{manyColours(2), manyColours(2)}
	clear(frames[1][:400])
	data := written(t, 256, 2, 0, frames, []int{1, 2})
	for n := range data {
		if got, _, err := shown(t, data[:n]); err == nil || len(got) > 2 || n > 13 && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("cut to %d of %d: %d frames, %v", n, len(data), len(got), err)
		}
	}
	for range 3000 {
		bad := bytes.Clone(data)
		for range 1 + r.IntN(4) {
			bad[13+r.IntN(len(bad)-13)] = byte(r.Uint32())
		}
		shown(t, bad)
		Scan(bytes.NewReader(bad))
	}
}

// Every file but the first is refused with a reason.
func TestRefused(t *testing.T) {
	head := "GIF89a\x02\x00\x02\x00\x80\x00\x00\xff\x00\x00\x00\xff\x00"
	frame := func(rect, body string) string { return head + "," + rect + body + ";" }
	whole := "\x00\x00\x00\x00\x02\x00\x02\x00\x00"
	good := "\x02\x02\x44\x10\x00" // four pixels
	for name, c := range map[string]struct {
		data, want string
	}{
		"outside":     {frame("\x01\x00\x00\x00\x02\x00\x02\x00\x00", good), "outside"},
		"empty":       {frame("\x64\x00\x64\x00\x00\x00\x00\x00\x00", good), "outside"},
		"no colours":  {"GIF89a\x02\x00\x02\x00\x00\x00\x00," + whole + good + ";", "no colours"},
		"code width":  {frame(whole, "\x0c\x02\x44\x10\x00"), "codes of 12 bits"},
		"few pixels":  {frame(whole, "\x02\x01\x2c\x00"), "too few pixels"},
		"block":       {head + "\x55", "unknown kind"},
		"not a GIF":   {"PNG89a.......", "begin"},
		"no trailer":  {head, "unexpected EOF"},
		"ends in one": {head + "," + whole + "\x02\x05\x44", "unexpected EOF"},
	} {
		_, _, err := shown(t, []byte(c.data))
		if err == nil || !bytes.Contains([]byte(err.Error()), []byte(c.want)) {
			t.Errorf("%s: %v (want %q)", name, err, c.want)
		}
	}
}
