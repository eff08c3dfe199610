package spec

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/spv"
)

// MaxParams is the largest size of a params struct in bytes. Every Vulkan device supports
// that many bytes of push constants.
const MaxParams = 128

// layout lists the numbers in a type of params structs.
type layout struct {
	// members are the members of the push-constant block.
	members []spv.Member
	// paths are the names of the members in Go, for error texts.
	paths []string
	// scalars are the numbers in the order of their offsets.
	scalars []scalar
	// size is the size of the block in bytes.
	size int
	// err says why the type cannot be a push-constant block.
	err error
}

// scalar is one number of 4 bytes in the struct. steps is the path to it. Each step is
// the number of a field or of an array element.
type scalar struct {
	steps []int
	kind  reflect.Kind
}

var layouts sync.Map // reflect.Type → *layout

// layoutOf returns the layout of a params struct. It is computed once for each type.
func layoutOf(params any) (*layout, error) {
	if more, ok := params.(MoreParams); ok {
		return more.layout()
	}
	t := reflect.TypeOf(params)
	if l, ok := layouts.Load(t); ok {
		return l.(*layout), l.(*layout).err
	}
	l := &layout{}
	if t.Kind() != reflect.Struct {
		l.err = fmt.Errorf("spec: params %v: %w: not a struct", t, errs.ErrInvalidArgument)
	} else if err := l.add(t, nil, "", ""); err != nil {
		l.err = fmt.Errorf("spec: params %v: %w", t, err)
	}
	layouts.Store(t, l)
	return l, l.err
}

// layout is the layout of the params struct and the words.
func (p MoreParams) layout() (*layout, error) {
	l := &layout{}
	if p.Params != nil {
		if _, ok := p.Params.(MoreParams); ok {
			return l, fmt.Errorf("spec: params %T: %w: in each other", p, errs.ErrInvalidArgument)
		}
		own, err := layoutOf(p.Params)
		if err != nil {
			return l, err
		}
		*l = layout{members: slices.Clone(own.members), paths: slices.Clone(own.paths), size: own.size}
	}
	if len(p.Words) == 0 {
		return l, nil
	}
	if len(p.Words) > MaxParams {
		return l, fmt.Errorf("spec: params %T: %w: %d words", p, errs.ErrInvalidArgument, len(p.Words))
	}
	m := spv.Member{Name: "words", Type: fmt.Sprintf("u32[%d]", len(p.Words)), Offset: uint32(l.size), Size: uint32(4 * len(p.Words))}
	return l, l.appendMember(m, "Words")
}

// add appends the numbers of type t that are found at steps. name is their path in the
// shader, and path is that in Go.
func (l *layout) add(t reflect.Type, steps []int, name, path string) error {
	if n := numbers[t.Kind()]; n != "" {
		l.scalars = append(l.scalars, scalar{steps, t.Kind()})
		return l.appendMember(spv.Member{Name: name, Type: n, Offset: uint32(l.size), Size: 4}, path)
	}
	switch t.Kind() {
	case reflect.Array:
		n := numbers[t.Elem().Kind()]
		if t.Len() == 0 || t.Len() > MaxParams {
			break
		}
		for i := range t.Len() {
			down := append(slices.Clone(steps), i)
			if n != "" {
				l.scalars = append(l.scalars, scalar{down, t.Elem().Kind()})
				continue
			}
			at := fmt.Sprintf("[%d]", i)
			if err := l.add(t.Elem(), down, name+at, path+at); err != nil {
				return err
			}
		}
		if n == "" {
			return nil
		}
		return l.appendMember(spv.Member{Name: name, Type: fmt.Sprintf("%s[%d]", n, t.Len()), Offset: uint32(l.size), Size: uint32(4 * t.Len())}, path)
	case reflect.Struct:
		dot := ""
		if path != "" {
			dot = "."
		}
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Anonymous && f.Type.Kind() == reflect.Struct {
				// The fields of an embedded struct are members of the block itself.
				if err := l.add(f.Type, append(slices.Clone(steps), i), name, path); err != nil {
					return err
				}
				continue
			}
			if !f.IsExported() {
				return fmt.Errorf("%w: field %s is not exported", errs.ErrInvalidArgument, path+dot+f.Name)
			}
			if err := l.add(f.Type, append(slices.Clone(steps), i), name+dot+lower(f.Name), path+dot+f.Name); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("%w: field %s is %v (want uint32, int32, float32, or arrays and structs of them)", errs.ErrInvalidArgument, path, t)
}

// appendMember appends a member at the end of the block.
func (l *layout) appendMember(m spv.Member, path string) error {
	l.members = append(l.members, m)
	l.paths = append(l.paths, path)
	if l.size += int(m.Size); l.size > MaxParams {
		return fmt.Errorf("%w: more than %d bytes", errs.ErrInvalidArgument, MaxParams)
	}
	return nil
}

// numbers has the kinds of numbers that a params struct may hold, with their names in a
// layout.
var numbers = map[reflect.Kind]string{reflect.Uint32: "u32", reflect.Int32: "i32", reflect.Float32: "f32"}

// lower returns the shader's name for a Go field. Its first letter is in lower case.
func lower(name string) string {
	r, n := utf8.DecodeRuneInString(name)
	return string(unicode.ToLower(r)) + name[n:]
}

// MoreParams is a params struct with words after it, for a kernel that was linked with functions that need them.
type MoreParams struct {
	// Params is the params struct of the kernel, or nil.
	Params any
	// Words are an array at the end of the block.
	Words []uint32
}

// Encode returns the push-constant bytes of a params struct. They are its exported
// numbers of 4 bytes (uint32, int32, float32, and arrays and structs of them), one after
// the other, in little-endian order. Nil gives no bytes.
// Errors: ErrInvalidArgument for fields of other types, and for more than MaxParams
// bytes.
func Encode(params any) ([]byte, error) {
	if params == nil {
		return nil, nil
	}
	l, err := layoutOf(params)
	if err != nil {
		return nil, err
	}
	return l.encode(make([]byte, 0, l.size), params), nil
}

func (l *layout) encode(b []byte, params any) []byte {
	if more, ok := params.(MoreParams); ok {
		if more.Params != nil {
			own, _ := layoutOf(more.Params) // layoutOf has done it before.
			b = own.encode(b, more.Params)
		}
		for _, w := range more.Words {
			b = binary.LittleEndian.AppendUint32(b, w)
		}
		return b
	}
	v := reflect.ValueOf(params)
	for _, f := range l.scalars {
		x := v
		for _, i := range f.steps {
			if x.Kind() == reflect.Struct {
				x = x.Field(i)
			} else {
				x = x.Index(i)
			}
		}
		var w uint32
		switch f.kind {
		case reflect.Uint32:
			w = uint32(x.Uint())
		case reflect.Int32:
			w = uint32(x.Int())
		default:
			w = math.Float32bits(float32(x.Float()))
		}
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

// Layout returns the members of the push-constant block of a params struct. A member is
// named like its field, with the first letter in lower case: "radius" "u32", "weights"
// "f32[4]". The members of a struct are listed one by one, as "stage[2].scale". Nil has
// none.
// Errors: those of Encode.
func Layout(params any) ([]spv.Member, error) {
	if params == nil {
		return nil, nil
	}
	l, err := layoutOf(params)
	return slices.Clone(l.members), err
}

// CheckParams compares a params struct with the push-constant block of m. Names are
// compared too, unless a compiler has removed them from m, as glslc -O does.
// Errors: ErrABIMismatch, which names the field, and those of Encode.
func CheckParams(m *spv.Module, params any) error {
	l := &layout{}
	if params != nil {
		var err error
		if l, err = layoutOf(params); err != nil {
			return err
		}
	}
	if m == nil {
		return noCall("no module to compare parameters with")
	}
	members := l.members
	for i := range max(len(members), len(m.Params)) {
		if i < len(members) && i < len(m.Params) && sameMember(members[i], m.Params[i]) {
			continue
		}
		goSays, shaderSays := "nothing", "nothing"
		if i < len(members) {
			g := members[i]
			goSays = fmt.Sprintf("%s %s at %d", l.paths[i], g.Type, g.Offset)
		}
		if i < len(m.Params) {
			s := m.Params[i]
			shaderSays = fmt.Sprintf("%s %s at %d", s.Name, s.Type, s.Offset)
		}
		return fmt.Errorf("spec: %w: %s: params field %d: Go has %s, shader has %s", errs.ErrABIMismatch, m.Name, i, goSays, shaderSays)
	}
	return nil
}

// sameMember compares a member of a Go struct with one of a shader. A compiler may have
// removed the names from the shader. "[2]." is then left of "stage[2].scale".
func sameMember(goSays, shaderSays spv.Member) bool {
	if !strings.ContainsFunc(shaderSays.Name, unicode.IsLetter) {
		shaderSays.Name = goSays.Name
	}
	return goSays == shaderSays
}
