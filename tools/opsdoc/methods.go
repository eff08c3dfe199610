package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"image"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// readMethods are the signatures of the methods of lathe.Device, by name. A method that is
// written by hand in place of a generated one is there by the name of the operation too,
// which its comment has after "//genapi:op ".
func readMethods(root string) (map[string]string, error) {
	paths, err := filepath.Glob(filepath.Join(root, "*.go"))
	if err != nil {
		return nil, err
	}
	methods := map[string]string{}
	for _, p := range paths {
		if strings.HasSuffix(p, "_test.go") {
			continue
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, p, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || !fn.Name.IsExported() {
				continue
			}
			star, ok := fn.Recv.List[0].Type.(*ast.StarExpr)
			if !ok {
				continue
			}
			if id, ok := star.X.(*ast.Ident); !ok || id.Name != "Device" {
				continue
			}
			var text bytes.Buffer
			if err := printer.Fprint(&text, files, &ast.FuncDecl{Recv: fn.Recv, Name: fn.Name, Type: fn.Type}); err != nil {
				return nil, err
			}
			methods[fn.Name.Name] = text.String()
			if fn.Doc == nil {
				continue
			}
			for _, c := range fn.Doc.List {
				if name, ok := strings.CutPrefix(c.Text, "//genapi:op "); ok {
					methods[strings.TrimSpace(name)] = text.String()
				}
			}
		}
	}
	return methods, nil
}

// calls are the lines of Go that call an operation: its method, and its struct with the
// defaults.
func calls(op *spec.Op, methods map[string]string) ([]string, error) {
	if op.Defaults == nil {
		return nil, nil
	}
	v := reflect.Indirect(reflect.ValueOf(op.Defaults))
	pkg := v.Type().PkgPath()[strings.LastIndex(v.Type().PkgPath(), "/")+1:]
	literal := pkg + "." + v.Type().Name() + "{" + fields(v) + "}"
	var ins []string
	for _, a := range op.In {
		ins = append(ins, ", "+a.Name)
		if a.Variadic {
			ins = append(ins, "...")
		}
	}
	switch {
	case !op.Offered():
		return nil, nil
	case pkg == "imageops":
		return []string{"dev.Apply(ctx, img, " + literal + ")"}, nil
	case pkg != "ops":
		return nil, fmt.Errorf("no package of Lathe has its struct, %v", v.Type())
	}
	method := methods[op.Name]
	if method == "" {
		method = methods[v.Type().Name()]
	}
	if method == "" {
		return nil, fmt.Errorf("lathe.Device has no method %s: run `make generate`", v.Type().Name())
	}
	return []string{method, "dev.Call(ctx, " + literal + strings.Join(ins, "") + ")"}, nil
}

// fields writes the exported fields of a struct as a composite literal has them.
func fields(v reflect.Value) string {
	var list []string
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() {
			continue
		}
		value := fmt.Sprintf("%#v", v.Field(i).Interface())
		switch x := v.Field(i); {
		case x.Kind() == reflect.Slice && x.IsNil():
			value = "nil"
		case x.Type() == reflect.TypeFor[image.Image]():
			value = "picture"
		case x.Type() == reflect.TypeFor[tensor.DType]():
			value = "tensor." + strings.ToUpper(fmt.Sprint(x.Interface()))
		}
		list = append(list, f.Name+": "+value)
	}
	return strings.Join(list, ", ")
}
