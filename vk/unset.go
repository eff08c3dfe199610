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

// A buffer is zero when it is made, but its memory is not: it is zeroed late, when the
// first dispatch uses the buffer, and no more of it than that needs. What a list of
// dispatches overwrites, as gpu.Binding.Discard says, is not zeroed at all.

// clearNow is the most bytes that are cleared with the device locked.
const clearNow = 4096

// common is what two spans have in common.
func (s span) common(t span) span {
	off, end := max(s.off, t.off), min(s.end(), t.end())
	if end <= off {
		return span{}
	}
	return span{off, end - off}
}

// without is what is left of a span without another: at most a part before and one after.
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

// discarded is the range that need not be zeroed of the buffer of the first use: what
// that use and those after it overwrite. It leaves out the padding, and is not more than
// one range.
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

// clearFor zeroes what nothing has written of the buffer of the first use, which is
// mapped, but for what the uses overwrite. It reports whether it released the lock.
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

// fill makes sure that a buffer holds zeros, on behalf of a dispatch with the tag or of
// none, where nothing has written it and nothing will: the commands that the current
// batch gets next overwrite the range keep. If the batch fails, all that is as before.
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

// unsetRange is what was unset of a buffer before a batch.
type unsetRange struct {
	buf  *buffer
	span span
}

// restore makes ranges unset again that a batch which has failed was to write.
func (b *batch) restore() {
	for _, r := range b.unset {
		r.buf.unset = r.span
	}
}
