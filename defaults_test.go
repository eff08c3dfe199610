package lathe_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe"
	_ "github.com/lathe-gpu/lathe/ops/all" // registers the operations
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// bare returns the zero call of an operation with the attributes set that have no
// default, and the text of the same.
func bare(op *spec.Op) (spec.Call, string) {
	from := reflect.ValueOf(op.Defaults)
	v := reflect.New(from.Type()).Elem()
	text := op.Name
	words := strings.Fields(spec.FormatCall(op.Defaults))[1:]
	for i, a := range op.Attrs() {
		if a.Default == "" {
			v.Field(i).Set(from.Field(i))
			text += " " + words[i]
		}
	}
	return v.Interface().(spec.Call), text
}

// withText is a call whose text is that of the defaults, because empty text is the default.
func withText(c, defaults spec.Call) spec.Call {
	v := reflect.New(reflect.TypeOf(c)).Elem()
	v.Set(reflect.ValueOf(c))
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.String && f.CanSet() {
			f.Set(reflect.ValueOf(defaults).Field(i))
		}
	}
	return v.Interface().(spec.Call)
}

// In Go and in text the defaults are the same: WithDefaults of a literal that
// leaves everything out is the call that text leaves everything out of. A literal
// by itself is the same call, or is refused.
func TestDefaultsInGoAndText(t *testing.T) {
	for _, op := range spec.All() {
		t.Run(op.Name, func(t *testing.T) {
			target := spec.Target{MaxBinding: 1 << 27, OffsetAlign: 16, TexelAlign: 16, MaxGroups: [3]uint32{65535, 65535, 65535}, MaxInvocations: 256, MaxSharedBytes: 1 << 14, MaxParamBytes: 128, MaxBindings: 8, F16: true, F64: true, I64: true}
			in := op.TypicalInputs(op.Cases.DTypes[0])
			plan := func(c spec.Call) (*spec.Plan, []tensor.Desc) {
				t.Helper()
				out, err := op.Shape(c, in)
				if err != nil {
					t.Fatalf("%#v: %v", c, err)
				}
				p, err := op.Plan(c, &target, in, out)
				if err != nil {
					t.Fatalf("%#v: %v", c, err)
				}
				return p, out
			}
			literal, text := bare(op)
			filled := spec.WithDefaults(literal)
			if !reflect.DeepEqual(filled, op.Defaults) {
				t.Errorf("WithDefaults of %#v is %#v, want %#v", literal, filled, op.Defaults)
			}
			want, shape := plan(op.Defaults)
			if op.Offered() {
				parsed, err := spec.ParseCall(text)
				if err != nil || !reflect.DeepEqual(parsed, op.Defaults) {
					t.Errorf("%q is %#v, %v, want %#v", text, parsed, err, op.Defaults)
				}
			}
			// Steps hold functions nowhere, but a plan may.
			if got, _ := plan(filled); !reflect.DeepEqual(got.Steps, want.Steps) {
				t.Errorf("%#v is planned otherwise than the defaults", filled)
			}
			// A pointer to a call is that call.
			p := reflect.New(reflect.TypeOf(op.Defaults))
			p.Elem().Set(reflect.ValueOf(op.Defaults))
			pointer := p.Interface().(spec.Call)
			if got, out := plan(pointer); !reflect.DeepEqual(got.Steps, want.Steps) || !reflect.DeepEqual(out, shape) {
				t.Errorf("%T is planned otherwise than %T", pointer, op.Defaults)
			}
			if a, b := op.Tolerance(pointer, op.Cases.DTypes[0], in), op.Tolerance(op.Defaults, op.Cases.DTypes[0], in); a != b {
				t.Errorf("%T has the tolerance %v, want %v", pointer, a, b)
			}
			if a, b := op.Cost(pointer, in), op.Cost(op.Defaults, in); a != b {
				t.Errorf("%T costs %v, want %v", pointer, a, b)
			}
			switch _, err := op.Shape(literal, in); {
			case reflect.DeepEqual(withText(literal, op.Defaults), op.Defaults):
				if err != nil {
					t.Errorf("%#v is the default call, and refused: %v", literal, err)
				}
				if c, err := spec.Resolve(literal); err != nil || !reflect.DeepEqual(c, op.Defaults) {
					t.Errorf("%#v resolved to %#v, %v", literal, c, err)
				}
			case !errors.Is(err, lathe.ErrInvalidArgument) || !strings.Contains(err.Error(), "zero, as if left out"):
				t.Errorf("%#v is not the default call: got %v, want ErrInvalidArgument that says so", literal, err)
			}
			// A zero in text is a zero.
			for i, a := range op.Attrs() {
				if a.Type != "number" || !op.Offered() {
					continue
				}
				c, err := spec.ParseCall(text + " " + a.Name + "=0")
				if strings.Contains(text, " "+a.Name+"=") {
					continue
				}
				if err != nil {
					t.Errorf("%s=0: %v", a.Name, err)
				} else if c, err = spec.Resolve(c); err != nil || reflect.ValueOf(c).Field(i).Float() != 0 {
					t.Errorf("%s=0: got %#v, %v", a.Name, c, err)
				}
			}
		})
	}
}
