package spec

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/tensor"
)

// Attr describes an attribute of an operation.
type Attr struct {
	// Name is the name of the attribute, as text has it.
	Name string
	// Type is "number", "integer", "boolean", "text" or "element type", or
	// "integers" or "numbers" for lists. " or none" follows if it may be nil. "picture" is an
	// input of the operation, which text names by a file.
	Type string
	// Default is the default as ParseCall reads it. It is empty for required attributes.
	Default string
	// Doc says what the attribute means, with unit and range.
	Doc string
	// ONNX is the name of the attribute in the operators of Traits.ONNX. It may be empty.
	ONNX string
}

// Attrs lists the attributes of the operation in the order they are declared.
func (op *Op) Attrs() []Attr {
	if op == nil || op.Defaults == nil {
		return nil
	}
	v := structOf(op.Defaults)
	var list []Attr
	for _, i := range attrFields(v.Type()) {
		f := v.Type().Field(i)
		a := Attr{Name: tagOf(f).name, Doc: f.Tag.Get("doc"), Type: attrType(f.Type), ONNX: f.Tag.Get("onnx")}
		if !tagOf(f).required {
			a.Default = formatAttr(v.Field(i))
		}
		list = append(list, a)
	}
	return list
}

// Written reports whether calls of the operation can be written as text. They can if
// every exported field of the attributes has an attr tag. A call that consists of other
// calls, for example, cannot be written.
func (op *Op) Written() bool {
	if op == nil || op.Defaults == nil {
		return false
	}
	t := structOf(op.Defaults).Type()
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() && tagOf(f).name == "" {
			return false
		}
	}
	return true
}

// Offered reports whether users may name the operation, such as on the command line.
func (op *Op) Offered() bool { return op != nil && op.Written() && !op.Internal }

// in reports whether the operation belongs to one of the groups. No groups mean all of
// them.
func (op *Op) in(groups []string) bool {
	return len(groups) == 0 || slices.Contains(groups, op.Group)
}

// ParseCall parses a call that a person has written. The text is the name or an alias of
// an operation, followed by attributes as name=value in any order, as in "gaussian_blur
// sigma=3". The name of an attribute may be left out if it is the only attribute, or the
// only one that is not a boolean, or if its tag has the option "main", as in "blur 3".
// Definition.Forms are further words without names, as in "resize 320x200".
// Attributes that are not given get their defaults. Required attributes have no default
// and must be given.
//
// Numbers are finite decimals. Booleans are true or false. Text is a word, or a Go string
// in quotes. The members of a list are separated by commas. Element types have their
// short names. A picture is the name of a file, which ReadPictures reads. "none" stands for
// nil. The operation checks later whether a value makes sense. If groups are given, the
// operation must belong to one of them.
// Errors: ErrInvalidArgument, which lists the names that exist.
func ParseCall(text string, groups ...string) (Call, error) {
	words, err := splitWords(text)
	if err != nil {
		return nil, parseError("%v in %q", err, text)
	}
	if len(words) == 0 {
		return nil, parseError("an operation is missing (%s)", known(groups))
	}
	op, err := ParseOp(words[0], groups...)
	if err != nil {
		return nil, err
	}
	// Defaults may be a struct or a pointer to one. This is a copy of the struct.
	v := reflect.New(structOf(op.Defaults).Type()).Elem()
	v.Set(structOf(op.Defaults))
	fields, marked := attrFields(v.Type()), markedFields(op.Defaults)
	var names []string
	for _, i := range fields {
		names = append(names, tagOf(v.Type().Field(i)).name)
	}
	given := map[string]bool{}
	for _, w := range op.expandForms(words[1:]) {
		name, value, named := strings.Cut(w, "=")
		if !named || strings.HasPrefix(w, `"`) {
			only := unnamed(v.Type(), fields)
			if only < 0 {
				return nil, parseError("%s: %q is not of the form name=value%s%s", op.Name, w, op.listForms(), listAttrs(names))
			}
			name, value = names[only], w
		}
		at := slices.Index(names, strings.ToLower(name))
		if at < 0 {
			return nil, parseError("%s has no attribute %q%s%s", op.Name, name, didYouMean(name, names), listAttrs(names))
		}
		if given[names[at]] {
			return nil, parseError("%s: %s is given twice", op.Name, names[at])
		}
		given[names[at]] = true
		f := v.Field(fields[at])
		if err := setAttr(f, value); err != nil {
			return nil, parseError("%s: %s: %v", op.Name, names[at], err)
		}
		if isFloat(f) && slices.Contains(marked, fields[at]) {
			f.SetFloat(Given(f.Float()))
		}
		if d := structOf(op.Defaults).Field(fields[at]); f.CanInt() && f.IsZero() && !d.IsZero() && slices.Contains(mustBeSet(v.Type()), fields[at]) {
			return nil, parseError("%s: %s cannot be 0 (its default is %s)", op.Name, names[at], formatAttr(d))
		}
	}
	for k, i := range fields {
		if f := v.Type().Field(i); tagOf(f).required && !given[names[k]] {
			if f.Type == imageType {
				return nil, parseError("%s: %s is missing: it is the name of a file (as in \"%s %s=FILE\")", op.Name, names[k], op.Name, names[k])
			}
			return nil, parseError("%s: %s is missing: it has no default (as in %q)", op.Name, names[k], FormatCall(op.Defaults))
		}
	}
	if reflect.TypeOf(op.Defaults).Kind() == reflect.Pointer {
		return v.Addr().Interface().(Call), nil
	}
	return v.Interface().(Call), nil
}

// ParseOp returns the operation with a name or alias, in upper or lower case. If groups
// are given, it must belong to one of them.
// Errors: ErrInvalidArgument, which lists the names that exist.
func ParseOp(name string, groups ...string) (*Op, error) {
	op := Lookup(strings.ToLower(name))
	switch {
	case op == nil || !op.Offered():
		return nil, parseError("unknown operation %q%s (%s)", name, nearNames(name, append(opNames(groups), opAliases(groups)...)), known(groups))
	case !op.in(groups):
		return nil, parseError("%s is an operation of %s, not of %s%s (%s)", op.Name, groupOf(op), strings.Join(groups, " or "), nearNames(name, append(opNames(groups), opAliases(groups)...)), known(groups))
	}
	return op, nil
}

// groupOf names the group of an operation for errors. One of a program may have none.
func groupOf(op *Op) string {
	if op.Group == "" {
		return "no group"
	}
	return "the group " + op.Group
}

// ParseCalls parses calls separated by "|", as in "grayscale | blur sigma=3".
// Errors: those of ParseCall.
func ParseCalls(text string, groups ...string) ([]Call, error) {
	var calls []Call
	for _, part := range splitPipes(text) {
		c, err := ParseCall(part, groups...)
		if err != nil {
			return nil, err
		}
		calls = append(calls, c)
	}
	return calls, nil
}

// FormatCall is the inverse of ParseCall. It returns the operation's name and every
// attribute. If the call is not Written, it leaves out what cannot be written.
func FormatCall(c Call) string {
	return formatCall(c, func(int, reflect.Value) bool { return true })
}

// FormatBrief is FormatCall without the attributes that have their default value.
func FormatBrief(c Call) string {
	op, err := opOf(c)
	if err != nil || op.Defaults == nil || structOf(op.Defaults).Type() != structOf(c).Type() {
		return FormatCall(c)
	}
	defaults := structOf(op.Defaults)
	return formatCall(c, func(i int, v reflect.Value) bool {
		return !reflect.DeepEqual(v.Interface(), defaults.Field(i).Interface())
	})
}

// formatCall formats a call with the attributes for which keep returns true.
func formatCall(c Call, keep func(field int, v reflect.Value) bool) string {
	op, err := opOf(c)
	if err != nil {
		return "no operation"
	}
	var b strings.Builder
	b.WriteString(op.Name)
	v := structOf(c)
	for _, i := range attrFields(v.Type()) {
		if keep(i, v.Field(i)) {
			fmt.Fprintf(&b, " %s=%s", tagOf(v.Type().Field(i)).name, formatAttr(v.Field(i)))
		}
	}
	return b.String()
}

func parseError(format string, args ...any) error {
	return fmt.Errorf("spec: parse: %w: %s", errs.ErrInvalidArgument, fmt.Sprintf(format, args...))
}

func structOf(c Call) reflect.Value { return reflect.Indirect(reflect.ValueOf(c)) }

// attrFields lists the fields that carry an attr tag.
func attrFields(t reflect.Type) []int {
	var list []int
	if t.Kind() != reflect.Struct {
		return nil
	}
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() && tagOf(f).name != "" {
			list = append(list, i)
		}
	}
	return list
}

// unnamed returns the index in fields of the attribute whose name may be left out, or -1.
func unnamed(t reflect.Type, fields []int) int {
	if len(fields) == 1 {
		return 0
	}
	only := -1
	for at, i := range fields {
		if tagOf(t.Field(i)).main {
			return at
		}
	}
	for at, i := range fields {
		if t.Field(i).Type.Kind() == reflect.Bool {
			continue
		}
		if only >= 0 {
			return -1
		}
		only = at
	}
	return only
}

// dtypeType is the type of attributes that are element types.
var dtypeType = reflect.TypeFor[tensor.DType]()

// attrType returns the type of an attribute in words, as Attr.Type has it.
func attrType(t reflect.Type) string {
	switch {
	case t == dtypeType:
		return "element type"
	case t == imageType:
		return "picture"
	case t.Kind() == reflect.Pointer:
		return attrType(t.Elem()) + " or none"
	case t.Kind() == reflect.Slice:
		return attrType(t.Elem()) + "s or none"
	case t.Kind() == reflect.Float32 || t.Kind() == reflect.Float64:
		return "number"
	case t.Kind() == reflect.Bool:
		return "boolean"
	case t.Kind() == reflect.String:
		return "text"
	}
	return "integer"
}

// noValue is the text that stands for nil.
const noValue = "none"

// setAttr parses text and stores the value in a field.
func setAttr(f reflect.Value, text string) error {
	if f.Type() == dtypeType {
		d, ok := tensor.ParseDType(text)
		if !ok {
			return fmt.Errorf("%q is not an element type (known: %v)", text, tensor.DTypes())
		}
		f.Set(reflect.ValueOf(d))
		return nil
	}
	if f.Type() == imageType {
		return setPicture(f, text)
	}
	switch f.Kind() {
	case reflect.Pointer:
		if text == noValue {
			f.SetZero()
			return nil
		}
		v := reflect.New(f.Type().Elem())
		if err := setAttr(v.Elem(), text); err != nil {
			return err
		}
		f.Set(v)
	case reflect.Slice:
		if text == noValue {
			f.SetZero()
			return nil
		}
		parts := strings.Split(text, ",")
		v := reflect.MakeSlice(f.Type(), len(parts), len(parts))
		for i, part := range parts {
			if err := setAttr(v.Index(i), strings.TrimSpace(part)); err != nil {
				return err
			}
		}
		f.Set(v)
	case reflect.Float32, reflect.Float64:
		x, err := parseFloat(text, f.Type().Bits())
		if err != nil {
			return err
		}
		f.SetFloat(x)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, f.Type().Bits())
		if err != nil {
			return notInteger(text, err, "an integer", uint64(1)<<(f.Type().Bits()-1)-1)
		}
		f.SetInt(n)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n, err := strconv.ParseUint(text, 10, f.Type().Bits())
		if err != nil {
			return notInteger(text, err, "an integer from 0", uint64(math.MaxUint64)>>(64-f.Type().Bits()))
		}
		f.SetUint(n)
	case reflect.Bool:
		if text != "true" && text != "false" {
			return fmt.Errorf("%q is not true or false", text)
		}
		f.SetBool(text == "true")
	case reflect.String:
		if strings.HasPrefix(text, `"`) {
			s, err := strconv.Unquote(text)
			if err != nil {
				return fmt.Errorf("%s is not a string in quotes", text)
			}
			text = s
		}
		f.SetString(text)
	default:
		return fmt.Errorf("cannot be given as text")
	}
	return nil
}

// notInteger is the error of a text that is no integer, or a larger one than the attribute can have.
func notInteger(text string, err error, want string, most uint64) error {
	if errors.Is(err, strconv.ErrRange) {
		return fmt.Errorf("%q is not %s up to %d", text, want, most)
	}
	return fmt.Errorf("%q is not %s", text, want)
}

// parseFloat reads a finite decimal number.
func parseFloat(text string, bits int) (float64, error) {
	x, err := strconv.ParseFloat(text, bits)
	switch {
	case err != nil && math.IsInf(x, 0):
		return 0, fmt.Errorf("%s is too large a number", text)
	case err != nil || strings.ContainsAny(text, "xX_"):
		return 0, fmt.Errorf("%q is not a number", text)
	case math.IsNaN(x) || math.IsInf(x, 0):
		return 0, fmt.Errorf("%s: %w", text, errs.ErrFloatSpecial)
	}
	return x, nil
}

// formatAttr formats the value of a field as setAttr parses it.
func formatAttr(f reflect.Value) string {
	if f.Type() == imageType {
		return formatPicture(f)
	}
	switch f.Kind() {
	case reflect.Pointer:
		if f.IsNil() {
			return noValue
		}
		return formatAttr(f.Elem())
	case reflect.Slice:
		parts := make([]string, f.Len())
		for i := range parts {
			parts[i] = formatAttr(f.Index(i))
		}
		return cmp.Or(strings.Join(parts, ","), noValue)
	case reflect.Float32, reflect.Float64:
		x := f.Float() + 0 // Adding 0 removes the sign of -0, which text cannot express.
		return strconv.FormatFloat(x, 'g', -1, f.Type().Bits())
	case reflect.String:
		s := f.String()
		if s == "" || strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`"|=\`, r) || !unicode.IsPrint(r) }) {
			return strconv.Quote(s)
		}
		return s
	}
	return fmt.Sprint(f.Interface())
}

// splitWords splits at white space outside quotes.
func splitWords(text string) ([]string, error) {
	var words []string
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		end := 0
		for end < len(text) {
			r, size := utf8.DecodeRuneInString(text[end:])
			if r == '"' {
				q, err := strconv.QuotedPrefix(text[end:])
				if err != nil {
					return nil, fmt.Errorf("a quote is not closed")
				}
				end += len(q)
				continue
			}
			if unicode.IsSpace(r) {
				break
			}
			end += size
		}
		words = append(words, text[:end])
		text = text[end:]
	}
	return words, nil
}

// splitPipes splits at "|" outside quotes.
func splitPipes(text string) []string {
	var parts []string
	start := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			if q, err := strconv.QuotedPrefix(text[i:]); err == nil {
				i += len(q) - 1
			}
		case '|':
			parts = append(parts, text[start:i])
			start = i + 1
		}
	}
	return append(parts, text[start:])
}
