package compile

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestNoRemainders checks that the compiler and its functions write no remainder instruction.
// wazero v1.11.0 makes wrong code of them on arm64. The method modulo says how.
func TestNoRemainders(t *testing.T) {
	remainder := regexp.MustCompile(`\bI(32|64)Rem[SU]\b`)
	files := 0
	for _, dir := range []string{".", "../vecmath"} {
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
			if found := remainder.Find(text); found != nil {
				t.Errorf("%s uses %s", f, found)
			}
		}
	}
	if files < 20 {
		t.Errorf("only %d files were read", files)
	}
}
