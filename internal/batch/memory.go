package batch

import (
	"fmt"
	"runtime"
	"sync"

	"github.com/lathe-gpu/lathe/imageio"
)

// budget divides the memory for pixels among the pictures.
type budget struct {
	limit int64
	share int64 // Options.ComputingShare
	room  int64 // the bytes of it for pictures
	hard  bool  // a picture that needs more than room is refused; otherwise it is processed alone
	pool  pool

	mu      sync.Mutex
	held    int64 // the bytes of pictures in work
	garbage int64 // at most the bytes of finished pictures that are not collected yet
}

// check refuses a picture that needs more than the limit, before memory is allocated.
func (b *budget) check(h imageio.Info, need int64) error {
	if !b.hard || need <= b.limit {
		return nil
	}
	if b.share > 1 { // Of a higher limit, the Processor takes more too.
		need = (need-b.limit/b.share)*b.share/(b.share-1) + 1
	}
	return fmt.Errorf("%w: the picture of %d×%d needs about %s of memory, the limit is %s (raise --memory)",
		imageio.ErrTooLarge, h.Width, h.Height, mebibytes(need), mebibytes(b.limit))
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
func encodeBytes(f imageio.Format, like imageio.Info, deep, progressive bool, w, h int64) int64 {
	n := 40*w + 2<<20 // a few rows, and the compressor
	size := w * h
	if deep {
		size *= 2
	}
	if like.Grey || like.Palette > 0 {
		n += size // the pixels as greys or numbers
	}
	if like.Grey && (f == imageio.PNG || f == imageio.TIFF) {
		n += size // alpha, or the pixels as numbers first
	}
	if f == imageio.WebP {
		// Lossless: the pixels, what is found of them before, and what is written. Lossy is less.
		return 40*w + 2<<20 + 28*w*h
	}
	if f == imageio.GIF {
		n += 10 * w * h // the colours wanted and shown, and their numbers twice
	}
	if f == imageio.AVIF {
		return n + 40*(w+320)*(h+320) + 64<<20 // the codec, which has the pixels too
	}
	if f == imageio.JPEG && progressive {
		n += 6 * (w + 16) * (h + 16)
	}
	if f == imageio.PNG && deep {
		n += 4 * w * h // its writer leaves eight bytes of garbage a pixel, of which a part is collected
	}
	if f == imageio.TIFF {
		n += 4*size + size/64 + 3<<20 // its writer keeps the compressed pixels
	}
	return n
}

// metadataBytes is the number of bytes of a picture's metadata.
func metadataBytes(m *imageio.Metadata) int64 {
	if m == nil {
		return 0
	}
	return int64(len(m.EXIF) + len(m.XMP) + len(m.IPTC) + len(m.ICC))
}
