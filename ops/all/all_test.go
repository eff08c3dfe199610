package all

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/abi"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
)

// TestFingerprint compares all declarations with the bundle of shaders at once, and then each.
func TestFingerprint(t *testing.T) {
	ops := spec.All()
	table, err := spec.Table(ops, spirv.Names(), spirv.Declared)
	if err != nil {
		t.Fatal(err)
	}
	if have := abi.Fingerprint(table.Text()); have != spirv.Fingerprint() {
		t.Errorf("the declarations give %016x, the shaders were built for %016x", have, spirv.Fingerprint())
	}
	for _, op := range ops {
		if err := spec.VerifyABI(op, spirv.Operation(op.Name), spirv.Declared); err != nil {
			t.Error(err)
		}
	}
}

// TestEveryDeclaration counts the declarations in the source.
func TestEveryDeclaration(t *testing.T) {
	n := 0
	for _, pattern := range []string{"../*.go", "../../imageops/*.go"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			src, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(path, "_test.go") {
				n += strings.Count(string(src), "spec.Declaration{")
			}
		}
	}
	if got := len(spec.All()); n != got || n == 0 {
		t.Errorf("%d operations are registered, %d are declared", got, n)
	}
}
