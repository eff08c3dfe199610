//go:build !novk && cgo

package vk

/*
#include <stdlib.h>
#include "compile.h"
*/
import "C"

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"unsafe"

	"github.com/lathe-gpu/lathe/internal/spv"
)

// A cache file has cacheMagic, the key, the SHA-256 of the driver's data, and the data.
// Any other file is replaced. Drivers trust their data, so data that does not match its
// checksum never reaches a driver.
const (
	cacheMagic = "lathepc1"
	cacheMost  = 64 << 20 // bytes of a file that are read
	cacheHead  = len(cacheMagic) + 2*sha256.Size
)

// diskCache is the folder of compiled pipelines. Without a folder there is no cache. A
// failure of the cache is not an error: it costs only a compilation.
type diskCache struct{ dir string }

func openCache(opts Options) diskCache {
	switch {
	case opts.NoCache:
		return diskCache{}
	case opts.CacheDir != "":
		return diskCache{opts.CacheDir}
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return diskCache{}
	}
	return diskCache{filepath.Join(base, "lathe", "pipelines")}
}

// cacheEntry is the driver's cache for one pipeline, and the file in which it is kept.
// The zero entry means no cache, as a zero handle does in Vulkan.
type cacheEntry struct {
	handle C.lvk_handle
	path   string
	key    [sha256.Size]byte
	loaded bool // the entry began with data
}

// load makes the cache entry of a module, with the data of its file if there is one.
func (c *diskCache) load(d *Device, m *spv.Module) cacheEntry {
	if c.dir == "" {
		return cacheEntry{}
	}
	e := cacheEntry{key: cacheKey(&d.phys, m)}
	e.path = filepath.Join(c.dir, hex.EncodeToString(e.key[:16])+".bin")
	data := readCache(e.path, e.key)
	var p unsafe.Pointer
	if len(data) > 0 {
		p = C.CBytes(data)
		defer C.free(p)
		e.loaded = true
	}
	err := call("vkCreatePipelineCache", func() C.int32_t { return C.lvk_cache(d.fn, p, C.size_t(len(data)), &e.handle) })
	if err != nil {
		return cacheEntry{}
	}
	objects.caches.Add(1)
	return e
}

func cacheKey(p *physical, m *spv.Module) [sha256.Size]byte {
	h := sha256.New()
	h.Write(p.info.UUID[:])
	h.Write(p.cacheID[:])
	binary.Write(h, binary.LittleEndian, []uint32{p.info.Vendor, p.driver, p.version})
	io.WriteString(h, p.info.Driver)
	h.Write(m.Hash[:])
	return [sha256.Size]byte(h.Sum(nil))
}

// readCache returns the driver's data in a cache file, or nil.
func readCache(path string, key [sha256.Size]byte) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	all, err := io.ReadAll(io.LimitReader(f, cacheMost))
	if err != nil || len(all) < cacheHead || string(all[:len(cacheMagic)]) != cacheMagic {
		return nil
	}
	rest := all[len(cacheMagic):]
	data := rest[2*sha256.Size:]
	sum := sha256.Sum256(data)
	if !bytes.Equal(rest[:sha256.Size], key[:]) || !bytes.Equal(rest[sha256.Size:2*sha256.Size], sum[:]) {
		return nil
	}
	return data
}

// writeCache stores data. Other processes may share the folder, and see either the old
// file or all of the new one.
func writeCache(path string, key [sha256.Size]byte, data []byte) {
	dir := filepath.Dir(path)
	if os.MkdirAll(dir, 0o755) != nil {
		return
	}
	f, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return
	}
	sum := sha256.Sum256(data)
	_, err = f.Write(bytes.Join([][]byte{[]byte(cacheMagic), key[:], sum[:], data}, nil))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
}

// save stores what the driver put into the entry, unless the entry began with data. Such
// data is never stale, because the key has all that it depends on. And some drivers add
// to it without end (SwiftShader 32 bytes each time).
func (e *cacheEntry) save(d *Device) {
	if e.handle == 0 || e.loaded {
		return
	}
	var size C.size_t
	err := call("vkGetPipelineCacheData", func() C.int32_t { return C.lvk_cache_data(d.fn, e.handle, &size, nil) })
	if err != nil || size == 0 || size > cacheMost-C.size_t(cacheHead) {
		return
	}
	p := C.malloc(size)
	defer C.free(p)
	err = call("vkGetPipelineCacheData", func() C.int32_t { return C.lvk_cache_data(d.fn, e.handle, &size, p) })
	if err != nil {
		return
	}
	writeCache(e.path, e.key, C.GoBytes(p, C.int(size)))
}

func (e *cacheEntry) close(d *Device) {
	if e.handle != 0 {
		C.lvk_cache_destroy(d.fn, e.handle)
		objects.caches.Add(-1)
	}
}
