//go:build !novk && cgo

package vk

/*
#include "batch.h"
*/
import "C"

// maxViews is how many texel views of one buffer are kept.
const maxViews = 32

// The formats of texel views: RGBA32 as UINT, SINT, SFLOAT.
const (
	formatUint  = 107
	formatInt   = 108
	formatFloat = 109
)

// texelFormat is the format for a binding of reflected type t.
func texelFormat(t string) uint32 {
	switch t {
	case "u32":
		return formatUint
	case "i32":
		return formatInt
	}
	return formatFloat
}

// view is a texel view of a range of a buffer.
type view struct {
	span   span
	format uint32
	handle C.lvk_handle
	used   uint64 // the number of the last batch that uses it
}

// viewOf returns a texel view of a range of b, for use in batch seq.
func (d *Device) viewOf(b *buffer, s span, format uint32, seq uint64) (C.lvk_handle, error) {
	for i := range b.views {
		if v := &b.views[i]; v.span == s && v.format == format {
			v.used = seq
			return v.handle, nil
		}
	}
	h, err := d.makeView(b, s, format)
	if err != nil {
		return 0, err
	}
	v := view{span: s, format: format, handle: h, used: seq}
	if len(b.views) >= maxViews {
		// Replace the view that was not used for longest, if the device is done with it.
		old := &b.views[0]
		for i := range b.views {
			if b.views[i].used < old.used {
				old = &b.views[i]
			}
		}
		if old.used <= d.done {
			d.destroyView(old.handle)
			*old = v
			return v.handle, nil
		}
	}
	b.views = append(b.views, v)
	return v.handle, nil
}

// makeView makes a texel view of a range of b.
func (d *Device) makeView(b *buffer, s span, format uint32) (h C.lvk_handle, err error) {
	err = call("vkCreateBufferView", func() C.int32_t {
		return C.lvk_view(d.fn, C.lvk_handle(b.block.id()), C.uint32_t(format), C.uint64_t(b.off+s.off), C.uint64_t(s.size), &h)
	})
	if err == nil {
		objects.views.Add(1)
	}
	return h, err
}

func (d *Device) destroyView(h C.lvk_handle) {
	C.lvk_view_destroy(d.fn, h)
	objects.views.Add(-1)
}

func (d *Device) dropViews(b *buffer) {
	for _, v := range b.views {
		d.destroyView(v.handle)
	}
	b.views = nil
}
