// Package nopanic calls everything that Lathe exports with nothing: nil pointers,
// zero values, closed devices. Whatever a caller does may fail; it must not panic.
package nopanic

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/backend"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/handles"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/abi"
	"github.com/lathe-gpu/lathe/internal/batch"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/extra"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
	"github.com/lathe-gpu/lathe/value"
)

// functions are all exported ones by package folder, but for those of excused.
var functions = map[string]map[string]any{
	".": {
		"Devices": lathe.Devices, "Open": lathe.Open,
		"FromFloats": lathe.FromFloats[float32], "FromSlice": lathe.FromSlice[float32], "FromRows": lathe.FromRows[float32], "FromImage": lathe.FromImage, "ToImage": lathe.ToImage,
		"ReadInto": lathe.ReadInto[float32], "ToRows": lathe.ToRows[float32],
		"ToFloats": lathe.ToFloats[float32], "ToSlice": lathe.ToSlice[float32],
		"WithBackend": lathe.WithBackend, "WithCloseTimeout": lathe.WithCloseTimeout, "WithCacheDir": lathe.WithCacheDir, "WithDevice": lathe.WithDevice,
		"WithGPU": lathe.WithGPU, "WithStrip": lathe.WithStrip, "WithTrace": lathe.WithTrace,
		"WithTuneMode": lathe.WithTuneMode, "WithTuning": lathe.WithTuning, "WithValidation": lathe.WithValidation,
		"WithLogger": lathe.WithLogger, "WithoutCache": lathe.WithoutCache,
	},
	"backend": {"Names": backend.Names, "New": backend.New, "Open": backend.Open, "OpenExplained": backend.OpenExplained},
	"tensor": {
		"BF16FromFloat64": tensor.BF16FromFloat64, "BF16ToFloat32": tensor.BF16ToFloat32,
		"F16FromFloat64": tensor.F16FromFloat64, "F16ToFloat32": tensor.F16ToFloat32,
		"DTypes": tensor.DTypes, "ParseDType": tensor.ParseDType,
		"Contiguous": tensor.Contiguous, "FromFloats": tensor.FromFloats, "NewHost": tensor.NewHost,
	},
	"value": {
		"Array": value.Array, "Boolean": value.Boolean, "Eval": value.Eval, "Float": value.Float, "Handle": value.Handle,
		"Integer": value.Integer, "Object": value.Object, "Ops": value.Ops, "String": value.String,
	},
	"gpu": {
		"CheckModule": gpu.CheckModule, "CloseTimeout": gpu.CloseTimeout, "CheckRange": gpu.CheckRange, "CheckSize": gpu.CheckSize, "Choose": gpu.Choose,
		"Describe": gpu.Describe, "DispatchCompute": gpu.DispatchCompute, "DispatchRanges": gpu.DispatchRanges, "Label": gpu.Label, "OnlyCPU": gpu.OnlyCPU, "Rank": gpu.Rank, "Selector": gpu.Selector, "ModuleEntries": gpu.ModuleEntries, "ModuleEntry": gpu.ModuleEntry, "ParseModule": gpu.ParseModule, "RoundUp": gpu.RoundUp,
		"StartTrace": gpu.StartTrace,
	},
	"internal/abi": {"Fingerprint": abi.Fingerprint, "NewTableKernel": abi.NewTableKernel, "Parse": abi.Parse},
	"internal/spv": {
		"Assemble": spv.Assemble, "Cooperative": spv.Cooperative, "Entries": spv.Entries, "Entry": spv.Entry, "Guard": spv.Guard, "Lower": spv.Lower,
		"InstructionName": spv.InstructionName, "Parse": spv.Parse, "ParseAccess": spv.ParseAccess, "ParseKind": spv.ParseKind, "Program": spv.Program, "Reflect": spv.Reflect,
	},
	"internal/batch": {"IsPicture": batch.IsPicture, "ParseFormat": batch.ParseFormat, "Find": batch.Find, "Plan": batch.Plan, "Read": batch.Read, "ReadStream": batch.ReadStream, "Run": batch.Run},
	"spec": {
		"All": spec.All, "AppendClass": spec.AppendClass, "AppendKey": spec.AppendKey, "Define": spec.Define[ops.Abs], "Status": spec.Status, "CheckParams": spec.CheckParams, "Encode": spec.Encode,
		"FormatBrief": spec.FormatBrief, "FormatCall": spec.FormatCall, "Given": spec.Given[float64], "In": spec.In,
		"Layout": spec.Layout, "Lookup": spec.Lookup, "Out": spec.Out, "PlacesOf": spec.PlacesOf, "ParseCall": spec.ParseCall, "ParseCalls": spec.ParseCalls,
		"ParseOp": spec.ParseOp, "Resolve": spec.Resolve, "Scratch": spec.Scratch, "ShaderTable": spec.ShaderTable,
		"Table": spec.Table, "VerifyABI": spec.VerifyABI, "WithDefaults": spec.WithDefaults[spec.Call],
	},
	"internal/exec": {
		"New": exec.New, "TargetOf": exec.TargetOf, "Verify": exec.Verify, "WithTarget": exec.WithTarget,
		"WithTrace": exec.WithTrace, "WithTuning": exec.WithTuning,
	},
	"handles":  {"New": handles.New[int]},
	"imageops": {"ForOpaque": imageops.ForOpaque, "Fuse": imageops.Fuse, "Halo": imageops.Halo},
	"ops":      {},
}

// noContext is a nil context, which a caller may hand over by mistake.
var noContext context.Context

// excused panic by intent, as the standard library's do: on a mistake of the
// program's text, at its start.
var excused = []string{"backend.Register", "spec.Register"}

// TestFunctionsAreListed fails where a function was added and not listed.
func TestFunctionsAreListed(t *testing.T) {
	for dir, have := range functions {
		var declared []string
		files, err := filepath.Glob(filepath.Join("..", "..", dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files, %v", dir, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.IsExported() && !slices.Contains(excused, dir+"."+fn.Name.Name) {
					declared = append(declared, fn.Name.Name)
				}
			}
		}
		for _, name := range declared {
			if have[name] == nil {
				t.Errorf("%s.%s is not called by this test: add it to functions", dir, name)
			}
		}
		slices.Sort(declared) // files of other systems declare the same ones
		declared = slices.Compact(declared)
		if len(have) != len(declared) {
			t.Errorf("%s: %d functions are listed, %d declared", dir, len(have), len(declared))
		}
	}
}

// candidates are arguments of a type, the best of the bad ones last: its zero, nils
// in interfaces, pointers to zeros.
func candidates(t reflect.Type) []reflect.Value {
	list := []reflect.Value{reflect.Zero(t)}
	add := func(vs ...any) {
		for _, v := range vs {
			if reflect.TypeOf(v).AssignableTo(t) {
				list = append(list, reflect.ValueOf(v))
			}
		}
	}
	switch t.Kind() {
	case reflect.Interface:
		add(context.Background(), (*imageops.GaussianBlur)(nil), &imageops.GaussianBlur{}, &imageops.GaussianBlur{Sigma: 1}, imageops.Pointwise{Calls: []spec.Call{nil}},
			(*image.NRGBA)(nil), (*image.YCbCr)(nil), &image.NRGBA{Rect: image.Rect(0, 0, 4, 4)}, &image.Paletted{Rect: image.Rect(0, 0, 4, 4)},
			(*lathe.Device)(nil), &lathe.Device{}, (*null.Device)(nil), (*os.File)(nil))
	case reflect.Pointer:
		list = append(list, reflect.New(t.Elem()))
	case reflect.Slice:
		one := reflect.MakeSlice(t, 1, 1)
		list = append(list, one)
		if k := t.Elem().Kind(); k == reflect.Pointer {
			one = reflect.MakeSlice(t, 1, 1)
			one.Index(0).Set(reflect.New(t.Elem().Elem()))
			list = append(list, one)
		}
	case reflect.Int, reflect.Int64:
		list = append(list, reflect.ValueOf(-1).Convert(t), reflect.ValueOf(3).Convert(t))
	case reflect.Float64:
		list = append(list, reflect.ValueOf(1.5).Convert(t))
	}
	return list
}

// tries calls f for lists of arguments: all combinations where they are few, else
// each candidate among zeros and all candidates side by side.
func tries(f reflect.Type, skip int, try func(args []reflect.Value)) {
	var sets [][]reflect.Value
	n := 1
	for i := skip; i < f.NumIn(); i++ {
		sets = append(sets, candidates(f.In(i)))
		n = min(n*len(sets[len(sets)-1]), 1000)
	}
	at := func(pick func(i int) int) {
		args := make([]reflect.Value, len(sets))
		for i, s := range sets {
			args[i] = s[min(pick(i), len(s)-1)]
		}
		try(args)
	}
	if n <= 150 {
		index := make([]int, len(sets))
		for {
			at(func(i int) int { return index[i] })
			k := 0
			for ; k < len(sets); k++ {
				if index[k]++; index[k] < len(sets[k]) {
					break
				}
				index[k] = 0
			}
			if k == len(sets) {
				return
			}
		}
	}
	for k := range 12 {
		at(func(int) int { return k })
		for i := range sets {
			at(func(j int) int {
				if i == j {
					return k
				}
				return 0
			})
			at(func(j int) int { // with a context, where there is one
				if j == i || j == 0 {
					return max(k, 1)
				}
				return 0
			})
		}
	}
}

// call reports a panic as an error, and the error that the function returned.
func call(f reflect.Value, args []reflect.Value) (returned error, panicked error) {
	defer func() {
		if p := recover(); p != nil {
			panicked = fmt.Errorf("%v\n%s", p, debug.Stack())
		}
	}()
	var out []reflect.Value
	if f.Type().IsVariadic() {
		out = f.CallSlice(args)
	} else {
		out = f.Call(args)
	}
	for _, v := range out {
		if v.Kind() == reflect.Func && !v.IsNil() && v.Type().NumIn() == 1 && v.Type().NumOut() == 0 && v.Type() != reflect.TypeFor[lathe.Option]() && v.Type() != reflect.TypeFor[exec.Option]() {
			v.Call([]reflect.Value{reflect.Zero(v.Type().In(0))}) // the end of a span
		}
		if v.Type() == reflect.TypeFor[error]() && !v.IsNil() {
			returned = v.Interface().(error)
		}
	}
	return returned, nil
}

func show(args []reflect.Value) string {
	var text []string
	for _, a := range args {
		text = append(text, fmt.Sprintf("%v %+v", a.Type(), a))
	}
	return strings.Join(text, ", ")
}

func TestFunctions(t *testing.T) {
	t.Setenv("LATHE_TUNE", "off")
	for dir, list := range functions {
		for name, fn := range list {
			f := reflect.ValueOf(fn)
			if name == "Open" || name == "OpenExplained" || name == "Devices" || name == "WithTrace" && dir == "internal/exec" {
				// Opening a device for each try takes too long.
				if _, p := call(f, zeros(f.Type())); p != nil {
					t.Errorf("%s.%s of nothing: %v", dir, name, p)
				}
				continue
			}
			tries(f.Type(), 0, func(args []reflect.Value) {
				if _, p := call(f, args); p != nil {
					t.Errorf("%s.%s(%s): %v", dir, name, show(args), p)
				}
			})
		}
	}
	for name, f := range map[string]func() error{
		"lathe.Open":                   func() error { _, err := lathe.Open(noContext); return err },
		"lathe.Devices":                func() error { _, err := lathe.Devices(noContext); return err },
		"lathe.FromSlice":              func() error { _, err := lathe.FromSlice(nil, []float32{1}); return err },
		"lathe.ToSlice":                func() error { _, err := lathe.ToSlice[float32](t.Context(), nil, nil); return err },
		"backend.Open":                 func() error { _, err := backend.Open(noContext, ""); return err },
		"backend.New":                  func() error { _, err := backend.New(nil); return err },
		"backend.New of a nil pointer": func() error { _, err := backend.New((*null.Device)(nil)); return err },
		"exec.New":                     func() error { _, err := exec.New(nil); return err },
		"gpu.DispatchCompute":          func() error { return gpu.DispatchCompute(noContext, nil, nil, nil, nil, [3]uint32{}) },
		"gpu.Dispatch.Check":           func() error { return (&gpu.Dispatch{}).Check(nil, nil) },
		"gpu.CheckModule":              func() error { return gpu.CheckModule(nil, &spv.Module{}) },
		"gpu.CheckSize":                func() error { return gpu.CheckSize(nil, 1) },
		"gpu.StartTrace":               func() error { return gpu.StartTrace(nil, nil, nil) },
		"spv.Lower":                    func() error { _, err := spv.Lower(nil, false); return err },
		"spv.Guard":                    func() error { _, err := spv.Guard(nil); return err },
		"batch.Run":                    func() error { _, err := batch.Run(noContext, nil, nil, nil, batch.Options{}); return err },
		"batch.ReadStream":             func() error { _, err := batch.ReadStream(noContext, nil, 0); return err },
		"batch.Find":                   func() error { _, err := batch.Find(noContext, nil, batch.FindOptions{}); return err },
		"lathe.WithGPU": func() error {
			_, err := lathe.Open(t.Context(), nil, lathe.WithGPU((*null.Device)(nil)))
			return err
		},
	} {
		if err := f(); err == nil {
			t.Errorf("%s of nothing succeeded", name)
		}
	}
}

// zeros are the zero arguments of a function.
func zeros(f reflect.Type) []reflect.Value {
	var args []reflect.Value
	for i := range f.NumIn() {
		args = append(args, reflect.Zero(f.In(i)))
	}
	return args
}

// lent is a gpu.Device on which nothing is computed.
func lent(t *testing.T) gpu.Device {
	t.Helper()
	return null.New(nil)
}

// receiver is a value to call all methods of.
type receiver struct {
	name  string
	value any
	// empty is of those on which nothing can be done: what returns an error must.
	empty bool
}

func receivers(t *testing.T) []receiver {
	open := func() *lathe.Device {
		d, err := lathe.Open(t.Context(), lathe.WithGPU(lent(t)), lathe.WithoutCache())
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	live, closed := open(), open()
	x, err := live.NewTensor(tensor.Contiguous(tensor.F32, 2, 2))
	if err != nil {
		t.Fatal(err)
	}
	old, err := closed.NewTensor(tensor.Contiguous(tensor.F32, 2, 2))
	if err != nil {
		t.Fatal(err)
	}
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	shader, err := extra.Module("test/gputest_add.f32")
	if err != nil {
		t.Fatal(err)
	}
	kernel, err := live.LoadKernel(shader.Code)
	if err != nil {
		t.Fatal(err)
	}
	b, err := backend.New(lent(t))
	if err != nil {
		t.Fatal(err)
	}
	gone, err := backend.New(lent(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	run, err := exec.New(lent(t))
	if err != nil {
		t.Fatal(err)
	}
	list := []receiver{
		{"a live Device", live, false}, {"a closed Device", closed, false}, {"a live Tensor", x, false}, {"a Tensor of a closed Device", old, false},
		{"a live backend", b, false}, {"a closed backend", gone, false}, {"a live Runner", run, false},
		{"a nil Device", (*lathe.Device)(nil), true}, {"a zero Device", &lathe.Device{}, true},
		{"a nil Tensor", (*lathe.Tensor)(nil), true}, {"a zero Tensor", &lathe.Tensor{}, true},
		{"a nil Kernel", (*lathe.Kernel)(nil), true}, {"a zero Kernel", &lathe.Kernel{}, true}, {"a live Kernel", kernel, false},
		{"a nil backend", (*backend.Device)(nil), false}, {"a zero backend", &backend.Device{}, false}, // scalars need none
		{"a nil Runner", (*exec.Runner)(nil), true}, {"a zero Runner", &exec.Runner{}, true},
		{"a nil table", (*handles.Table[int])(nil), true}, {"a zero table", &handles.Table[int]{}, false}, {"a table", handles.New[int](nil), false},
		{"a nil dispatch", (*gpu.Dispatch)(nil), true}, {"a zero dispatch", &gpu.Dispatch{}, true},
	}
	for _, v := range []any{
		tensor.Desc{}, tensor.Host{}, tensor.DType(0), tensor.DType(200), value.Value{}, value.Type(0), value.Type(99),
		tensor.Desc{DType: tensor.F32, Strides: []int{1}}, tensor.Desc{DType: tensor.F32, Shape: []int{2}, Strides: []int{}}, tensor.Desc{Shape: []int{-1}},
		tensor.Host{Desc: tensor.Contiguous(tensor.F32, 3)}, tensor.Host{Desc: tensor.Desc{DType: tensor.U8, Shape: []int{3}, Strides: []int{5, 5}}, Data: make([]byte, 4)},
		gpu.Kind(0), gpu.Kind(99), gpu.SpanKind(99), gpu.LimitError{}, spv.Kind(99), spv.Access(99), spv.Module{}, abi.Table{}, batch.Report{},
		spec.Op{}, spec.Cases{}, spec.Ref{Kind: 200, Index: -1}, exec.Tuned{}, handles.Handle(0), backend.Scalars{}, imageops.Pointwise{Calls: []spec.Call{nil}}, ops.Copy{},
	} {
		p := reflect.New(reflect.TypeOf(v))
		p.Elem().Set(reflect.ValueOf(v))
		list = append(list, receiver{fmt.Sprintf("%T %+v", v, v), p.Interface(), false}, receiver{fmt.Sprintf("a nil %T", p.Interface()), reflect.Zero(p.Type()).Interface(), false})
	}
	for _, op := range spec.All() {
		list = append(list, receiver{op.Name, op.Defaults, false})
	}
	return list
}

func TestMethods(t *testing.T) {
	t.Setenv("LATHE_TUNE", "off")
	for _, r := range receivers(t) {
		v := reflect.ValueOf(r.value)
		byValue := v.Kind() == reflect.Pointer && v.IsNil()
		for i := range v.NumMethod() {
			m := v.Type().Method(i)
			if byValue {
				// Go itself panics where a method of a value is called by a nil
				// pointer.
				if _, own := v.Type().Elem().MethodByName(m.Name); own {
					continue
				}
			}
			if m.Name == "Close" && !r.empty {
				continue // it would end the others
			}
			tries(m.Type, 1, func(args []reflect.Value) {
				err, p := call(v.Method(i), args)
				if p != nil {
					t.Errorf("%s.%s(%s): %v", r.name, m.Name, show(args), p)
				}
				if n := m.Type.NumOut(); r.empty && n > 0 && m.Type.Out(n-1) == reflect.TypeFor[error]() && err == nil {
					t.Errorf("%s.%s(%s) succeeded", r.name, m.Name, show(args))
				}
			})
		}
	}
}

// Methods of a live Device refuse what is no tensor, no call and no context.
func TestLiveDeviceRefuses(t *testing.T) {
	d, err := lathe.Open(t.Context(), lathe.WithGPU(null.NewRecorder(nil)), lathe.WithoutCache())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	x, err := d.NewTensor(tensor.Contiguous(tensor.F32, 2))
	if err != nil {
		t.Fatal(err)
	}
	img := image.NewNRGBA(image.Rect(0, 0, 4, 4))
	var bg = t.Context()
	for name, f := range map[string]func() error{
		"Apply, nil context": func() error { _, err := d.Apply(noContext, img, imageops.Sharpen{}); return err },
		"Apply, nil image":   func() error { _, err := d.Apply(bg, nil); return err },
		"Apply, nil pointer": func() error { _, err := d.Apply(bg, (*image.RGBA)(nil)); return err },
		"Apply, short image": func() error {
			_, err := d.Apply(bg, &image.RGBA{Rect: img.Rect, Stride: 16, Pix: img.Pix[:63]})
			return err
		},
		"Apply, short gray":    func() error { _, err := d.Apply(bg, &image.Gray{Rect: img.Rect}); return err },
		"Apply, empty palette": func() error { _, err := d.Apply(bg, &image.Paletted{Rect: img.Rect}); return err },
		"Apply, nil call":      func() error { _, err := d.Apply(bg, img, nil); return err },
		"Apply, nil op":        func() error { _, err := d.Apply(bg, img, (*imageops.Sharpen)(nil)); return err },
		"Apply, no picture op": func() error { _, err := d.Apply(bg, img, &ops.MatMul{}); return err },
		"ApplyTo, short image": func() error { return d.ApplyTo(bg, &image.NRGBA{Rect: img.Rect, Stride: 16}, img) },
		"ApplyTo, short RGBA":  func() error { return d.ApplyTo(bg, &image.RGBA{Rect: img.Rect, Stride: 16, Pix: img.Pix[:63]}, img) },
		"ApplyTo, short gray":  func() error { return d.ApplyTo(bg, &image.Gray{Rect: img.Rect, Stride: 4}, img) },
		"Apply, endless":       func() error { _, err := d.Apply(bg, image.NewUniform(color.White)); return err },
		"Sync, nil context":    func() error { return d.Sync(noContext) },
		"Read, nil context":    func() error { _, err := d.Read(noContext, x); return err },
		"Write, nil context":   func() error { return d.Write(noContext, x, make([]byte, 8)) },
		"Run, nil context":     func() error { return d.Run(noContext, ops.Abs{}, []*lathe.Tensor{x}, []*lathe.Tensor{x}) },
		"Run, nil tensors":     func() error { return d.Run(bg, ops.Abs{}, []*lathe.Tensor{nil}, []*lathe.Tensor{nil}) },
		"Call, nil call":       func() error { _, err := d.Call(nil, x); return err },
		"Call, nil op":         func() error { _, err := d.Call((*ops.Abs)(nil), x); return err },
		"DispatchCompute":      func() error { return d.DispatchCompute(noContext, nil, []*lathe.Tensor{x}, nil, [3]uint32{1, 1, 1}) },
		"ToSlice":              func() error { _, err := lathe.ToSlice[float32](noContext, d, x); return err },
		"GPU().Sync":           func() error { return d.GPU().Sync(noContext) },
	} {
		switch err := f(); {
		case err == nil:
			t.Errorf("%s: it succeeded", name)
		case !errors.Is(err, lathe.ErrInvalidArgument) && !errors.Is(err, lathe.ErrInvalidHandle):
			t.Errorf("%s: %v", name, err)
		}
	}
	// A pointer to a call is a call.
	if _, err := d.Apply(bg, img, &imageops.GaussianBlur{Sigma: 1}, &imageops.Brightness{Factor: 2}, &imageops.InvertColors{}); err != nil {
		t.Error(err)
	}
	if _, err := d.Call(&ops.Softmax{}, x); err != nil {
		t.Error(err)
	}
}
