//go:build !novk && cgo

package vk

/*
#include "import.h"
*/
import "C"

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/lathe-gpu/lathe/gpu"
)

// imported is memory of the host that a buffer was made of.
type imported struct {
	vk  C.lvk_import
	pin runtime.Pinner
}

// Import makes a buffer of data itself, without a copy: see gpu.Importer. CPU drivers
// with VK_EXT_external_memory_host can do it, for memory that begins on a page. Every
// large Go slice does.
// Errors: ErrUnsupported if the device cannot import this memory; ErrOutOfMemory.
func (d *Device) Import(data []byte) (h gpu.Handle, err error) {
	if err := d.begin(); err != nil {
		return 0, err
	}
	defer d.life.End(&err)
	align := uint64(d.phys.query.hostAlign)
	refuse := func(why string) (gpu.Handle, error) {
		return 0, fmt.Errorf("vk: import: %w: %s", gpu.ErrUnsupported, why)
	}
	switch size := uint64(len(data)); {
	case d.phys.info.Kind != gpu.CPU || !d.pool.kind.mapped || align == 0:
		return refuse("the device does not work in memory of the host")
	case size == 0 || size%4 != 0 || align > pageBytes || uint64(uintptr(unsafe.Pointer(&data[0])))%align != 0:
		return refuse("the memory must begin on a page and be whole words")
	case int64(size) > d.phys.info.Limits.MaxBuffer:
		return refuse("it is larger than a buffer may be")
	}
	m := &imported{}
	m.pin.Pin(&data[0])
	// The import ends with the last page. The system maps memory by pages, so the bytes
	// after data exist, and no binding reaches them.
	size := (uint64(len(data)) + align - 1) / align * align
	err = call("vkAllocateMemory", func() C.int32_t {
		return C.lvk_import_host(d.fn, unsafe.Pointer(&data[0]), C.uint64_t(size), C.uint32_t(bufferUsage), &m.vk)
	})
	if err != nil {
		m.pin.Unpin()
		return 0, err
	}
	objects.buffers.Add(1)
	objects.memories.Add(1)
	n := int64(len(data))
	b := &buffer{size: n, room: n, host: m, block: &block{size: n, data: data[:n:n]}}
	*(*C.lvk_handle)(unsafe.Pointer(&b.block.buffer)) = m.vk.buffer
	if h, err = d.table.Add(b); err != nil {
		d.release(b)
		return 0, err
	}
	return h, nil
}

// pageBytes is the least size of a page of memory on any system.
const pageBytes = 4096

// freeImported undoes Import. Nothing uses the buffer any more.
func (d *Device) freeImported(m *imported) {
	C.lvk_import_free(d.fn, &m.vk)
	objects.buffers.Add(-1)
	objects.memories.Add(-1)
	m.pin.Unpin()
}
