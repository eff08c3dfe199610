package webp

import (
	"bytes"
	"image"
	"io"
)

func sliceReader(b []byte) io.Reader { return bytes.NewReader(b) }

// videoRow writes row y of a lossy picture as opaque RGBA. Each colour sample
// belongs to four pixels and lies in their middle, so a pixel takes 9/16 of the
// nearest one and 3/16, 3/16 and 1/16 of those beyond. Weights and rounding are
// those of libwebp: the results are the same bytes.
func videoRow(dst []byte, m *image.YCbCr, y int) {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	near := y / 2
	far := near - 1 + y&1*2
	far = min(max(far, 0), (h+1)/2-1)
	n := (w + 1) / 2
	luma := m.Y[y*m.YStride:][:w]
	cb0, cb1 := m.Cb[near*m.CStride:][:n], m.Cb[far*m.CStride:][:n]
	cr0, cr1 := m.Cr[near*m.CStride:][:n], m.Cr[far*m.CStride:][:n]
	// Sums of a column's two samples, times 4, for the columns before, at and after.
	bu, bv := sum(cb0[0], cb1[0]), sum(cr0[0], cr1[0])
	cu, cv := bu, bv
	for c := range n {
		au, av := cu, cv
		if c+1 < n {
			au, av = sum(cb0[c+1], cb1[c+1]), sum(cr0[c+1], cr1[c+1])
		}
		put(dst[8*c:], luma[2*c], (3*cu+bu+8)>>4, (3*cv+bv+8)>>4)
		if 2*c+1 < w {
			put(dst[8*c+4:], luma[2*c+1], (3*cu+au+8)>>4, (3*cv+av+8)>>4)
		}
		bu, bv, cu, cv = cu, cv, au, av
	}
}

func sum(near, far byte) int32 { return 3*int32(near) + int32(far) }

// put writes one pixel: BT.601 with luma from 16 to 235 and colour from 16 to
// 240 about 128, in units of 1/64. The factors are 255/219 and 255/224 times
// those of the standard, times 2¹⁴; each product drops eight bits by itself.
func put(dst []byte, luma byte, u, v int32) {
	l := int32(luma) * 19077 >> 8
	dst = dst[:4:4]
	dst[0] = level(l + v*26149>>8 - 14234)
	dst[1] = level(l - u*6419>>8 - v*13320>>8 + 8708)
	dst[2] = level(l + u*33050>>8 - 17685)
	dst[3] = 255
}

func level(v int32) byte { return byte(min(max(v, 0), 255<<6|63) >> 6) }
