package webp

import (
	"bytes"
	"errors"
	"image"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// moving makes frames of which parts change, with alpha if it is set.
func moving(r *rand.Rand, w, h, n int, alpha bool) (frames [][]byte) {
	f := make([]byte, 4*w*h)
	for i := range f {
		f[i] = byte(r.Uint32())
		if i%4 == 3 && !alpha {
			f[i] = 255
		}
	}
	for i := range n {
		f = bytes.Clone(f)
		if i%3 == 1 {
			x, y := r.IntN(w), r.IntN(h)
			for y1 := y; y1 < min(h, y+5); y1++ {
				for x1 := x; x1 < min(w, x+7); x1++ {
					f[4*(y1*w+x1)+r.IntN(3)] ^= byte(1 + r.IntN(255))
					if alpha {
						f[4*(y1*w+x1)+3] = byte(r.Uint32())
					}
				}
			}
		}
		frames = append(frames, f)
	}
	return frames
}

// animated writes frames, which are shown for 10, 11, 12 … milliseconds.
func animated(t *testing.T, w io.Writer, p Picture, plays int, frames [][]byte) {
	t.Helper()
	a := NewAnimation(w, p, plays)
	for i, f := range frames {
		if err := a.Add(t.Context(), func(dst []byte, y int) { copy(dst, f[4*p.Width*y:4*p.Width*(y+1)]) }, 10+i); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
}

// shown reads all frames.
func shown(data []byte) (h *Header, frames [][]byte, delays []int, err error) {
	if h, err = ReadHeader(bytes.NewReader(data), int64(len(data))); err != nil {
		return nil, nil, nil, err
	}
	next := h.Play(bytes.NewReader(data))
	for {
		pix, delay, err := next()
		if err == io.EOF {
			return h, frames, delays, nil
		}
		if err != nil {
			return h, frames, delays, err
		}
		frames, delays = append(frames, bytes.Clone(pix)), append(delays, delay)
	}
}

// Lossless frames are the same when they are read again. Lossy ones are near, and have the same alpha.
func TestFrames(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for n := range 40 {
		w, h := 1+r.IntN(50), 1+r.IntN(50)
		p := Picture{Width: w, Height: h, Lossless: n%4 < 3, Quality: 90, XMP: []byte("x"), ICC: []byte("icc")}
		alpha := n%2 == 1
		want := moving(r, w, h, 2+r.IntN(6), alpha)
		var file bytes.Buffer
		animated(t, &file, p, n, want)
		head, got, delays, err := shown(file.Bytes())
		if err != nil || len(got) != len(want) || head.Frames != len(want) || head.Plays != n || string(head.XMP) != "x" || string(head.ICC) != "icc" {
			t.Fatalf("%d frames (want %d), %+v, %v", len(got), len(want), head, err)
		}
		for i := range got {
			if delays[i] != 10+i {
				t.Fatalf("delay %d is %d", i, delays[i])
			}
			for at := range got[i] {
				if g, w := got[i][at], want[i][at]; g != w && (p.Lossless || at%4 == 3) {
					t.Fatalf("case %d, frame %d: byte %d is %d (want %d)", n, i, at, g, w)
				}
			}
		}
		// A file gets the same bytes.
		name := filepath.Join(t.TempDir(), "a.webp")
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("before"); err != nil {
			t.Fatal(err)
		}
		animated(t, f, p, n, want)
		if _, err := f.WriteString("after"); err != nil {
			t.Fatal(err)
		}
		f.Close()
		if data, err := os.ReadFile(name); err != nil || string(data) != "before"+file.String()+"after" {
			t.Fatalf("a file has %d bytes, and a stream %d, %v", len(data)-11, file.Len(), err)
		}
	}
}

// A single frame is a picture that does not move.
func TestSingleFrame(t *testing.T) {
	f := moving(rand.New(rand.NewPCG(1, 1)), 9, 8, 1, true)
	p := Picture{Width: 9, Height: 8, Lossless: true}
	var file, want bytes.Buffer
	animated(t, &file, p, 3, f)
	p.Alpha, p.Row = true, func(dst []byte, y int) { copy(dst, f[0][36*y:36*y+36]) }
	if err := Encode(t.Context(), &want, &p); err != nil || !bytes.Equal(file.Bytes(), want.Bytes()) {
		t.Fatalf("%d bytes (want %d), %v", file.Len(), want.Len(), err)
	}
	if err := NewAnimation(&file, p, 0).Close(); err == nil {
		t.Error("an animation without frames is no error")
	}
}

// Frames are laid over the canvas or replace it, and are cleared if the file says so.
func TestCompose(t *testing.T) {
	a := NewAnimation(io.Discard, Picture{Width: 6, Height: 4, Lossless: true}, 1)
	part := func(r image.Rectangle, c [4]byte, flags byte) {
		p := Picture{Width: r.Dx(), Height: r.Dy(), Lossless: true, Alpha: true, Row: func(dst []byte, _ int) {
			for i := range dst {
				dst[i] = c[i%4]
			}
		}}
		parts, err := p.encode(t.Context())
		if err == nil {
			err = a.frame(parts, r, flags, 5)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	whole, middle := image.Rect(0, 0, 6, 4), image.Rect(2, 2, 4, 3)
	part(whole, [4]byte{100, 0, 0, 255}, 0)
	part(middle, [4]byte{0, 200, 0, 128}, disposed)
	part(image.Rect(0, 0, 1, 1), [4]byte{9, 9, 9, 0}, unblended)
	part(middle, [4]byte{0, 200, 0, 128}, 0)
	a.last = make([]byte, 4)
	var file bytes.Buffer
	a.w = &file
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	_, got, _, err := shown(file.Bytes())
	if err != nil || len(got) != 4 {
		t.Fatalf("%d frames, %v", len(got), err)
	}
	at := func(frame, x, y int) [4]byte { return [4]byte(got[frame][4*(y*6+x):]) }
	for _, c := range []struct {
		frame, x, y int
		want        [4]byte
	}{
		{0, 5, 3, [4]byte{100, 0, 0, 255}}, {1, 2, 2, [4]byte{50, 100, 0, 255}}, {1, 4, 2, [4]byte{100, 0, 0, 255}},
		{2, 2, 2, [4]byte{}}, {2, 0, 0, [4]byte{9, 9, 9, 0}}, {2, 1, 0, [4]byte{100, 0, 0, 255}}, {3, 3, 2, [4]byte{0, 200, 0, 128}},
	} {
		if g := at(c.frame, c.x, c.y); g != c.want {
			t.Errorf("frame %d, pixel %d,%d: %v (want %v)", c.frame, c.x, c.y, g, c.want)
		}
	}
}

// Laying a pixel over another one is within one level of the same with floats.
func TestBlend(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for range 20000 {
		var s, d [4]byte
		for i := range 4 {
			s[i], d[i] = byte(r.Uint32()), byte(r.Uint32())
		}
		got := d
		blend(got[:], s[:])
		a, b := float64(s[3])/255, float64(d[3])/255
		all := a + b*(1-a)
		if g := float64(got[3]); math.Abs(g-255*all) > 0.51 {
			t.Fatalf("%v over %v: alpha %v (want %.2f)", s, d, g, 255*all)
		}
		for c := range 3 {
			if all == 0 {
				break
			}
			want := (float64(s[c])*a + float64(d[c])*b*(1-a)) / all
			if a == 0 {
				want = float64(d[c])
			}
			if math.Abs(float64(got[c])-want) > 0.51 {
				t.Fatalf("%v over %v: %v (want %.2f)", s, d, got, want)
			}
		}
	}
}

// An animation that is cut off or changed is an error, or has some frames.
func TestDamagedFrames(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	var file bytes.Buffer
	animated(t, &file, Picture{Width: 12, Height: 9, Lossless: true}, 0, moving(r, 12, 9, 4, true))
	data := file.Bytes()
	for n := range data {
		if _, got, _, err := shown(data[:n]); err == nil {
			t.Fatalf("cut to %d of %d: %d frames and no error", n, len(data), len(got))
		} else if len(got) > 0 && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("cut to %d of %d: %v", n, len(data), err)
		}
	}
	for range 2000 {
		bad := bytes.Clone(data)
		for range 1 + r.IntN(4) {
			bad[12+r.IntN(len(bad)-12)] = byte(r.Uint32())
		}
		if head, err := ReadHeader(bytes.NewReader(bad), int64(len(bad))); err != nil || head.Width*head.Height > 1<<16 {
			continue
		}
		func() {
			defer func() { _ = recover() }() // of the decoders; package imageio makes errors of them
			shown(bad)
		}()
	}
}
