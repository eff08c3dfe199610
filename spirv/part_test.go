package spirv_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/pack"
	"github.com/lathe-gpu/lathe/spirv"
)

// TestPart checks that each part is embedded as it was compiled, and that other names are errors.
func TestPart(t *testing.T) {
	spirv.LinkFused()
	files, err := filepath.Glob("*/*.spv")
	if err != nil {
		t.Fatal(err)
	}
	parts := 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.ToSlash(file), ".spv")
		if !pack.IsPart(name) {
			continue
		}
		parts++
		m, err := spirv.Part(name)
		if err != nil {
			t.Fatal(err)
		}
		if code, err := os.ReadFile(file); err != nil || !bytes.Equal(code, m.Code) || m.Foreign {
			t.Errorf("%s is not the module of its file (error %v)", name, err)
		}
		if _, err := spirv.Declared(name); err == nil {
			t.Errorf("%s is a kernel of the ABI text too", name)
		}
	}
	if parts < 200 {
		t.Errorf("%d parts, want more than 200", parts)
	}
	for _, name := range []string{"", "math/none.f32.function", "math/exp.f32", "fused/none", "none/exp.f32.function"} {
		if m, err := spirv.Part(name); m != nil || !errors.Is(err, errs.ErrInvalidArgument) {
			t.Errorf("%q: %v, error %v: want ErrInvalidArgument", name, m, err)
		}
	}
}
