package nopanic

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// root is the folder of the module.
var root = filepath.Join("..", "..")

// declared is what a package exports.
type declared struct {
	functions []string // their names
	types     []string // the names of the types with methods
}

// exported reads the files of a folder, for all systems and build tags. It returns nil if the
// folder has no package that a program may import.
func exported(t *testing.T, dir string) *declared {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var d *declared
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if f.Name.Name == "main" {
			continue
		}
		if d == nil {
			d = new(declared)
		}
		for _, x := range f.Decls {
			fn, ok := x.(*ast.FuncDecl)
			switch {
			case !ok || !fn.Name.IsExported():
			case fn.Recv != nil:
				if name := typeName(fn.Recv.List[0].Type); ast.IsExported(name) {
					d.types = append(d.types, name)
				}
			case !slices.Contains(excused, dir+"."+fn.Name.Name):
				d.functions = append(d.functions, fn.Name.Name)
			}
		}
	}
	if d != nil {
		for _, list := range []*[]string{&d.functions, &d.types} {
			slices.Sort(*list) // files of other systems declare the same ones
			*list = slices.Compact(*list)
		}
	}
	return d
}

// typeName is the name of the type of a receiver.
func typeName(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.StarExpr:
		return typeName(x.X)
	case *ast.IndexExpr: // a type with a parameter
		return typeName(x.X)
	case *ast.IndexListExpr:
		return typeName(x.X)
	case *ast.Ident:
		return x.Name
	}
	return ""
}

// publicPackages finds the packages of this module that a program may import, by folder.
func publicPackages(t *testing.T) map[string]*declared {
	t.Helper()
	found := map[string]*declared{}
	err := filepath.WalkDir(root, func(folder string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		if name := e.Name(); folder != root && (name == "internal" || name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
			return filepath.SkipDir
		}
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); folder != root && err == nil {
			return filepath.SkipDir // another module
		}
		dir, err := filepath.Rel(root, folder)
		if err != nil {
			return err
		}
		if d := exported(t, dir); d != nil {
			found[filepath.ToSlash(dir)] = d
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 17 { // so many were there when this was written
		t.Fatalf("found only %q", slices.Sorted(maps.Keys(found)))
	}
	return found
}

// TestFunctionsAreListed fails where a public package or an exported function was added and not
// listed.
func TestFunctionsAreListed(t *testing.T) {
	all := publicPackages(t)
	for dir := range functions { // some are internal
		if all[dir] == nil {
			all[dir] = exported(t, dir)
		}
		if all[dir] == nil {
			t.Errorf("%s has no package any more: remove it from functions", dir)
			delete(all, dir)
		}
	}
	for dir, d := range all {
		have, listed := functions[dir]
		if !listed {
			t.Errorf("this test does not call the functions of %s: add it to functions", dir)
			continue
		}
		for _, name := range d.functions {
			if have[name] == nil {
				t.Errorf("this test does not call %s.%s: add it to functions", dir, name)
			}
		}
		if len(have) != len(d.functions) {
			t.Errorf("%s: %d functions are listed, %d declared", dir, len(have), len(d.functions))
		}
	}
}

// TestTypesAreListed fails where a public package has an exported type with methods and
// receivers has no nil and no zero value of it. The calls of operations are there with their
// defaults.
func TestTypesAreListed(t *testing.T) {
	const module = "github.com/lathe-gpu/lathe"
	listed, empty := map[string]bool{}, map[string]bool{}
	for _, r := range receivers(t) {
		v := reflect.ValueOf(r.value)
		isEmpty := v.IsZero()
		if v.Kind() == reflect.Pointer && !isEmpty {
			isEmpty = v.Elem().IsZero()
		}
		name := typeOf(v)
		listed[name], empty[name] = true, empty[name] || isEmpty
	}
	for dir, d := range publicPackages(t) {
		for _, name := range d.types {
			key := path.Join(module, dir) + "." + name
			switch {
			case !listed[key]:
				t.Errorf("this test does not call the methods of %s.%s: add values to receivers", dir, name)
			case !empty[key] && dir != "ops" && dir != "imageops":
				t.Errorf("this test calls no methods of a nil or zero %s.%s: add one to receivers", dir, name)
			}
		}
	}
}

// typeOf is the type of a value or of what it points to, without the parameters of the type.
func typeOf(v reflect.Value) string {
	t := v.Type()
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name, _, _ := strings.Cut(t.Name(), "[")
	return t.PkgPath() + "." + name
}
