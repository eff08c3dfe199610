package spirv_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lathe-gpu/lathe/abi"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/spirv"
)

func TestNamesAndModules(t *testing.T) {
	names := spirv.Names()
	if len(names) == 0 || !slices.IsSorted(names) {
		t.Fatalf("names %q: want some, sorted", names)
	}
	for _, n := range names {
		m, err := spirv.Module(n)
		if err != nil {
			t.Errorf("%s: %v", n, err)
			continue
		}
		if m.Name != n {
			t.Errorf("%s: Module.Name is %q", n, m.Name)
		}
		if line := fmt.Sprintf("\n%s spv:%x ", n, m.Hash); !strings.Contains(spirv.Sums(), line) {
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

// The two roads to a module, for all kernels: what is done for foreign SPIR-V,
// and what is done for these.
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
