package graph_test

import (
	"os"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/graph"
)

// TestPasses looks whether each pass stands behind those that it needs, and in docs/graph.md.
func TestPasses(t *testing.T) {
	page, err := os.ReadFile("../docs/graph.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, p := range graph.Passes() {
		for _, name := range p.After {
			if !seen[name] {
				t.Errorf("%s stands before %s", p.Name, name)
			}
		}
		if p.Doc == "" || p.Run == nil || len(p.After) > 0 && p.Why == "" || seen[p.Name] {
			t.Errorf("pass %q lacks something, or stands twice", p.Name)
		}
		if !strings.Contains(string(page), "| "+p.Name+" |") {
			t.Errorf("docs/graph.md does not list pass %q", p.Name)
		}
		seen[p.Name] = true
	}
}
