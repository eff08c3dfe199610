package compile

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestNoWrongCode checks that no function has an instruction of which wazero v1.11.0 makes wrong
// code: remainders on arm64, and on amd64 those that it computes in several steps in a register
// of its own. docs/adr/0019 says more.
func TestNoWrongCode(t *testing.T) {
	wrong := regexp.MustCompile(`\b(I(32|64)Rem[SU]|V128Bitselect|I64x2Mul|(F32x4|F64x2)(Min|Max)|F(32|64)Copysign)\b`)
	for _, name := range []string{"wasm.I32RemS", "I64RemU", "V128Bitselect", "I64x2Mul", "F32x4Max", "F64x2Min", "F64Copysign"} {
		if !wrong.MatchString(name) {
			t.Fatalf("the pattern does not find %s", name)
		}
	}
	files := 0
	for _, dir := range []string{".", "..", "../..", "../vecmath"} {
		list, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range list {
			if strings.HasSuffix(f, "_test.go") {
				continue
			}
			files++
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if found := wrong.Find(text); found != nil {
				t.Errorf("%s uses %s", f, found)
			}
		}
	}
	if files < 20 {
		t.Errorf("only %d files were read", files)
	}
}
