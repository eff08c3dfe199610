package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe/internal/pack"
)

// Packed files are written where modules changed, left alone where they hold the same,
// and deleted with their shaders. Kernels of no operation have none.
func TestPacks(t *testing.T) {
	g, _ := repo(t, map[string]string{
		"spirv/nn/add.f32.spv": "abcd", "spirv/nn/add.f16.spv": "efghijkl", "spirv/nn/neg.spv": "mnop",
		"internal/extra/test/free.u32.spv": "qrst", "spirv/nn/old.pack": "orphan",
	})
	list := []kernel{{name: "nn/add.f32"}, {name: "nn/add.f16"}, {name: "nn/neg"}, {name: "test/free.u32"}}
	write := func(list []kernel) {
		t.Helper()
		if err := g.writePacks(list); err != nil {
			t.Fatal(err)
		}
		if stale, err := g.stalePacks(list); err != nil || len(stale) > 0 {
			t.Fatalf("stale after a write: %v, %v", stale, err)
		}
	}
	if stale, err := g.stalePacks(list); err != nil || len(stale) != 3 {
		t.Errorf("before the first write %v, %v: want two packed files missing and an orphan", stale, err)
	}
	write(list)
	files, err := g.files(".pack")
	if err != nil || !slices.Equal(files, []string{"spirv/nn/add.pack", "spirv/nn/neg.pack"}) {
		t.Fatalf("packed files %q, %v", files, err)
	}
	path := filepath.Join(g.root, "spirv/nn/add.pack")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	have, err := pack.Decode(data)
	if err != nil || len(have) != 2 || have[0].Name != "nn/add.f16" || string(have[0].Code) != "efghijkl" || string(have[1].Code) != "abcd" {
		t.Fatalf("unpacked %q, %v", have, err)
	}

	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	write(list)
	if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
		t.Errorf("a file that holds the same was written again (%v)", err)
	}
	if err := os.WriteFile(g.spv("nn/add.f32"), []byte("ABCD"), 0o666); err != nil {
		t.Fatal(err)
	}
	if stale, err := g.stalePacks(list); err != nil || len(stale) != 1 {
		t.Errorf("after a change of one module %v, %v", stale, err)
	}
	write(list)
	write(list[:2])
	if files, err := g.files(".pack"); err != nil || len(files) != 1 {
		t.Errorf("packed files %q, %v: want that of the shader deleted gone", files, err)
	}
}
