//go:build !js

package cpu

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestDiskCache checks that machine code is kept in the folder, and that a damaged file
// costs only a compilation.
func TestDiskCache(t *testing.T) {
	if !compiles() {
		return // there is nothing to keep
	}
	dir := t.TempDir()
	run := func() {
		t.Helper()
		d := openUnclosed(t, Options{CacheDir: dir})
		if err := work(t, d); err != nil {
			t.Error(err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		runtime.GC() // the code in memory goes with the last device
	}
	run()
	files := func() []string {
		list, _ := filepath.Glob(filepath.Join(dir, "wazero-*", "*"))
		return list
	}
	if len(files()) == 0 {
		t.Fatalf("no files; the engine is %s", driverName())
	}
	for _, damage := range []func(old []byte) []byte{
		func(old []byte) []byte { return old },
		func(old []byte) []byte { return nil },
		func(old []byte) []byte { return []byte("something else") },
		func(old []byte) []byte { return old[:len(old)/2] },
		func(old []byte) []byte { old[len(old)/2] ^= 1; return old },
	} {
		for _, f := range files() {
			old, err := os.ReadFile(f)
			if err == nil {
				err = os.WriteFile(f, damage(old), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		run()
	}
	if err := os.RemoveAll(dir); err != nil { // while the cache is in use
		t.Fatal(err)
	}
	run()
	// A folder that cannot be made is no error.
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(file, "below")
	run()
}

// TestCacheDir checks where machine code is kept.
func TestCacheDir(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	if dir := cacheDir(&Options{}); !strings.HasSuffix(dir, filepath.Join("lathe", "kernels")) {
		t.Errorf("got %s", dir)
	}
	if dir := cacheDir(&Options{CacheDir: "x"}); dir != "x" {
		t.Errorf("got %s", dir)
	}
	if dir := cacheDir(&Options{CacheDir: "x", NoCache: true}); dir != "" {
		t.Errorf("got %s", dir)
	}
}
