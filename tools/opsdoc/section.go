package main

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// section describes one operation: what a caller needs, and then, folded away, where the
// bounds come from. shared are the tables of operands that stand at the top of the group, and before are the
// operations of the group that come before.
func section(b *bytes.Buffer, op *spec.Op, before []*spec.Op, methods, shared map[string]string) error {
	fmt.Fprintf(b, "\n### %s\n\n%s\n", op.Name, strings.TrimSpace(op.Doc))
	if op.Internal {
		b.WriteString("\nInternal: Lathe itself makes calls of it.\n")
	}
	code, err := calls(op, methods)
	if err != nil {
		return err
	}
	if len(code) > 0 {
		fmt.Fprintf(b, "\n```go\n%s\n```\n", strings.Join(code, "\n"))
	}
	if short := op.Short(); op.Group == "image" && len(short) > 0 {
		fmt.Fprintf(b, "\nIn short: `%s`.\n", strings.ReplaceAll(strings.Join(short, "`, `"), "`, `"+op.Name+" ", "`, `"))
	}
	attributes(b, op, before)
	table := operands(op)
	if link := shared[table]; link != "" {
		fmt.Fprintf(b, "\n**Operands:** [above](%s).\n", link)
	} else {
		b.WriteString("\n" + table)
	}
	if op.Tolerance != nil && op.Defaults != nil {
		fmt.Fprintf(b, "\n%s\n", precision(op))
	}
	if name := gradient(op); name != "" {
		fmt.Fprintf(b, "\n**Gradient:** [%s](#%[1]s).\n", name)
	}
	details(b, op)
	return nil
}

// sameRows is how many attributes two operations must share before the second one refers to the first.
const sameRows = 3

// attributes writes the table of the attributes. It refers to an operation before for those that are the same there.
func attributes(b *bytes.Buffer, op *spec.Op, before []*spec.Op) {
	rows := attributeRows(op)
	if len(rows) == 0 {
		return
	}
	b.WriteString("\n| attribute | default | meaning |\n|---|---|---|\n")
	var like *spec.Op
	most := sameRows - 1
	for _, other := range before {
		same := 0
		for _, row := range attributeRows(other) {
			if slices.Contains(rows, row) {
				same++
			}
		}
		if same > most {
			like, most = other, same
		}
	}
	var names []string
	for i, row := range rows {
		if like != nil && slices.Contains(attributeRows(like), row) {
			names = append(names, "`"+op.Attrs()[i].Name+"`")
			continue
		}
		b.WriteString(row)
	}
	if like != nil {
		fmt.Fprintf(b, "| %s | | as [%s](#%[2]s) |\n", strings.Join(names, ", "), like.Name)
	}
}

// attributeRows are the rows of the table of the attributes.
func attributeRows(op *spec.Op) (rows []string) {
	for _, a := range op.Attrs() {
		if a.Default == "" {
			a.Default = "required"
		}
		rows = append(rows, fmt.Sprintf("| `%s`, `%s` | %s | %s |\n", a.Name, field(op, a.Name), cell(a.Default), cell(a.Doc)))
	}
	return rows
}

// field is the field of an attribute, with its type.
func field(op *spec.Op, attr string) string {
	t := reflect.Indirect(reflect.ValueOf(op.Defaults)).Type()
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("attr"), ","); name == attr {
			return t.Field(i).Name + " " + t.Field(i).Type.String()
		}
	}
	return ""
}

// operands is the table of the inputs and results.
func operands(op *spec.Op) string {
	var b strings.Builder
	b.WriteString("| operand | dtype | shape |\n|---|---|---|\n")
	for i, a := range op.In {
		how := ""
		switch {
		case a.Variadic:
			how = ", any number of them"
		case a.Optional, a.Skippable:
			how = ", optional"
		}
		fmt.Fprintf(&b, "| `%s`%s | %s | %s |\n", a.Name, how, dtypes(inputTypes(op, i)), cell(a.Doc))
	}
	for i, a := range op.Out {
		doc := a.Doc
		for k, from := range op.Overwritable(i) {
			word := "; it may be"
			if k > 0 {
				word = " or"
			}
			doc += fmt.Sprintf("%s `%s`", word, op.In[from].Name)
			if k == len(op.Overwritable(i))-1 {
				doc += " itself"
			}
		}
		fmt.Fprintf(&b, "| result `%s` | %s | %s |\n", a.Name, resultType(op, i), cell(doc))
	}
	return b.String()
}

// inputTypes are the element types that input i may have: those for which Shape accepts
// the typical inputs of some element type.
func inputTypes(op *spec.Op, i int) []tensor.DType {
	if len(op.In[i].DTypes) > 0 {
		return op.In[i].DTypes
	}
	var types []tensor.DType
	for _, d := range slices.Concat(op.Cases.DTypes, tensor.DTypes()) {
		if slices.Contains(types, d) {
			continue
		}
		for _, own := range op.Cases.DTypes {
			in := slices.Clone(op.TypicalInputs(own))
			if i >= len(in) {
				continue
			}
			in[i] = tensor.Contiguous(d, in[i].Shape...)
			if out, _ := shapes(op, op.Defaults, in); out != nil {
				types = append(types, d)
				break
			}
		}
	}
	return types
}

// shapes are the results of a call, or nil if there are none.
func shapes(op *spec.Op, c spec.Call, in []tensor.Desc) ([]tensor.Desc, error) {
	if op.Shape == nil || c == nil {
		return nil, nil
	}
	return op.Shape(c, in)
}

// resultType says which element type output i has.
func resultType(op *spec.Op, i int) string {
	var types []tensor.DType
	like := make([]bool, len(op.In)) // inputs whose type the output always has
	for k := range like {
		like[k] = true
	}
	try := func(in []tensor.Desc) {
		out, err := shapes(op, op.Defaults, in)
		if err != nil || i >= len(out) {
			return
		}
		if !slices.Contains(types, out[i].DType) {
			types = append(types, out[i].DType)
		}
		for k := range like {
			like[k] = like[k] && k < len(in) && in[k].DType == out[i].DType
		}
	}
	for _, d := range op.Cases.DTypes {
		in := op.TypicalInputs(d)
		try(in)
		for k := range min(len(in), len(op.In)) { // Inputs may have types of their own.
			for _, other := range op.In[k].DTypes {
				own := slices.Clone(in)
				own[k].DType = other
				try(own)
			}
		}
	}
	if name := typeAttr(op, i); name != "" {
		return "that of `" + name + "`"
	}
	if k := slices.Index(like, true); k >= 0 && len(types) > 1 {
		return "as `" + op.In[k].Name + "`"
	}
	return dtypes(types)
}

// typeAttr is the attribute that says which element type output i has, or "".
func typeAttr(op *spec.Op, i int) string {
	if op.Defaults == nil {
		return ""
	}
	v := reflect.Indirect(reflect.ValueOf(op.Defaults))
	for k := range v.NumField() {
		if v.Type().Field(k).Type != reflect.TypeFor[tensor.DType]() {
			continue
		}
		follows := true
		for _, d := range []tensor.DType{tensor.F32, tensor.I64} {
			c := reflect.New(v.Type())
			c.Elem().Set(v)
			c.Elem().Field(k).Set(reflect.ValueOf(d))
			out, err := shapes(op, c.Interface().(spec.Call), op.TypicalInputs(tensor.F32))
			follows = follows && err == nil && i < len(out) && out[i].DType == d
		}
		if follows {
			name, _, _ := strings.Cut(v.Type().Field(k).Tag.Get("attr"), ",")
			return name
		}
	}
	return ""
}

// details writes what only some readers need. An exact result needs no reason.
func details(b *bytes.Buffer, op *spec.Op) {
	var lines []string
	if op.Source != "" {
		lines = append(lines, "source: "+op.Source)
	}
	if op.Tolerance != nil && op.Defaults != nil {
		lines = append(lines, derivation(op)...)
	}
	if len(lines) > 0 {
		fmt.Fprintf(b, "\n<details><summary>Reasons</summary>\n\n- %s\n\n</details>\n", strings.Join(lines, "\n- "))
	}
}
