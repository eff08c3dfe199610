package spirv_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lathe-gpu/lathe/internal/abi"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/extra"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/spirv"
)

// every returns all kernels by name, including those of no operation.
func every(t testing.TB) map[string]*spv.Module {
	t.Helper()
	all := map[string]*spv.Module{}
	for _, set := range []struct {
		names  []string
		module func(string) (*spv.Module, error)
	}{{spirv.Names(), spirv.Module}, {extra.Names(), extra.Module}} {
		for _, n := range set.names {
			m, err := set.module(n)
			if err != nil {
				t.Fatal(err)
			}
			if all[n] != nil {
				t.Errorf("%s is a kernel of spirv and of extra", n)
			}
			all[n] = m
		}
	}
	return all
}

// TestOnlyOperations checks that a user's program does not embed a kernel that belongs to no operation.
func TestOnlyOperations(t *testing.T) {
	for _, n := range spirv.Names() {
		if strings.HasPrefix(n, "test/") || strings.HasPrefix(n, "demo/") {
			t.Errorf("%s belongs into package extra", n)
		}
	}
	if m, err := extra.Module("nn/none.f32"); m != nil || !errors.Is(err, errs.ErrInvalidArgument) {
		t.Errorf("unknown: %v, %v", m, err)
	}
}

// TestDeclared checks that Declared returns what the module says, as far as it is in the
// ABI text.
func TestDeclared(t *testing.T) {
	for _, n := range spirv.Names() {
		m, err := spirv.Module(n)
		if err != nil {
			t.Fatal(err)
		}
		d, err := spirv.Declared(n)
		if err != nil {
			t.Fatal(err)
		}
		have, want := abi.Table{Kernels: []abi.TableKernel{abi.NewTableKernel(d)}}, abi.Table{Kernels: []abi.TableKernel{abi.NewTableKernel(m)}}
		if have.Text() != want.Text() {
			t.Errorf("declared\n%swant\n%s", have.Text(), want.Text())
		}
	}
	if m, err := spirv.Declared("nn/none.f32"); m != nil || !errors.Is(err, errs.ErrInvalidArgument) {
		t.Errorf("unknown: %v, %v", m, err)
	}
}

// TestUsable checks the error for a kernel that a plan cannot use.
func TestUsable(t *testing.T) {
	name := spirv.Names()[0]
	if _, err := spirv.Module(name); err != nil { // links its folder
		t.Fatal(err)
	}
	if err := spirv.Usable(name); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	if err := spirv.Usable("nn/none.f32"); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Errorf("unknown: %v", err)
	}
}

func TestNamesAndModules(t *testing.T) {
	sums, err := os.ReadFile("spirv.sum")
	if err != nil {
		t.Fatal(err)
	}
	names := spirv.Names()
	if len(names) == 0 || !slices.IsSorted(names) || !slices.IsSorted(extra.Names()) || len(extra.Names()) == 0 {
		t.Fatalf("names %q and %q: want some, sorted", names, extra.Names())
	}
	for n, m := range every(t) {
		if m.Name != n {
			t.Errorf("%s: Module.Name is %q", n, m.Name)
		}
		if line := fmt.Sprintf("\n%s spv:%x ", n, m.Hash); !strings.Contains(string(sums), line) {
			t.Errorf("%s: spirv.sum does not have its hash", n)
		}
		if m.ParamSize > 128 {
			t.Errorf("%s: %d bytes of push constants (want at most 128, which every device has)", n, m.ParamSize)
		}
	}
	names[0] = "changed"
	if spirv.Names()[0] == "changed" {
		t.Error("Names returns its own slice")
	}
}

func TestModuleIsSharedAndConcurrent(t *testing.T) {
	name := spirv.Names()[0]
	var wg sync.WaitGroup
	got := make([]*spv.Module, 16)
	for i := range got {
		wg.Go(func() { got[i], _ = spirv.Module(name) })
	}
	wg.Wait()
	for _, m := range got {
		if m == nil || m != got[0] {
			t.Fatalf("calls gave different modules: %p and %p", m, got[0])
		}
	}
}

func TestModuleUnknown(t *testing.T) {
	for _, name := range []string{"", "image", "nn/none.f32", "../abi.txt", "image/../test/gputest_add.f32"} {
		if _, err := spirv.Module(name); !errors.Is(err, errs.ErrInvalidArgument) || !strings.Contains(err.Error(), fmt.Sprintf("%q", name)) {
			t.Errorf("Module(%q): error %v, want ErrInvalidArgument with the name", name, err)
		}
	}
}

func TestFingerprintIsOfTheText(t *testing.T) {
	first, text, ok := strings.Cut(spirv.ABIText(), "\n")
	if want := abi.Fingerprint(text); !ok || spirv.Fingerprint() != want || first != fmt.Sprintf("fingerprint %016x", want) {
		t.Errorf("fingerprint %016x, first line %q; the text gives %016x", spirv.Fingerprint(), first, want)
	}
}

// BenchmarkAll measures for all kernels both ways from SPIR-V to a module: Parse, which
// foreign SPIR-V takes, and Reflect, which Lathe's kernels take.
func BenchmarkAll(b *testing.B) {
	for what, f := range map[string]func(string, []byte) (*spv.Module, error){"Parse": spv.Parse, "Reflect": spv.Reflect} {
		b.Run(what, func(b *testing.B) {
			for b.Loop() {
				n := int64(0)
				for _, name := range spirv.Names() {
					m, err := spirv.Module(name)
					if err != nil {
						b.Fatal(err)
					}
					if _, err := f(name, m.Code); err != nil {
						b.Fatal(err)
					}
					n += int64(len(m.Code))
				}
				b.SetBytes(n)
			}
		})
	}
}
