package lint

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// variable is the name of an environment variable of ours.
const variable = `LATHE_[A-Z]+(?:_[A-Z]+)*`

// names are the variables that a pattern's first group finds in a text.
func names(text []byte, pattern string) map[string]bool {
	found := map[string]bool{}
	for _, m := range regexp.MustCompile(pattern).FindAllSubmatch(text, -1) {
		found[string(m[1])] = true
	}
	return found
}

// Every variable that Go code, the Makefile or a script reads stands on the page for
// users or on that for tests, and on one of them only; and every one there is read.
func TestVariablesAreDocumented(t *testing.T) {
	root := os.DirFS("../..")
	read := map[string]string{} // file by variable
	err := fs.WalkDir(root, ".", func(name string, e fs.DirEntry, err error) error {
		base := path.Base(name)
		if err != nil || e.IsDir() {
			if err == nil && name != "." && name != ".ci" && strings.HasPrefix(base, ".") {
				return fs.SkipDir
			}
			return err
		}
		var pattern string
		switch {
		case strings.HasSuffix(name, ".go"):
			pattern = "[\"`](" + variable + ")(?:=[^\"`]*)?[\"`]"
		case base == "Makefile" || strings.HasSuffix(name, ".sh") || strings.HasPrefix(name, ".ci/"):
			pattern = `\b(` + variable + `)\b`
		default:
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		for v := range names(text, pattern) {
			read[v] = name
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if read["LATHE_DEVICE"] == "" || read["LATHE_REQUIRE_TOOLS"] == "" {
		t.Fatalf("found %q only", slices.Sorted(maps.Keys(read)))
	}
	page := map[string]map[string]bool{}
	for _, name := range []string{"docs/environment.md", "CONTRIBUTING.md"} {
		text, err := fs.ReadFile(root, name)
		if err != nil {
			t.Fatal(err)
		}
		page[name] = names(text, "`("+variable+")(?:=[^`]*)?`")
		for v := range page[name] {
			if read[v] == "" {
				t.Errorf("%s has %s, which nothing reads", name, v)
			}
		}
	}
	for v, file := range read {
		user, test := page["docs/environment.md"][v], page["CONTRIBUTING.md"][v]
		if user == test {
			t.Errorf("%s (%s) must be in docs/environment.md or, if it is for tests, in CONTRIBUTING.md (have %v and %v)", v, file, user, test)
		}
	}
}
