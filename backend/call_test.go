package backend_test

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/backend"
	"github.com/lathe-gpu/lathe/internal/errs"
	_ "github.com/lathe-gpu/lathe/ops/all" // registers the operations
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
	"github.com/lathe-gpu/lathe/value"
)

// valuesOf writes the attributes of a call as Values by name.
func valuesOf(t *testing.T, c spec.Call) backend.Attributes {
	t.Helper()
	attrs := backend.Attributes{}
	kinds := map[string]string{}
	for _, a := range c.Spec().Attrs() {
		kinds[a.Name] = a.Type
	}
	for _, word := range strings.Fields(spec.FormatCall(c))[1:] {
		name, text, _ := strings.Cut(word, "=")
		if text == `""` { // an empty text, as it is written in a call
			text = ""
		}
		attrs[name] = valueOf(t, kinds[name], text)
	}
	return attrs
}

func valueOf(t *testing.T, kind, text string) value.Value {
	t.Helper()
	switch {
	case text == "none":
		return value.Null
	case strings.HasSuffix(kind, "s or none"):
		var list []value.Value
		for part := range strings.SplitSeq(text, ",") {
			list = append(list, valueOf(t, strings.TrimSuffix(kind, "s or none"), part))
		}
		return value.Array(list...)
	case kind == "boolean":
		return value.Boolean(text == "true")
	case kind == "element type" || kind == "text":
		return value.String(text)
	}
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return value.Integer(i)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatalf("a %s: %v", kind, err)
	}
	v, err := value.Float(f)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// example is a small call of an operation, its inputs and the outputs it must have.
func example(t *testing.T, op *spec.Op, c spec.Call) (in, want []*tensor.Host) {
	t.Helper()
	dims := make([]int, len(op.Cases.Dims))
	for i, d := range op.Cases.Dims {
		if dims[i] = 5 + i; len(d.Only) > 0 {
			dims[i] = d.Only[0]
		}
	}
	descs := op.Cases.InputsFor(c, op.Cases.DTypes[0], dims)
	for i, d := range descs {
		low, high := op.Cases.Low, op.Cases.High
		if op.Cases.Range != nil {
			low, high = op.Cases.Range(c, i, descs)
		}
		in = append(in, ramp(d.DType, low, high, d.Shape...))
	}
	shapes, err := op.Shape(c, descs)
	if err != nil {
		t.Fatalf("%s: %v", op.Name, err)
	}
	for _, d := range shapes {
		want = append(want, tensor.NewHost(d))
	}
	op.Reference(c, in, want)
	return in, want
}

// TestCall calls every operation that is offered by its name: with attributes as text,
// and as Values into outputs of the caller.
func TestCall(t *testing.T) {
	b := open(t)
	called := 0
	for _, op := range spec.All() {
		if !op.Offered() {
			continue
		}
		called++
		c := op.Cases.Calls[0]
		hosts, want := example(t, op, c)
		var in, into []handle
		var descs []tensor.Desc
		for _, h := range hosts {
			in, descs = append(in, put(t, b, h)), append(descs, h.Desc)
		}
		out, err := b.Call(spec.FormatCall(c), nil, in...)
		if err != nil || len(out) != len(want) {
			t.Errorf("%s: %d outputs, %v; want %d", spec.FormatCall(c), len(out), err, len(want))
			continue
		}
		for _, w := range want {
			h, err := b.AllocTensor(w.Shape, w.DType)
			if err != nil {
				t.Fatal(err)
			}
			into = append(into, h)
		}
		attrs := valuesOf(t, c)
		if err := b.CallInto(op.Name, attrs, in, into); err != nil {
			t.Errorf("%s with %v: %v", op.Name, attrs, err)
			continue
		}
		for i, w := range want {
			tol := op.Tolerance(c, op.Cases.DTypes[0], descs)
			for _, h := range []handle{out[i], into[i]} {
				meta, err := b.TensorMeta(h)
				if err != nil || meta.DType != w.DType || !slices.Equal(meta.Shape, w.Shape) {
					t.Errorf("%s: output %d is %+v, %v; want %v", op.Name, i, meta, err, w.Desc)
					continue
				}
				got := (&tensor.Host{Desc: w.Desc, Data: contents(t, b, []handle{h})}).Floats()
				ref, wrong := w.Floats(), 0
				for k, x := range ref {
					if d := math.Abs(got[k] - x); !(d <= tol.Bound(w.Desc, ref, k)) && !(math.IsNaN(x) && math.IsNaN(got[k])) {
						wrong++
					}
				}
				if float64(wrong) > tol.Flips*float64(len(got)) {
					t.Errorf("%s: %d elements of output %d are wrong", spec.FormatCall(c), wrong, i)
				}
			}
		}
	}
	if called < 50 {
		t.Errorf("%d operations were called, want all of them", called)
	}
}

// TestCallRefuses makes calls that are wrong; the errors list what there is.
func TestCallRefuses(t *testing.T) {
	b := open(t)
	x := put(t, b, f32(3, 5))
	before := contents(t, b, []handle{x})
	for _, c := range []struct {
		name  string
		attrs backend.Attributes
		in    []handle
		want  error
		text  string
	}{
		{"sofmax", nil, []handle{x}, errs.ErrInvalidArgument, `did you mean "softmax"`},
		{"no_such_operation", nil, []handle{x}, errs.ErrInvalidArgument, `unknown operation "no_such_operation" ("lathe ops" and docs/OPS.md list all)`},
		{"", nil, nil, errs.ErrInvalidArgument, `an operation is missing ("lathe ops" and docs/OPS.md list all)`},
		{"pointwise", nil, []handle{x}, errs.ErrInvalidArgument, "unknown operation"},
		{"softmax", nil, []handle{x}, errs.ErrInvalidArgument, "dim is missing"},
		{"softmax", backend.Attributes{"axis": value.Integer(0)}, []handle{x}, errs.ErrInvalidArgument, "it has: dim"},
		{"softmax dim=0", backend.Attributes{"dim": value.Integer(0)}, []handle{x}, errs.ErrInvalidArgument, "given twice"},
		{"softmax", backend.Attributes{"dim": value.String("last")}, []handle{x}, errs.ErrInvalidArgument, "is not an integer"},
		{"softmax", backend.Attributes{"dim": value.Handle(x)}, []handle{x}, errs.ErrType, "handle"},
		{"reduce_sum", backend.Attributes{"dims": value.Array(value.Array())}, []handle{x}, errs.ErrType, "an array of array"},
		{"softmax", backend.Attributes{"dim=0 dim": value.Integer(0)}, []handle{x}, errs.ErrInvalidArgument, "no name of an attribute"},
		{"softmax dim=0", nil, nil, errs.ErrInvalidArgument, "inputs (got 0, want in)"},
		{"softmax dim=0", nil, []handle{0}, errs.ErrInvalidHandle, "softmax: in: "},
		{"softmax dim=7", nil, []handle{x}, errs.ErrInvalidArgument, ""},
	} {
		out, err := b.Call(c.name, c.attrs, c.in...)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) || out != nil {
			t.Errorf("%q %v: got %v, %v; want %v with %q", c.name, c.attrs, out, err, c.want, c.text)
		}
		if err := b.CallInto(c.name, c.attrs, c.in, []handle{x}); !errors.Is(err, c.want) {
			t.Errorf("%q %v into a tensor: got %v, want %v", c.name, c.attrs, err, c.want)
		}
	}
	if err := b.CallInto("relu", nil, []handle{x}, []handle{x}); err != nil {
		t.Errorf("relu in place: %v", err)
	}
	if err := b.CallInto("softmax dim=0", nil, []handle{x}, nil); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Errorf("no output: got %v", err)
	}
	if bytesEqual := slices.Equal(before, contents(t, b, []handle{x})); bytesEqual {
		t.Error("relu in place changed nothing")
	}
}
