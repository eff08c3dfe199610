package spv

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The name of each file says to which stage of the package documentation it belongs.
func TestFilesSayTheirStage(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 40 {
		t.Fatalf("files %q, error %v", files, err)
	}
	seen := map[string]bool{"doc": true, "module": true, "parse": true}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		stage, _, _ := strings.Cut(strings.TrimSuffix(name, ".go"), "_")
		if !seen[stage] && !strings.Contains(string(doc), "//   - "+stage+": ") {
			t.Errorf("%s: doc.go says nothing of a stage %s; begin the name with one of its stages, or describe the new one there", name, stage)
		}
		seen[stage] = true
	}
	for line := range strings.Lines(string(doc)) {
		if item, ok := strings.CutPrefix(line, "//   - "); ok {
			if stage, _, _ := strings.Cut(item, ":"); !seen[stage] {
				t.Errorf("doc.go describes the stage %s, which has no file", stage)
			}
		}
	}
}
