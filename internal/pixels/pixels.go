// Package pixels converts any image.Image to rows of non-premultiplied RGBA bytes. It is
// fast for the types that Go's decoders make.
package pixels

import (
	"image"
	"image/color"
	"runtime"
	"sync"
)

// Parallel runs work on up to workers goroutines. Together they get each of the numbers 0
// to n−1 once, from next. If a worker panics, Parallel panics in the goroutine of its
// caller, which knows the file that is to blame.
func Parallel(n, workers int, work func(next func() (int, bool))) {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	workers = min(workers, n)
	if workers <= 1 {
		i := -1
		work(func() (int, bool) { i++; return i, i < n })
		return
	}
	var (
		mu    sync.Mutex
		i     int
		fault any
		wg    sync.WaitGroup
	)
	next := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		if i >= n || fault != nil {
			return 0, false
		}
		i++
		return i - 1, true
	}
	for range workers {
		wg.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					mu.Lock()
					fault = p
					mu.Unlock()
				}
			}()
			work(next)
		})
	}
	wg.Wait()
	if fault != nil {
		panic(fault)
	}
}

// EachRow calls f for each of h rows of n bytes, on as many processors as that many bytes
// are worth.
func EachRow(n, h int, f func(y int)) {
	const many = 256 << 10 // bytes that a worker takes at a time
	rows := max(many/max(n, 1), 1)
	Parallel((h+rows-1)/rows, 0, func(next func() (int, bool)) {
		for i, ok := next(); ok; i, ok = next() {
			for y := i * rows; y < min((i+1)*rows, h); y++ {
				f(y)
			}
		}
	})
}

// Rows returns a function that writes row y of src as non-premultiplied RGBA bytes. Row 0
// is at the top. The function is safe for concurrent use.
func Rows(src image.Image) func(dst []byte, y int) {
	b := src.Bounds()
	w := b.Dx()
	switch m := src.(type) {
	case *image.NRGBA:
		return func(dst []byte, y int) {
			o := m.PixOffset(b.Min.X, b.Min.Y+y)
			copy(dst, m.Pix[o:o+4*w])
		}
	case *image.RGBA:
		return func(dst []byte, y int) {
			o := m.PixOffset(b.Min.X, b.Min.Y+y)
			unpremultiply(dst, m.Pix[o:o+4*w])
		}
	case *image.YCbCr:
		return func(dst []byte, y int) { ycbcrRow(dst, m, y) }
	case *image.NYCbCrA:
		return func(dst []byte, y int) {
			ycbcrRow(dst, &m.YCbCr, y)
			o := m.AOffset(b.Min.X, b.Min.Y+y)
			for x, a := range m.A[o : o+w] {
				dst[4*x+3] = a
			}
		}
	case *image.Gray:
		return func(dst []byte, y int) {
			o := m.PixOffset(b.Min.X, b.Min.Y+y)
			for x, v := range m.Pix[o : o+w] {
				d := dst[4*x : 4*x+4 : 4*x+4]
				d[0], d[1], d[2], d[3] = v, v, v, 255
			}
		}
	case *image.Gray16:
		return func(dst []byte, y int) {
			o := m.PixOffset(b.Min.X, b.Min.Y+y)
			s := m.Pix[o : o+2*w]
			for x := range w {
				v := narrow(s[2*x], s[2*x+1])
				d := dst[4*x : 4*x+4 : 4*x+4]
				d[0], d[1], d[2], d[3] = v, v, v, 255
			}
		}
	case *image.NRGBA64:
		return func(dst []byte, y int) {
			o := m.PixOffset(b.Min.X, b.Min.Y+y)
			s := m.Pix[o : o+8*w]
			for i := range dst {
				dst[i] = narrow(s[2*i], s[2*i+1])
			}
		}
	case *image.RGBA64:
		return func(dst []byte, y int) {
			o := m.PixOffset(b.Min.X, b.Min.Y+y)
			rgba64Row(dst, m.Pix[o:o+8*w])
		}
	case *image.Paletted:
		var table [256][4]byte
		for i, c := range m.Palette {
			n := color.NRGBAModel.Convert(c).(color.NRGBA)
			table[i] = [4]byte{n.R, n.G, n.B, n.A}
		}
		return func(dst []byte, y int) {
			o := m.PixOffset(b.Min.X, b.Min.Y+y)
			for x, v := range m.Pix[o : o+w] {
				copy(dst[4*x:4*x+4], table[v][:])
			}
		}
	}
	return func(dst []byte, y int) {
		for x := range w {
			n := color.NRGBAModel.Convert(src.At(b.Min.X+x, b.Min.Y+y)).(color.NRGBA)
			d := dst[4*x : 4*x+4 : 4*x+4]
			d[0], d[1], d[2], d[3] = n.R, n.G, n.B, n.A
		}
	}
}

// narrow rounds a big-endian 16-bit sample to the nearest 8-bit one.
func narrow(hi, lo byte) byte {
	return byte(((uint32(hi)<<8|uint32(lo))*255 + 32895) >> 16)
}

// reciprocals are 2²⁴/a, rounded up. A number below 2¹⁶ times one of them, divided by 2²⁴, is
// the number divided by a. A processor takes several times as long to divide by a itself.
var reciprocals = func() (table [256]uint32) {
	for a := uint32(1); a < 256; a++ {
		table[a] = (1<<24 + a - 1) / a
	}
	return table
}()

// unpremultiply divides the colours of a row by their alpha.
func unpremultiply(dst, src []byte) {
	copy(dst, src)
	for i := 0; i+3 < len(dst); i += 4 {
		d := dst[i : i+4 : i+4]
		switch a := uint32(d[3]); a {
		case 255:
		case 0:
			d[0], d[1], d[2] = 0, 0, 0
		default:
			r := uint64(reciprocals[a])
			for c := range 3 {
				d[c] = byte(min(uint64(uint32(d[c])*255+a/2)*r>>24, 255))
			}
		}
	}
}

// rgba64Row divides the colours of a row of 16-bit samples by their alpha.
func rgba64Row(dst, src []byte) {
	for i := 0; i+3 < len(dst); i += 4 {
		s := src[2*i : 2*i+8 : 2*i+8]
		a := uint32(s[6])<<8 | uint32(s[7])
		for c := range 3 {
			v := uint32(s[2*c])<<8 | uint32(s[2*c+1])
			if a == 0 {
				dst[i+c] = 0
			} else {
				dst[i+c] = byte(min((v*255+a/2)/a, 255))
			}
		}
		dst[i+3] = narrow(s[6], s[7])
	}
}

// ycbcrRow writes row y of a YCbCr picture. Its fixed-point formula and its rounding are
// those of image/color. Pixels that share a colour sample share that part of the
// computation.
func ycbcrRow(dst []byte, m *image.YCbCr, y int) {
	b := m.Rect
	w := b.Dx()
	yo := m.YOffset(b.Min.X, b.Min.Y+y)
	luma := m.Y[yo : yo+w]
	dst = dst[:4*w]
	shift := 0
	switch m.SubsampleRatio {
	case image.YCbCrSubsampleRatio444, image.YCbCrSubsampleRatio440:
	case image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio420:
		shift = 1
	case image.YCbCrSubsampleRatio411, image.YCbCrSubsampleRatio410:
		shift = 2
	}
	co := m.COffset(b.Min.X, b.Min.Y+y)
	cbs, crs := m.Cb[co:], m.Cr[co:]
	phase := b.Min.X & (1<<shift - 1) // how many pixels of the first group lie left of the picture
	x := 0
	if shift == 1 && phase == 0 {
		// Two pixels share a colour, as in most pictures of cameras.
		for c := range w / 2 {
			red, green, blue := chroma(cbs[c], crs[c])
			l := luma[2*c : 2*c+2 : 2*c+2]
			d := dst[8*c : 8*c+8 : 8*c+8]
			l0, l1 := int32(l[0])*0x10101, int32(l[1])*0x10101
			d[0], d[1], d[2], d[3] = clampShift(l0+red), clampShift(l0+green), clampShift(l0+blue), 255
			d[4], d[5], d[6], d[7] = clampShift(l1+red), clampShift(l1+green), clampShift(l1+blue), 255
		}
		x = w &^ 1
	}
	for ; x < w; x++ {
		c := (x + phase) >> shift
		red, green, blue := chroma(cbs[c], crs[c])
		l := int32(luma[x]) * 0x10101
		d := dst[4*x : 4*x+4 : 4*x+4]
		d[0], d[1], d[2], d[3] = clampShift(l+red), clampShift(l+green), clampShift(l+blue), 255
	}
}

// chroma is what a colour sample adds to each channel, multiplied by 2¹⁶.
func chroma(cb, cr byte) (red, green, blue int32) {
	u, v := int32(cb)-128, int32(cr)-128
	return 91881 * v, -22554*u - 46802*v, 116130 * u
}

// clampShift is v>>16, limited to 0..255.
func clampShift(v int32) byte { return byte(min(max(v, 0), 0xffffff) >> 16) }
