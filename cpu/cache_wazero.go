//go:build !js

package cpu

import (
	"os"
	"path/filepath"
	"sync"

	"github.com/tetratelabs/wazero"
)

// caches has the machine code of kernels, by the folder in which it is kept. Devices share
// it. The code of a kernel stays in memory as long as a device has the kernel.
var caches struct {
	sync.Mutex
	byDir map[string]wazero.CompilationCache
}

// cacheDir is the folder in which machine code is kept, or "" for memory only.
func cacheDir(o *Options) string {
	switch {
	case o.NoCache:
		return ""
	case o.CacheDir != "":
		return o.CacheDir
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(base, "lathe", "kernels")
}

// openCache returns the cache of a folder, and the folder. If it cannot be used, the cache
// is in memory only: a failure of the cache is not an error.
func openCache(dir string) (wazero.CompilationCache, string) {
	caches.Lock()
	defer caches.Unlock()
	if dir != "" {
		if c := caches.byDir[dir]; c != nil {
			return c, dir
		}
		if c, err := wazero.NewCompilationCacheWithDir(dir); err == nil && writable(dir) {
			return keep(dir, c), dir
		}
	}
	if c := caches.byDir[""]; c != nil {
		return c, ""
	}
	return keep("", wazero.NewCompilationCache()), ""
}

// keep remembers a cache. The caller holds the lock.
func keep(dir string, c wazero.CompilationCache) wazero.CompilationCache {
	if caches.byDir == nil {
		caches.byDir = map[string]wazero.CompilationCache{}
	}
	caches.byDir[dir] = c
	return c
}

// cacheFolders are the folders that the engine has made in dir, one for each version.
func cacheFolders(dir string) []string {
	list, _ := filepath.Glob(filepath.Join(dir, "wazero-*")) // the pattern is valid
	return list
}

// writable reports whether files can be made in the folders of dir.
func writable(dir string) bool {
	for _, folder := range cacheFolders(dir) {
		f, err := os.CreateTemp(folder, ".new-*")
		if err != nil {
			return false
		}
		f.Close()
		os.Remove(f.Name())
	}
	return true
}
