package session

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/spv"
)

// push says how a type of params structs becomes the bytes of a push-constant block.
type push struct {
	numbers []pushNumber
	err     error // why the type does not fit the block
}

// pushNumber is one number of the struct.
type pushNumber struct {
	steps []int // the path to it: numbers of fields and of array elements
	path  string
	kind  reflect.Kind
	at    uint32 // bytes into the block
}

// blockNumber is one number of the push-constant block.
type blockNumber struct {
	member *spv.Member
	kind   string // "f32"
	at     uint32
}

// numberBytes has the types of numbers that shaders have, with their sizes.
var numberBytes = map[string]int{
	"f16": 2, "f32": 4, "f64": 8, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "u8": 1, "u16": 2, "u32": 4, "u64": 8,
}

// goTypes are the types of Go for numbers of shaders. Half floats have none.
var goTypes = map[string]reflect.Kind{
	"f32": reflect.Float32, "f64": reflect.Float64,
	"i8": reflect.Int8, "i16": reflect.Int16, "i32": reflect.Int32, "i64": reflect.Int64,
	"u8": reflect.Uint8, "u16": reflect.Uint16, "u32": reflect.Uint32, "u64": reflect.Uint64,
}

// push returns the push constants of a params struct: the bytes of the block of the shader.
func (k *Kernel) push(op string, params any) ([]byte, error) {
	v := reflect.ValueOf(params)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	switch {
	case params == nil && len(k.module.Params) == 0:
		return nil, nil
	case !v.IsValid():
		return nil, fmt.Errorf("%s: %s: %w: params (got nil, want a struct of %s)", k.session.surface, op, errs.ErrInvalidArgument, paramList(k.module))
	case v.Kind() != reflect.Struct:
		return nil, fmt.Errorf("%s: %s: %w: params (got %T, want a struct of %s)", k.session.surface, op, errs.ErrInvalidArgument, params, paramList(k.module))
	}
	known, ok := k.pushes.Load(v.Type())
	if !ok {
		known, _ = k.pushes.LoadOrStore(v.Type(), newPush(k.module, v.Type()))
	}
	p := known.(*push)
	if p.err != nil {
		return nil, fmt.Errorf("%s: %s: %w: params %v: %w (the shader has %s)", k.session.surface, op, errs.ErrInvalidArgument, v.Type(), p.err, paramList(k.module))
	}
	block := make([]byte, (k.module.ParamSize+3)&^3) // as many as the devices want
	for _, n := range p.numbers {
		n.put(block[n.at:], v)
	}
	return block, nil
}

// put writes the number at the start of to.
func (n *pushNumber) put(to []byte, v reflect.Value) {
	for _, i := range n.steps {
		if v.Kind() == reflect.Struct {
			v = v.Field(i)
		} else {
			v = v.Index(i)
		}
	}
	switch n.kind {
	case reflect.Float32:
		binary.LittleEndian.PutUint32(to, math.Float32bits(float32(v.Float())))
	case reflect.Float64:
		binary.LittleEndian.PutUint64(to, math.Float64bits(v.Float()))
	case reflect.Bool:
		if v.Bool() {
			to[0] = 1
		}
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		putBits(to, uint64(v.Int()), v.Type().Size())
	default:
		putBits(to, v.Uint(), v.Type().Size())
	}
}

// putBits writes the lowest bytes of x.
func putBits(to []byte, x uint64, size uintptr) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], x)
	copy(to, b[:size])
}

// newPush compares the fields of a struct with the members of the block of m.
func newPush(m *gpu.Module, t reflect.Type) *push {
	want := blockNumbers(m)
	p := &push{}
	if p.err = p.add(t, nil, "", len(want)+1); p.err != nil {
		return p
	}
	for i := range max(len(p.numbers), len(want)) {
		switch {
		case i >= len(want):
			p.err = fmt.Errorf("field %s is one too many", p.numbers[i].path)
		case i >= len(p.numbers):
			p.err = fmt.Errorf("a field for %s is missing", memberText(want[i].member))
		case !fits(p.numbers[i].kind, want[i].kind):
			p.err = fmt.Errorf("field %s (got %v, want %s for %s)", p.numbers[i].path, p.numbers[i].kind, goName(want[i].kind), memberText(want[i].member))
		case !sameName(p.numbers[i].path, want[i].member.Name):
			p.err = fmt.Errorf("field %s is at the place of %s: fields have the order and the names of the shader", p.numbers[i].path, memberText(want[i].member))
		default:
			p.numbers[i].at = want[i].at
			continue
		}
		return p
	}
	return p
}

// add appends the numbers of type t that are found at steps, but not many more than most.
func (p *push) add(t reflect.Type, steps []int, path string, most int) error {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			name := path
			switch {
			case f.Name == "_":
				continue
			case f.Anonymous && f.Type.Kind() == reflect.Struct:
				// The fields of an embedded struct are members of the block itself.
			case path == "":
				name = f.Name
			default:
				name += "." + f.Name
			}
			if err := p.add(f.Type, append(slices.Clone(steps), i), name, most); err != nil {
				return err
			}
		}
	case reflect.Array:
		for i := range t.Len() {
			before := len(p.numbers)
			if before > most {
				return nil
			}
			if err := p.add(t.Elem(), append(slices.Clone(steps), i), fmt.Sprintf("%s[%d]", path, i), most); err != nil {
				return err
			}
			if len(p.numbers) == before { // Elements without numbers add nothing, however many they are.
				return nil
			}
		}
	case reflect.Bool, reflect.Float32, reflect.Float64, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		p.numbers = append(p.numbers, pushNumber{steps: steps, path: path, kind: t.Kind()})
	case reflect.Int, reflect.Uint:
		return fmt.Errorf("field %s is %v, whose size is not that of any number in a shader (want %v32)", path, t, t.Kind())
	default:
		return fmt.Errorf("field %s is %v (want numbers of a fixed size, bool, and arrays and structs of them)", path, t)
	}
	return nil
}

// blockNumbers takes the members of a block apart into numbers.
func blockNumbers(m *gpu.Module) []blockNumber {
	var list []blockNumber
	for i := range m.Params {
		p := &m.Params[i]
		kind := numberOf(p.Type)
		size := uint32(max(numberBytes[kind], 1))
		for at := uint32(0); at < p.Size; at += size { // members have no gaps
			list = append(list, blockNumber{p, kind, p.Offset + at})
		}
	}
	return list
}

// numberOf is the type of the numbers in a type such as "f32x4[2]".
func numberOf(t string) string {
	if i := strings.IndexAny(t, "x["); i >= 0 {
		return t[:i]
	}
	return t
}

// fits reports whether a field of a kind may be a number of the shader.
func fits(got reflect.Kind, want string) bool {
	// A bool in a block is an unsigned number to SPIR-V.
	return got == goTypes[want] || got == reflect.Bool && want == "u32"
}

// goName is the type of Go for a number of a shader.
func goName(kind string) string {
	if k, ok := goTypes[kind]; ok {
		return k.String()
	}
	return "a type that Go does not have, such as a float in the shader"
}

// sameName reports whether a field may be that member of the shader. A compiler may have
// removed the names: "[2]." is then left of "stage[2].scale".
func sameName(path, member string) bool {
	plain := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", "")) }
	if strings.Trim(member, "[].0123456789") == "" {
		return true
	}
	for _, name := range []string{member, strings.ReplaceAll(member, ".row[", "[")} { // of a matrix that lies by rows
		if rest, ok := strings.CutPrefix(plain(path), plain(name)); ok && (rest == "" || rest[0] == '[') {
			return true
		}
	}
	return false
}

// memberText is a member as in "radius float32".
func memberText(m *spv.Member) string {
	kind, rest := numberOf(m.Type), ""
	if i := strings.Index(m.Type, "["); i >= 0 {
		rest = m.Type[i:]
	}
	if n, ok := strings.CutPrefix(strings.TrimSuffix(m.Type, rest), kind+"x"); ok {
		rest += "[" + n + "]"
	}
	text := kind
	if k, ok := goTypes[kind]; ok {
		text = k.String()
	}
	return strings.TrimSpace(m.Name + " " + rest + text)
}

// paramList lists the members of the block of m as fields of Go.
func paramList(m *gpu.Module) string {
	var list []string
	for i := range m.Params {
		list = append(list, memberText(&m.Params[i]))
	}
	if list == nil {
		return "no push constants"
	}
	return strings.Join(list, ", ")
}
