package batch

import (
	"image"
	"image/draw"
	"slices"
	"sync"
)

// pool keeps pixel buffers for the next picture, because fresh pages cost more than writing
// the pixels.
type pool struct {
	mu   sync.Mutex
	free [][]byte // in order of capacity, the smallest first
}

// get returns a picture of the given size, with 16 bits a channel if deep is set. Its pixels have any
// values.
func (p *pool) get(w, h int, deep bool) draw.Image {
	r := image.Rect(0, 0, w, h)
	if deep {
		return &image.NRGBA64{Pix: p.borrow(8 * w * h), Stride: 8 * w, Rect: r}
	}
	return &image.NRGBA{Pix: p.borrow(4 * w * h), Stride: 4 * w, Rect: r}
}

// bytesOf are the pixels of a picture that get has returned.
func bytesOf(m draw.Image) []byte {
	if m, ok := m.(*image.NRGBA64); ok {
		return m.Pix
	}
	return m.(*image.NRGBA).Pix
}

// borrow returns n bytes of any values.
func (p *pool) borrow(n int) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	i, _ := slices.BinarySearchFunc(p.free, n, func(b []byte, n int) int { return cap(b) - n })
	var pix []byte
	if i < len(p.free) && cap(p.free[i]) <= 2*n {
		pix = p.free[i][:n]
		p.free = slices.Delete(p.free, i, i+1)
	} else {
		// No buffer fits, so the pool has buffers of other sizes. They are dropped, because
		// keeping both would take too much memory.
		p.free = nil
		pix = make([]byte, n)
	}
	return pix
}

// put returns a picture's pixels to the pool.
func (p *pool) put(m draw.Image) {
	p.mu.Lock()
	defer p.mu.Unlock()
	pix := bytesOf(m)
	i, _ := slices.BinarySearchFunc(p.free, cap(pix), func(b []byte, n int) int { return cap(b) - n })
	p.free = slices.Insert(p.free, i, pix[:0])
}

// keep drops buffers, the largest first, until the rest takes no more than limit bytes. It
// returns how many bytes it dropped.
func (p *pool) keep(limit int64) (gone int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var sum int64
	for i, b := range p.free {
		if sum += int64(cap(b)); sum > limit {
			for _, b := range p.free[i:] {
				gone += int64(cap(b))
			}
			clear(p.free[i:])
			p.free = p.free[:i]
			break
		}
	}
	return gone
}
