package batch

import (
	"image"
	"slices"
	"sync"
)

// pool keeps pixel buffers for the next picture: fresh pages cost more than
// the pixels put in them.
type pool struct {
	mu   sync.Mutex
	free [][]byte // by rising capacity
}

// get returns a picture of the size whose pixels are whatever they were.
func (p *pool) get(w, h int) *image.NRGBA {
	n := 4 * w * h
	p.mu.Lock()
	defer p.mu.Unlock()
	i, _ := slices.BinarySearchFunc(p.free, n, func(b []byte, n int) int { return cap(b) - n })
	var pix []byte
	if i < len(p.free) && cap(p.free[i]) <= 2*n {
		pix = p.free[i][:n]
		p.free = slices.Delete(p.free, i, i+1)
	} else {
		// No match: what is kept does not suit today's pictures, so let it go
		// rather than hold both.
		p.free = nil
		pix = make([]byte, n)
	}
	return &image.NRGBA{Pix: pix, Stride: 4 * w, Rect: image.Rect(0, 0, w, h)}
}

// put gives a picture's pixels back.
func (p *pool) put(m *image.NRGBA) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i, _ := slices.BinarySearchFunc(p.free, cap(m.Pix), func(b []byte, n int) int { return cap(b) - n })
	p.free = slices.Insert(p.free, i, m.Pix[:0])
}

// keep lets go of buffers, the largest first, until those left take no more
// than limit bytes. It returns how many bytes it let go.
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
