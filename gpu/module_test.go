package gpu_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/extra"
)

// TestParseModule checks that a program which imports only gpu can parse a module, name
// its type and choose an entry point.
func TestParseModule(t *testing.T) {
	have, err := extra.Module("test/gputest_add.f32")
	if err != nil {
		t.Fatal(err)
	}
	code := have.Code
	names, err := gpu.ModuleEntries(code)
	if err != nil || !slices.Equal(names, []string{"main"}) {
		t.Fatalf("entry points %q, %v", names, err)
	}
	one, err := gpu.ModuleEntry(code, "main")
	if err != nil {
		t.Fatal(err)
	}
	var m *gpu.Module
	if m, err = gpu.ParseModule("sum", one); err != nil {
		t.Fatal(err)
	}
	if m.Name != "sum" || !m.Foreign || len(m.Bindings) != len(have.Bindings) || m.LocalSize != have.LocalSize {
		t.Errorf("parsed %+v, want what the bundle says: %+v", m, have)
	}
	if _, err := gpu.ModuleEntry(code, "other"); !errors.Is(err, gpu.ErrInvalidArgument) {
		t.Errorf("no entry point of that name: %v", err)
	}
	if _, err := gpu.ParseModule("half", code[:len(code)/2]); !errors.Is(err, gpu.ErrInvalidShader) {
		t.Errorf("half a module: %v", err)
	}
}
