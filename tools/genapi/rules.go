package main

import (
	"fmt"
	"go/token"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lathe-gpu/lathe/spec"
)

// The rules by which a method follows from an operation:
//
//   - Its name is that of the attribute struct, and its text is Op.Doc.
//   - Inputs come first. An optional input may be nil. A variadic input comes last,
//     behind the attributes. One that is spec.Arg.CallOnly is left out.
//   - An output that is named like an input is that very tensor: the operation works in
//     place.
//   - Attributes follow in their order. A boolean whose default is false is left out: the
//     method is the plain form, and the struct has the others. A list that comes last is
//     variadic.
//
// In the root package a method makes its outputs and returns them. Where an operation
// has more than maxAttributes attributes, its struct comes first and takes their place.
// A method of lathe.Scope has the same parameters, and returns no error.
// In package backend the caller passes handles of the outputs, after the inputs that
// must be given and before the others; and the numbers of image operations are
// value.Values.

// maxAttributes is how many attributes a method of the root package takes one by one.
const maxAttributes = 3

// operation is what the rules need to know of an operation.
type operation struct {
	*spec.Op
	method string // the name of the method, and of the attribute struct
	pkg    string // the import path of the attribute struct
	attrs  []attribute
	left   []string // attributes and inputs that the method leaves out
}

// attribute is an attribute that is a parameter.
type attribute struct {
	spec.Attr
	field string // of the struct
	param string // of the method
	typ   reflect.Type
}

// describe reads an operation's declaration; ok is false if it has no method.
func describe(op *spec.Op) (o operation, ok bool) {
	if !op.Offered() {
		return o, false
	}
	t := reflect.Indirect(reflect.ValueOf(op.Defaults)).Type()
	o = operation{Op: op, method: t.Name(), pkg: t.PkgPath()}
	defaults := reflect.Indirect(reflect.ValueOf(op.Defaults))
	for _, a := range op.Attrs() {
		i := fieldOf(t, a.Name)
		f := t.Field(i)
		if a.Type == "picture" {
			continue // It is an input, and the method has that already.
		}
		if f.Type.Kind() == reflect.Bool && !defaults.Field(i).Bool() {
			o.left = append(o.left, a.Name)
			continue
		}
		o.attrs = append(o.attrs, attribute{a, f.Name, camel(a.Name), f.Type})
	}
	if k := slices.IndexFunc(op.In, func(a spec.Arg) bool { return a.CallOnly }); k >= 0 {
		plain := *op
		plain.In = op.In[:k]
		o.Op = &plain
		for _, a := range op.In[k:] {
			o.left = append(o.left, a.Name)
		}
	}
	return o, o.method != ""
}

// fieldOf is the index of the field of an attribute.
func fieldOf(t reflect.Type, attr string) int {
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("attr"), ","); name == attr {
			return i
		}
	}
	panic("genapi: spec.Op.Attrs names no field: " + attr)
}

// asStruct reports whether the method of the root package takes the attributes as
// their struct.
func (o *operation) asStruct() bool { return len(o.attrs) > maxAttributes }

// inPlace reports whether all outputs are inputs.
func (o *operation) inPlace() bool {
	for i := range o.Out {
		if o.Updates(i) < 0 {
			return false
		}
	}
	return len(o.Out) > 0
}

// variadic reports whether the last input may come any number of times.
func (o *operation) variadic() bool { return len(o.In) > 0 && o.In[len(o.In)-1].Variadic }

// optional reports whether an input may be left out.
func (o *operation) optional() bool {
	return slices.ContainsFunc(o.In, func(a spec.Arg) bool { return a.Optional })
}

// check reports what the rules have no method for.
func (o *operation) check() error {
	var names []string
	for _, a := range o.In {
		names = append(names, camel(a.Name))
	}
	for i, a := range o.Out {
		if k := o.Updates(i); k < 0 {
			names = append(names, camel(a.Name))
		} else if !o.MayOverwrite(i, k) {
			return fmt.Errorf("operation %s: output %s is named like an input that it may not overwrite", o.Name, a.Name)
		}
	}
	if k := slices.IndexFunc(o.In, func(a spec.Arg) bool {
		return slices.ContainsFunc(o.Out, func(b spec.Arg) bool { return a.Name == b.Name })
	}); k >= 0 && !o.inPlace() {
		return fmt.Errorf("operation %s: input %s is named like an output, and others are not", o.Name, o.In[k].Name)
	}
	for _, a := range o.attrs {
		names = append(names, a.param)
	}
	slices.Sort(names)
	if len(slices.Compact(slices.Clone(names))) < len(names) {
		return fmt.Errorf("operation %s: two parameters would have one name (of %s)", o.Name, strings.Join(names, ", "))
	}
	return nil
}

// camel is the Go name of a parameter: "trans_a" becomes transA. A word of the
// language, and a name that the generated code uses itself, gets a "_" at its end.
func camel(name string) string {
	var b strings.Builder
	for i, word := range strings.Split(name, "_") {
		if i > 0 && word != "" {
			r, n := utf8.DecodeRuneInString(word)
			b.WriteRune(unicode.ToUpper(r))
			word = word[n:]
		}
		b.WriteString(word)
	}
	if s := b.String(); token.IsKeyword(s) || slices.Contains([]string{"d", "s", "c", "err", "res", "ops", "imageops", "spec", "tensor", "context"}, s) {
		return s + "_"
	}
	return b.String()
}

// goType is how an attribute's type is written, for the last parameter as a variadic
// one if it is a list.
func (a *attribute) goType(last bool) string {
	if last && a.typ.Kind() == reflect.Slice {
		return "..." + a.typ.Elem().String()
	}
	return a.typ.String()
}

// isFloat reports whether the attribute is a number with a fraction.
func (a *attribute) isFloat() bool {
	return a.typ.Kind() == reflect.Float64 || a.typ.Kind() == reflect.Float32
}

// marked reports whether a zero of the attribute must be marked as given: it has a default, which is
// not zero. In any other attribute -0 would be another number than 0.
func (a *attribute) marked() bool {
	return a.isFloat() && a.Default != "" && a.Default != "0"
}

// sentence is a text that begins a sentence after a colon: "The sine" becomes "the
// sine". A name such as "LayerNorm" or "I32" stays as it is.
func sentence(text string) string {
	first, n := utf8.DecodeRuneInString(text)
	if second, _ := utf8.DecodeRuneInString(text[n:]); unicode.IsUpper(first) && unicode.IsLower(second) {
		return string(unicode.ToLower(first)) + text[n:]
	}
	return text
}
