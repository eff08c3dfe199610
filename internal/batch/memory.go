package batch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"image/color"
	"io"
	"runtime"
	"sync"
)

// errTooLarge is the error of a picture that needs more memory than the limit.
var errTooLarge = errors.New("picture too large")

// budget divides the memory for pixels among the pictures.
type budget struct {
	limit int64
	room  int64 // the bytes of it for pictures
	hard  bool  // a picture that needs more than room is refused; otherwise it is processed alone
	pool  pool

	mu      sync.Mutex
	held    int64 // the bytes of pictures in work
	garbage int64 // at most the bytes of finished pictures that are not collected yet
}

// check refuses a picture that needs more than the limit, before memory is allocated.
func (b *budget) check(h *header, need int64) error {
	if !b.hard || need <= b.limit {
		return nil
	}
	return fmt.Errorf("%w: the picture of %d×%d needs about %s of memory, the limit is %s (raise --memory)",
		errTooLarge, h.width, h.height, mebibytes(need), mebibytes(b.limit))
}

// mebibytes writes a number of bytes in MiB, rounded up.
func mebibytes(n int64) string { return fmt.Sprintf("%d MiB", (n+1<<20-1)>>20) }

// reserve counts need bytes for a picture. Of these, pix bytes are for its pixels, for
// which the pool may have a buffer already. If there is too little room, reserve drops
// buffers of the pool and collects the garbage of earlier pictures.
func (b *budget) reserve(need, pix int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held += need
	b.garbage += b.pool.keep(max(b.room-b.held+pix, 0))
	if b.garbage > 0 && b.held+b.garbage > b.room {
		runtime.GC() // pixels hold no pointers: this takes a millisecond or so
		b.garbage = 0
	}
}

// release ends a reservation of need bytes. Of these, kept bytes stay in the pool.
func (b *budget) release(need, kept int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held -= need
	b.garbage += max(need-kept, 0)
}

// encodeBytes is the approximate number of bytes that writing a picture takes.
func encodeBytes(f Format, w, h int64) int64 {
	n := 40*w + 2<<20 // a few rows, and the compressor
	if f == TIFF {
		n += 12 * w * h // its writer keeps the compressed pixels, in a buffer that grows by doubling
	}
	return n
}

// decodeBytes is the approximate number of bytes that the decoders of package image hold for
// a picture. It includes their result, but not the picture that the result is converted to.
func (s *source) decodeBytes(format string, m color.Model, w, h int64, j jpegInfo) int64 {
	const room = 1 << 20 // tables and rows
	switch format {
	case "jpeg":
		return int64(j.bytesPerPixel(m)*float64((w+31)&^15)*float64((h+31)&^15)) + room
	case "png":
		per := storedBytes(m)
		interlaced, transparent := s.scanPNG()
		if _, palette := m.(color.Palette); transparent && !palette {
			per = 4
			if m == color.Gray16Model || m == color.RGBA64Model {
				per = 8
			}
		}
		if interlaced { // the passes are pictures of their own, as large in all
			per *= 2
		}
		return int64(per)*w*h + 20*w + room
	}
	return int64(storedBytes(m))*w*h + room
}

// storedBytes is how many bytes a pixel takes in the picture a decoder returns.
func storedBytes(m color.Model) int {
	switch m {
	case color.RGBA64Model, color.NRGBA64Model:
		return 8
	case color.YCbCrModel:
		return 3
	case color.GrayModel:
		return 1
	case color.Gray16Model:
		return 2
	}
	if _, ok := m.(color.Palette); ok {
		return 1
	}
	return 4
}

// scanPNG walks the chunks of a PNG file up to its pixels.
func (s *source) scanPNG() (interlaced, transparent bool) {
	var ihdr [29]byte
	if _, err := s.ReadAt(ihdr[:], 0); err != nil {
		return false, false
	}
	interlaced = ihdr[28] != 0
	for at := int64(8); ; {
		var head [8]byte
		if _, err := s.ReadAt(head[:], at); err != nil || string(head[4:]) == "IDAT" {
			return interlaced, transparent
		}
		transparent = transparent || string(head[4:]) == "tRNS"
		at += 12 + int64(binary.BigEndian.Uint32(head[:]))
	}
}

// jpegInfo has the facts from the segments of a JPEG file.
type jpegInfo struct {
	exif        []byte // the EXIF block, nil if there is none
	progressive bool
	coding      byte    // the marker of the frame, 0xc0 to 0xcf
	depth       byte    // bits a sample
	parts       int     // colour components
	samples     float64 // of all components, a pixel
}

// frame reads the frame's header from r.
func (j *jpegInfo) frame(r io.Reader, marker byte, size int64) {
	var b [6 + 3*4]byte
	n, _ := io.ReadFull(r, b[:min(size, int64(len(b)))])
	if n < 6 {
		return
	}
	j.coding, j.progressive, j.depth, j.parts = marker, marker == 0xc2, b[0], int(b[5])
	var most, first, sum int
	for i := 6; i+3 <= n; i += 3 {
		area := int(b[i+1]>>4) * int(b[i+1]&15)
		if i == 6 {
			first = area
		}
		most, sum = max(most, area), sum+area
	}
	j.samples = float64(j.parts)
	if first == most && most > 0 && j.parts < 4 { // else the decoder widens all to the same size
		j.samples = float64(sum) / float64(most)
	}
}

// bytesPerPixel is the number of bytes that the decoder holds for a pixel: the planes, the
// picture that it makes of them, and for a progressive picture all coefficients until the
// last scan.
func (j *jpegInfo) bytesPerPixel(m color.Model) float64 {
	n := max(j.samples, 1)
	if j.progressive {
		n *= 5
	}
	if m == color.CMYKModel || m == color.RGBAModel {
		n += 4
	}
	return n
}

// unread names a feature of the file that the decoder does not read, or "".
func (j *jpegInfo) unread() string {
	switch {
	case j.coding == 0xc3 || j.coding == 0xc7 || j.coding == 0xcb || j.coding == 0xcf:
		return "lossless compression"
	case j.coding >= 0xc9:
		return "arithmetic coding"
	case j.coding >= 0xc5:
		return "hierarchical compression"
	case j.depth > 8:
		return fmt.Sprintf("%d bits a sample", j.depth)
	}
	return ""
}
