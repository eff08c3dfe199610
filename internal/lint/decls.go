package lint

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
)

// obvious are methods whose name says all: interfaces of the standard library
// document them.
var obvious = []string{"Error", "String", "Unwrap", "Is", "As", "Len", "Less", "Swap", "Read", "Write", "Close"}

// exported reports exported names without a comment. In a group one comment on
// the group, or one at the end of the line, will do.
func (l *linter) exported(f *ast.File) {
	if f.Name.Name == "main" {
		return // nobody imports a command
	}
	missing := func(n ast.Node, kind, name string) {
		l.report(l.at(n), "exported %s %s has no comment: say what it does, in which units and with which errors", kind, name)
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if !d.Name.IsExported() || d.Doc != nil {
				continue
			}
			if d.Recv == nil {
				missing(d, "function", d.Name.Name)
			} else if recv := receiver(d); ast.IsExported(recv) && !slices.Contains(obvious, d.Name.Name) {
				missing(d, "method", recv+"."+d.Name.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() && d.Doc == nil && s.Doc == nil {
						missing(s, "type", s.Name.Name)
					}
				case *ast.ValueSpec:
					for _, n := range s.Names {
						if n.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
							missing(s, d.Tok.String(), n.Name)
						}
					}
				}
			}
		}
	}
}

// receiver is the name of the type a method belongs to.
func receiver(d *ast.FuncDecl) string {
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// declarations walks the whole file for interfaces that are too large and for
// choices by the name of an operation.
func (l *linter) declarations(dir string, f *ast.File) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.InterfaceType:
			methods := 0
			for _, m := range n.Methods.List {
				methods += max(len(m.Names), 1) // an embedded interface counts once
			}
			if methods > maxMethods {
				l.report(l.at(n), "an interface of %d methods, at most %d: make what only some callers need an interface of its own, found by type assertion", methods, maxMethods)
			}
		case *ast.CaseClause:
			for _, e := range n.List {
				l.opName(dir, e)
			}
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				l.opName(dir, n.X)
				l.opName(dir, n.Y)
			}
		}
		return true
	})
}

// opName reports an expression that is the name of an operation, outside the
// package that declares it.
func (l *linter) opName(dir string, e ast.Expr) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING || dir == "imageops" {
		return
	}
	if s, err := strconv.Unquote(lit.Value); err == nil && l.ops[s] {
		l.report(l.at(e), "a choice by the operation name %q: what is special about an operation belongs into its spec.Op, where every reader finds it", s)
	}
}
