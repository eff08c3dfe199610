// Genapi writes the typed methods of the library from the declarations of the
// operations in package spec: those of lathe.Device for the operations of package
// ops, the same of lathe.Scope, and those of backend.Device for all operations that are offered by name.
// With -check it writes nothing and fails if a file is stale.
//
//	go run ./tools/genapi [-check] [-root .]
//
// Rules.go says how the signature of a method follows from an operation. A method
// that is written by hand takes the place of a generated one if its comment has a
// line "//genapi:op NAME" with the name of the operation.
package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	_ "github.com/lathe-gpu/lathe/ops/all" // registers the operations
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tools/internal/generated"
)

// prefix begins the names of the files that are generated.
const prefix = "zz_generated_"

func main() {
	root := flag.String("root", ".", "the root of the source tree")
	generated.Main("genapi", func(check bool) error { return run(*root, check) })
}

// run writes the generated files of all surfaces, or with check compares them.
func run(root string, check bool) error {
	files := map[string]map[string][]byte{} // by folder
	for _, s := range surfaces {
		dir := filepath.Join(root, s.dir)
		hand, err := methods(dir, s.receiver)
		if err != nil {
			return err
		}
		more, err := s.files(spec.All(), hand)
		if err != nil {
			return err
		}
		if files[dir] == nil {
			files[dir] = map[string][]byte{}
		}
		maps.Copy(files[dir], more)
	}
	for _, dir := range slices.Sorted(maps.Keys(files)) {
		if err := update(dir, files[dir], check); err != nil {
			return err
		}
	}
	return nil
}

// update makes the generated files of a folder those given, or with check reports
// a difference.
func update(dir string, files map[string][]byte, check bool) error {
	old, err := filepath.Glob(filepath.Join(dir, prefix+"*.go"))
	if err != nil {
		return err
	}
	for _, path := range old {
		if files[filepath.Base(path)] != nil {
			continue
		}
		if check {
			return fmt.Errorf("%s is of no operation: run `make generate` and commit", path)
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := generated.File(filepath.Join(dir, name), files[name], "make generate", check); err != nil {
			return err
		}
	}
	return nil
}

// handwritten are the methods of a receiver that are written by hand: the operation
// that each stands for, "" if it stands for none.
type handwritten map[string]string

// replaces reports whether a method written by hand stands for the operation. A
// method of the name that stands for another operation, or for none, is an error.
func (h handwritten) replaces(method string, op *spec.Op) (bool, error) {
	for _, name := range h {
		if name == op.Name {
			return true, nil
		}
	}
	if _, taken := h[method]; taken {
		return false, fmt.Errorf("operation %s: a method %s is there already; rename one of them, or mark the method with %s%s", op.Name, method, directive, op.Name)
	}
	return false, nil
}

// directive marks a method that is written by hand in place of a generated one.
const directive = "//genapi:op "

// operationOf is the operation that the comment of a method names.
func operationOf(comment string) string {
	for line := range strings.Lines(comment) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), directive); ok {
			return strings.TrimSpace(name)
		}
	}
	return ""
}
