package backend

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/lathe-gpu/lathe/internal/errs"
	_ "github.com/lathe-gpu/lathe/ops/all" // registers the operations
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
	"github.com/lathe-gpu/lathe/value"
)

// Attributes are the attributes of an operation by name. Numbers are integers or floats.
// Lists are arrays of numbers. Element types are strings such as "f32". Null means that an
// attribute has no value.
type Attributes map[string]value.Value

// Call makes the outputs of an operation and computes them from in. The operation is
// given by its name or an alias, as docs/OPS.md lists them, and its attributes by attrs,
// by text after the name as in "softmax dim=-1", or by both. Attributes that are not
// given have their defaults. The caller frees the outputs.
//
// Errors: ErrInvalidArgument for an unknown operation or attribute, with the known
// names; ErrType for a Value that no attribute can have; and those of TensorOps.
func (d *Device) Call(name string, attrs Attributes, in ...TensorHandle) ([]TensorHandle, error) {
	c, err := d.parse(name, attrs)
	if err != nil {
		return nil, err
	}
	inputs, err := d.operands(c.Spec(), c.Spec().In, in)
	if err != nil {
		return nil, err
	}
	res, err := d.session.Call(context.Background(), c, inputs)
	if err != nil {
		return nil, err
	}
	out := make([]TensorHandle, 0, len(res))
	for i, x := range res {
		h, err := d.tensors.Add(x)
		if err != nil {
			for _, x := range res[i+1:] {
				_ = d.session.Free(x) // no caller has seen it
			}
			for _, h := range out {
				_ = d.tensors.Free(h)
			}
			return nil, err
		}
		out = append(out, h)
	}
	return out, nil
}

// CallInto is Call with outputs that the caller has allocated. An output may be an input
// where the operation works in place; docs/OPS.md says where.
// Errors: as Call.
func (d *Device) CallInto(name string, attrs Attributes, in, out []TensorHandle) error {
	c, err := d.parse(name, attrs)
	if err != nil {
		return err
	}
	return d.update(c, in, out)
}

// parse makes a call of a name, the text after it, and attributes by name.
func (d *Device) parse(name string, attrs Attributes) (spec.Call, error) {
	if err := d.ready("call"); err != nil {
		return nil, err
	}
	var text strings.Builder
	text.WriteString(name)
	for _, attr := range slices.Sorted(maps.Keys(attrs)) {
		value, err := written(attrs[attr])
		if err != nil {
			return nil, fmt.Errorf("backend: call %q: attribute %q: %w", name, attr, err)
		}
		if attr == "" || strings.ContainsAny(attr, " \t\n\"=") {
			return nil, fmt.Errorf("backend: call %q: %w: %q is no name of an attribute", name, errs.ErrInvalidArgument, attr)
		}
		fmt.Fprintf(&text, " %s=%s", attr, value)
	}
	c, err := spec.ParseCall(text.String())
	if err != nil {
		return nil, fmt.Errorf("backend: call: %w", err)
	}
	return c, nil
}

// written is a Value as text that spec.ParseCall reads.
func written(v value.Value) (string, error) {
	switch v.Type() {
	case value.NullType:
		return "none", nil
	case value.BooleanType:
		b, err := v.AsBool()
		return strconv.FormatBool(b), err
	case value.IntegerType:
		i, err := v.AsInt()
		return strconv.FormatInt(i, 10), err
	case value.FloatType:
		f, err := v.AsFloat()
		return strconv.FormatFloat(f, 'g', -1, 64), err
	case value.StringType:
		s, err := v.AsString()
		if _, known := tensor.ParseDType(s); known {
			return s, err
		}
		return strconv.Quote(s), err
	case value.ArrayType:
		elements, err := v.Elements()
		if err != nil || len(elements) == 0 {
			return "none", err
		}
		var parts []string
		for _, e := range elements {
			if t := e.Type(); t == value.ArrayType || t == value.NullType {
				return "", fmt.Errorf("%w: an array of %v", errs.ErrType, t)
			}
			part, err := written(e)
			if err != nil {
				return "", err
			}
			parts = append(parts, part)
		}
		return strings.Join(parts, ","), nil
	}
	return "", fmt.Errorf("%w: no attribute is of type %v", errs.ErrType, v.Type())
}
