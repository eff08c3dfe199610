package lint

import (
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
)

// eachPage calls f with each page of the project, its name as a path from the root.
func eachPage(t *testing.T, f func(name, text string)) {
	t.Helper()
	root := os.DirFS("../..")
	err := fs.WalkDir(root, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			if name != "." && strings.HasPrefix(path.Base(name), ".") || name == "bin" || name == "out" {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".md" {
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err == nil {
			f(name, string(text))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
