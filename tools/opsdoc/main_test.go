package main

import (
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/spec"
)

// docs/OPS.md is generated, so it must be what the declarations say now.
func TestPageIsFresh(t *testing.T) {
	if err := run("../../docs/OPS.md", true); err != nil {
		t.Error(err)
	}
}

func TestEveryOperationIsDescribed(t *testing.T) {
	page := string(render(spec.All()))
	if len(spec.All()) == 0 {
		t.Fatal("no operation is registered")
	}
	for _, op := range spec.All() {
		if !strings.Contains(page, "\n## "+op.Name+"\n") {
			t.Errorf("%s has no section", op.Name)
		}
		for _, a := range op.Attrs() {
			if a.Doc == "" {
				t.Errorf("%s: attribute %s has no doc tag", op.Name, a.Name)
			}
		}
		if op.Doc == "" {
			t.Errorf("%s has no Doc", op.Name)
		}
	}
}

func TestStaleOrMissingPageIsAnError(t *testing.T) {
	err := run(t.TempDir()+"/OPS.md", true)
	if err == nil || !strings.Contains(err.Error(), "make docs") {
		t.Errorf("missing page: got %v, want an error that says what to run", err)
	}
}
