package cpu

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/lathe-gpu/lathe/cpu/internal/compile"
	"github.com/lathe-gpu/lathe/internal/spv"
)

// TestModuleCache checks that a kernel is compiled once for each version of the compiler, and
// again if its file is damaged or cannot be made.
func TestModuleCache(t *testing.T) {
	dir := t.TempDir()
	runs := func(version, dir string, want int) {
		t.Helper()
		n := 0
		d := openUnclosed(t, Options{CacheDir: dir, version: version, translate: func(m *spv.Module) (*compile.Kernel, error) {
			n++
			return compile.Compile(m)
		}})
		if err := work(t, d); err != nil {
			t.Error(err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if n != want {
			t.Errorf("version %q: compiled %d times, want %d", version, n, want)
		}
	}
	if cacheDir(&Options{CacheDir: dir}) == "" { // in a browser
		runs("v1", dir, 1)
		runs("v1", dir, 1)
		return
	}
	runs("v1", dir, 1)
	runs("v1", dir, 0)
	runs("v2", dir, 1)
	runs("", dir, 1)
	files, err := filepath.Glob(filepath.Join(dir, "lathe-v1", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %v, error %v, want one file", files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	flipped := append([]byte(nil), data...)
	flipped[len(flipped)/2] ^= 1
	for _, damaged := range [][]byte{nil, []byte("something else"), data[:len(data)/2], flipped, append(data[:len(data):len(data)], 0)} {
		if err := os.WriteFile(files[0], damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		runs("v1", dir, 1)
		runs("v1", dir, 0)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	runs("v1", filepath.Join(file, "below"), 1)
}

// TestVersionOf wants a version only where it tells the source code.
func TestVersionOf(t *testing.T) {
	const path = "github.com/lathe-gpu/lathe"
	other := debug.Module{Path: "example.com/program", Version: "v1.0.0"}
	for _, c := range []struct {
		main debug.Module
		dep  *debug.Module
		want string
	}{
		{main: debug.Module{Path: path, Version: "v0.3.0"}, want: "v0.3.0"},
		{main: debug.Module{Path: path, Version: "v0.0.0-20260101000000-0123456789ab"}, want: "v0.0.0-20260101000000-0123456789ab"},
		{main: debug.Module{Path: path, Version: "v0.0.0-20260101000000-0123456789ab+dirty"}},
		{main: debug.Module{Path: path, Version: "(devel)"}},
		{main: debug.Module{Path: path}},
		{main: other},
		{main: other, dep: &debug.Module{Path: path, Version: "v0.3.0"}, want: "v0.3.0"},
		{main: other, dep: &debug.Module{Path: path, Version: "v0.3.0", Replace: &debug.Module{Path: "../lathe"}}},
	} {
		info := &debug.BuildInfo{Main: c.main}
		if c.dep != nil {
			info.Deps = []*debug.Module{c.dep}
		}
		if got := versionOf(info); got != c.want {
			t.Errorf("%+v, %+v: got %q, want %q", c.main, c.dep, got, c.want)
		}
	}
}
