package generated

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file is written where it is missing or stale. A check reports both and writes nothing.
func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	text := func() string {
		t.Helper()
		b, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, now := range []string{"first\n", "second\n", ""} {
		before := text()
		if err := File(path, []byte(now), "make docs", true); err == nil || !strings.Contains(err.Error(), path+" is stale: run `make docs`") {
			t.Errorf("check of %q, want %q: %v", before, now, err)
		}
		if text() != before {
			t.Errorf("a check has written %q", text())
		}
		for _, check := range []bool{false, true} {
			if err := File(path, []byte(now), "make docs", check); err != nil || text() != now {
				t.Errorf("check %v: %v, the file is %q (want %q)", check, err, text(), now)
			}
		}
	}
	for _, check := range []bool{false, true} {
		if err := File(filepath.Dir(path), nil, "make docs", check); err == nil {
			t.Errorf("check %v of a folder: no error", check)
		}
	}
}
