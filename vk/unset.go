//go:build !novk && cgo

package vk

/*
#include "batch.h"
*/
import "C"

import (
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/device"
)

// A new buffer counts as zero, but its memory has any values. The memory is zeroed when the
// first dispatch uses the buffer, and only as much of it as the dispatch needs. A range that a
// list of dispatches overwrites, as gpu.Binding.Discard says, is never zeroed.

// clearNow is the largest number of bytes that are cleared while the device is locked.
const clearNow = 4096

// common is the overlap of two spans.
func (s span) common(t span) span {
	off, end := max(s.off, t.off), min(s.end(), t.end())
	if end <= off {
		return span{}
	}
	return span{off, end - off}
}

// without is the rest of a span without another one: at most a part before and a part after.
func (s span) without(t span) []span {
	var parts []span
	if t = s.common(t); t.size == 0 {
		if s.size > 0 {
			parts = append(parts, s)
		}
		return parts
	}
	if n := t.off - s.off; n > 0 {
		parts = append(parts, span{s.off, n})
	}
	if n := s.end() - t.end(); n > 0 {
		parts = append(parts, span{t.end(), n})
	}
	return parts
}

// clear zeroes a range of a mapped buffer.
func (b *buffer) clear(s span) {
	device.Clear(b.block.data[b.off+s.off : b.off+s.end()])
}

// discarded is a range of the buffer of the first use that need not be zeroed, because that
// use and later ones overwrite it. It is one range, without the padding.
func discarded(uses []use) span {
	b, all := uses[0].buf, span{}
	for i := range uses {
		u := &uses[i]
		if u.buf != b {
			continue
		}
		if !u.discard || all.size > 0 && (u.span.off > all.end() || all.off > u.span.end()) {
			break
		}
		if all.size == 0 {
			all = u.span
		} else {
			all = hull(all, u.span)
		}
	}
	return all.common(span{0, b.size})
}

// clearFor zeroes the unwritten parts of the buffer of the first use, except for the range
// that the uses overwrite. The buffer is mapped. It reports whether it released the lock.
func (d *Device) clearFor(uses []use) (released bool) {
	b := uses[0].buf
	keep := b.unset.common(discarded(uses))
	parts := b.unset.without(keep)
	if n := b.unset.size - keep.size; n > clearNow {
		b.hostWrites = true
		d.life.Unlock()
		for _, s := range parts {
			b.clear(s)
		}
		d.life.Lock()
		b.hostWrites, released = false, true
		d.life.Changed.Broadcast()
	} else {
		for _, s := range parts {
			b.clear(s)
		}
	}
	b.unset = keep
	return released
}

// fill makes the unwritten parts of a buffer zero, except for the range keep, which the next
// commands of the current batch overwrite. tag is that of the dispatch that needs it, or 0. If
// the batch fails, these parts are unwritten again.
func (d *Device) fill(u *use, keep span, tag uint64) {
	b := u.buf
	if b.unset.size == 0 {
		return
	}
	d.rec.unset = append(d.rec.unset, unsetRange{b, b.unset})
	parts := b.unset.without(keep)
	b.unset = span{}
	for _, s := range parts {
		end := s.end()
		s.off &^= 3 // a command fills whole words; the word before is overwritten later
		s.size = end - s.off
		w := []use{{handle: u.handle, buf: b, span: s, write: true}}
		barrier := d.touch(&w[0])
		d.rec.cmds = append(d.rec.cmds, C.lvk_cmd{kind: C.LVK_FILL, barrier: d.mark(barrier, w), a: C.lvk_handle(b.block.id()),
			dst: C.uint64_t(b.off + s.off), size: C.uint64_t((s.size + 3) &^ 3)})
		d.rec.log.move(gpu.Fill, s.size, tag)
	}
}

// unsetRange is the range of a buffer that was unset before a batch.
type unsetRange struct {
	buf  *buffer
	span span
}

// restore makes ranges unset again, because the batch that should write them has failed.
func (b *batch) restore() {
	for _, r := range b.unset {
		r.buf.unset = r.span
	}
}
