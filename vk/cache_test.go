//go:build !novk && cgo

package vk

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/internal/testgpu"
	"github.com/lathe-gpu/lathe/internal/testkit"
)

// cacheFiles returns the files of a cache folder by name.
func cacheFiles(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	m := map[string][]byte{}
	for _, e := range entries {
		if m[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// runAffine opens a device with a cache folder and checks one dispatch on it.
func runAffine(t testing.TB, dir string) {
	t.Helper()
	d := openTest(t, Options{CacheDir: dir})
	defer d.Close()
	x, y := alloc(t, d, 1, 2, 3), alloc(t, d, 0, 0, 0)
	if err := d.Submit(dispatches(testgpu.Affine(testgpu.Kernel(t, testgpu.AffineKernel), x, y, 3, 10, 5))); err != nil {
		t.Fatal(err)
	}
	if got := testgpu.Read(t, d, y, 3); got[0] != 15 || got[1] != 25 || got[2] != 35 {
		t.Fatalf("got %v, want 15 25 35", got)
	}
}

func TestCacheFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	runAffine(t, dir)
	files := cacheFiles(t, dir)
	testkit.Ability(t, len(files) > 0, "the driver", "pipeline data to keep")
	if len(files) != 1 {
		t.Fatalf("%d files, want 1", len(files))
	}
	runAffine(t, dir)
	var name string
	var good []byte
	for name, good = range files {
		if now := cacheFiles(t, dir); len(now) != 1 || !bytes.Equal(now[name], good) {
			t.Errorf("a second run changed the cache")
		}
	}
	path := filepath.Join(dir, name)
	flipped := bytes.Clone(good)
	flipped[len(flipped)-1] ^= 1
	otherKey := bytes.Clone(good)
	otherKey[len(cacheMagic)] ^= 1
	for what, bad := range map[string][]byte{"empty": {}, "short": good[:20], "cut": good[:len(good)-1], "flipped bit": flipped,
		"another key": otherKey, "longer": append(bytes.Clone(good), 0), "junk": bytes.Repeat([]byte("junk"), 1000)} {
		if err := os.WriteFile(path, bad, 0o644); err != nil {
			t.Fatal(err)
		}
		if data := readCache(path, [32]byte(good[len(cacheMagic):])); data != nil {
			t.Errorf("%s: accepted", what)
		}
		runAffine(t, dir)
		if now := cacheFiles(t, dir); len(now) != 1 || readCache(path, [32]byte(good[len(cacheMagic):])) == nil {
			t.Errorf("%s: not rewritten: %d files", what, len(now))
		}
	}
}

// TestCacheUnusable gives folders that cannot be used: the only cost is that
// nothing is kept.
func TestCacheUnusable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	os.WriteFile(file, nil, 0o644)
	runAffine(t, file)                     // a file where the folder should be
	runAffine(t, filepath.Join(file, "x")) // below a file
	runAffine(t, "/proc/none/lathe")       // nothing can be created here
	dir := t.TempDir()
	runAffine(t, dir)
	for name := range cacheFiles(t, dir) { // folders where the files should be
		os.Remove(filepath.Join(dir, name))
		os.MkdirAll(filepath.Join(dir, name, "x"), 0o755)
	}
	runAffine(t, dir)
	for name := range cacheFiles(t, t.TempDir()) {
		t.Errorf("left behind: %s", name)
	}
	noObjects(t)
}

func TestCacheConcurrent(t *testing.T) {
	dir := t.TempDir()
	d := openTest(t, Options{CacheDir: dir})
	e := openTest(t, Options{CacheDir: dir})
	var wg sync.WaitGroup
	for _, d := range []*Device{d, e} {
		for _, name := range []string{testgpu.AffineKernel, testgpu.AddKernel, testgpu.AffineKernel, testgpu.AddKernel} {
			m := testgpu.Kernel(t, name)
			wg.Go(func() {
				if err := d.CompileModule(m); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	if n := objects.pipelines.Load(); n != 4 {
		t.Errorf("two devices, two kernels: got %d pipelines, want 4", n)
	}
	for name := range cacheFiles(t, dir) {
		if filepath.Ext(name) != ".bin" {
			t.Errorf("left behind: %s", name)
		}
	}
}

// TestCacheKey wants another file for anything that makes the data another.
func TestCacheKey(t *testing.T) {
	base := physical{driver: 1, version: 2}
	m := spv.Module{Hash: [32]byte{1}}
	seen := map[[32]byte]string{cacheKey(&base, &m): "base"}
	add := func(what string, p physical, m spv.Module) {
		k := cacheKey(&p, &m)
		if was, ok := seen[k]; ok {
			t.Errorf("%s has the key of %s", what, was)
		}
		seen[k] = what
	}
	p := base
	p.info.UUID[3] = 1
	add("device", p, m)
	p = base
	p.cacheID[3] = 1
	add("cache format", p, m)
	p = base
	p.driver++
	add("driver version", p, m)
	p = base
	p.info.Driver = "x"
	add("driver", p, m)
	add("shader", base, spv.Module{Hash: [32]byte{2}})
}
