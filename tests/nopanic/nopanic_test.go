// Package nopanic calls everything that Lathe exports with nothing: nil pointers,
// zero values, closed devices. Whatever a caller does may fail; it must not panic.
package nopanic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"io"
	"math"
	"os"
	"reflect"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/backend"
	"github.com/lathe-gpu/lathe/conformance"
	"github.com/lathe-gpu/lathe/cpu"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/gpu/guard"
	"github.com/lathe-gpu/lathe/imageio"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/batch"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/ops"
	_ "github.com/lathe-gpu/lathe/ops/all" // registers the operations
	"github.com/lathe-gpu/lathe/rawptr"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
	"github.com/lathe-gpu/lathe/vk"
	"github.com/lathe-gpu/lathe/wgpu"
)

// noContext is a nil context, which a caller may hand over by mistake.
var noContext context.Context

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
			(*lathe.Device)(nil), &lathe.Device{}, (*null.Device)(nil), &cpu.Device{}, guard.New(nil), (*os.File)(nil), (*bytes.Buffer)(nil), struct{ io.Reader }{}, struct{ io.Writer }{}, struct{ *bytes.Reader }{}, struct{ image.Image }{}, struct{ draw.Image }{})
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
		list = append(list, reflect.ValueOf(-1).Convert(t), reflect.ValueOf(3).Convert(t), reflect.ValueOf(math.MaxInt).Convert(t))
	case reflect.Func:
		list = append(list, reflect.MakeFunc(t, func([]reflect.Value) (out []reflect.Value) {
			for i := range t.NumOut() {
				out = append(out, reflect.Zero(t.Out(i)))
			}
			return out
		}))
	case reflect.String:
		list = append(list, reflect.ValueOf("x").Convert(t), reflect.ValueOf("a(b=1,c\n1. | = 2|").Convert(t))
	case reflect.Uint8, reflect.Uint64:
		list = append(list, reflect.ValueOf(200).Convert(t))
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

// call reports a panic as an error, and the error that the function returned. It closes what the
// function has opened, if it is one that opens something.
func call(f reflect.Value, args []reflect.Value, opens bool) (returned error, panicked error) {
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
		if v.Kind() == reflect.Func && !v.IsNil() && v.Type().NumIn() == 1 && v.Type().NumOut() == 0 && v.Type() != reflect.TypeFor[lathe.Option]() && v.Type() != reflect.TypeFor[exec.Option]() && v.Type() != reflect.TypeFor[rawptr.Option]() {
			v.Call([]reflect.Value{reflect.Zero(v.Type().In(0))}) // the end of a span
		}
		if v.Type() == reflect.TypeFor[error]() && !v.IsNil() {
			returned = v.Interface().(error)
		}
		if end, ok := v.Interface().(interface{ Close() error }); ok && opens {
			_ = end.Close() // of nil too
		} else if end, ok := v.Interface().(interface{ Close() }); ok && opens {
			end.Close()
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
				if _, p := call(f, zeros(f.Type()), true); p != nil {
					t.Errorf("%s.%s of nothing: %v", dir, name, p)
				}
				continue
			}
			tries(f.Type(), 0, func(args []reflect.Value) {
				if _, p := call(f, args, true); p != nil {
					t.Errorf("%s.%s(%s): %v", dir, name, show(args), p)
				}
			})
		}
	}
	for name, f := range map[string]func() error{
		"lathe.Open":                       func() error { _, err := lathe.Open(noContext); return err },
		"lathe.Devices":                    func() error { _, err := lathe.Devices(noContext); return err },
		"lathe.FromSlice":                  func() error { _, err := lathe.FromSlice(t.Context(), nil, []float32{1}); return err },
		"lathe.ToSlice":                    func() error { _, err := lathe.ToSlice[float32](t.Context(), nil); return err },
		"backend.Open":                     func() error { _, err := backend.Open(noContext, ""); return err },
		"backend.New":                      func() error { _, err := backend.New(nil); return err },
		"backend.New of a nil pointer":     func() error { _, err := backend.New((*null.Device)(nil)); return err },
		"exec.New":                         func() error { _, err := exec.New(nil); return err },
		"gpu.DispatchCompute":              func() error { return gpu.DispatchCompute(noContext, nil, nil, nil, nil, [3]uint32{}) },
		"gpu.Dispatch.Check":               func() error { return (&gpu.Dispatch{}).Check(nil, nil) },
		"gpu.CheckModule":                  func() error { return gpu.CheckModule(nil, &spv.Module{}) },
		"gpu.CheckSize":                    func() error { return gpu.CheckSize(nil, 1) },
		"gpu.Prepare":                      func() error { _, err := gpu.Prepare(nil, nil); return err },
		"gpu.Replaced":                     func() error { _, err := gpu.Replaced(nil, 0, gpu.Dispatch{}); return err },
		"gpu.StartTrace":                   func() error { return gpu.StartTrace(nil, nil, nil) },
		"spv.Lower":                        func() error { _, err := spv.Lower(nil, false); return err },
		"spv.Guard":                        func() error { _, err := spv.Guard(nil); return err },
		"batch.Run":                        func() error { _, err := batch.Run(noContext, nil, nil, nil, batch.Options{}); return err },
		"imageio.Decode":                   func() error { _, _, err := imageio.Decode(noContext, nil, nil); return err },
		"imageio.DecodeConfig":             func() error { _, err := imageio.DecodeConfig(noContext, nil, nil); return err },
		"imageio.NewDecoder":               func() error { _, err := imageio.NewDecoder(noContext, nil, nil); return err },
		"imageio.Encode":                   func() error { return imageio.Encode(noContext, nil, nil, imageio.PNG, nil) },
		"imageio.EncodeFrames":             func() error { return imageio.EncodeFrames(noContext, nil, nil, imageio.GIF, nil) },
		"batch.ReadStream":                 func() error { _, err := batch.ReadStream(noContext, nil, 0, 0); return err },
		"batch.Find":                       func() error { _, err := batch.Find(noContext, nil, batch.FindOptions{}); return err },
		"conformance.Run":                  func() error { _, err := conformance.Run(noContext, lent(t), conformance.Options{}); return err },
		"conformance.Run without a device": func() error { _, err := conformance.Run(t.Context(), nil, conformance.Options{}); return err },
		"conformance.Run on a zero device": func() error { _, err := conformance.Run(t.Context(), &vk.Device{}, conformance.Options{}); return err },
		"conformance.Run of a nil operation": func() error {
			_, err := conformance.Run(t.Context(), lent(t), conformance.Options{Ops: []*spec.Op{nil}})
			return err
		},
		"conformance.Run of a zero operation": func() error {
			_, err := conformance.Run(t.Context(), lent(t), conformance.Options{Ops: []*spec.Op{{}}})
			return err
		},
		"conformance.Run of no variant": func() error {
			_, err := conformance.Run(t.Context(), lent(t), conformance.Options{Variants: []conformance.Variant{}})
			return err
		},
		"conformance.Run on a nil other device": func() error {
			_, err := conformance.Run(t.Context(), lent(t), conformance.Options{Variants: []conformance.Variant{{Device: (*cpu.Device)(nil)}}})
			return err
		},
		"conformance.HashResults": func() error { _, err := conformance.HashResults(noContext, nil, conformance.HashOptions{}); return err },
		"conformance.HashResults of nil": func() error {
			_, err := conformance.HashResults(t.Context(), lent(t), conformance.HashOptions{Ops: []*spec.Op{nil}})
			return err
		},
		"conformance.Sample":              func() error { _, _, _, err := conformance.Sample(nil, tensor.F32, 1); return err },
		"conformance.Sample of size 0":    func() error { _, _, _, err := conformance.Sample(spec.Lookup("abs"), tensor.F32, 0); return err },
		"conformance.ParseExpectations":   func() error { _, err := conformance.ParseExpectations(nil); return err },
		"conformance.CheckKernels":        func() error { return conformance.CheckKernels(spec.All(), nil, nil) },
		"conformance.CheckKernels of nil": func() error { return conformance.CheckKernels([]*spec.Op{nil}, nil, spirv.Module) },
		"conformance.Report.WriteTo":      func() error { _, err := new(conformance.Report).WriteTo(nil); return err },
		"cpu.Enumerate":                   func() error { _, err := cpu.Enumerate(noContext, cpu.Options{}); return err },
		"vk.Open":                         func() error { _, err := vk.Open(noContext, vk.Options{}); return err },
		"vk.Enumerate":                    func() error { _, err := vk.Enumerate(noContext, vk.Options{}); return err },
		"wgpu.Open":                       func() error { _, err := wgpu.Open(noContext, wgpu.Options{}); return err },
		"wgpu.Enumerate":                  func() error { _, err := wgpu.Enumerate(noContext, wgpu.Options{}); return err },
		"rawptr.AvailableDevices":         func() error { _, err := rawptr.AvailableDevices(noContext); return err },
		"rawptr.WithGPU":                  func() error { return rawptr.New(nil, rawptr.WithGPU((*null.Device)(nil))).Init(t.Context()) },
		"guard.New":                       func() error { return guard.New(nil).Sync(t.Context()) },
		"guard.Restrict":                  func() error { _, err := guard.Restrict(nil, gpu.Limits{}).Alloc(4); return err },
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

func TestMethods(t *testing.T) {
	t.Setenv("LATHE_TUNE", "off")
	all := receivers(t)
	isClose := func(name string) bool { return name == "Close" }
	for _, r := range all {
		tryMethods(t, r, func(name string) bool { return !isClose(name) })
	}
	for _, r := range all { // after all methods of others, which need the devices
		tryMethods(t, r, isClose)
	}
}

// tryMethods calls the methods whose names are wanted.
func tryMethods(t *testing.T, r receiver, wanted func(name string) bool) {
	v := reflect.ValueOf(r.value)
	byValue := v.Kind() == reflect.Pointer && v.IsNil()
	for i := range v.NumMethod() {
		m := v.Type().Method(i)
		if !wanted(m.Name) {
			continue
		}
		if byValue {
			// Go itself panics where a method of a value is called by a nil pointer.
			if _, own := v.Type().Elem().MethodByName(m.Name); own {
				continue
			}
		}
		tries(m.Type, 1, func(args []reflect.Value) {
			err, p := call(v.Method(i), args, m.Name == "Open")
			if p != nil {
				t.Errorf("%s.%s(%s): %v", r.name, m.Name, show(args), p)
			}
			if n := m.Type.NumOut(); r.empty && n > 0 && m.Type.Out(n-1) == reflect.TypeFor[error]() && err == nil {
				t.Errorf("%s.%s(%s) succeeded", r.name, m.Name, show(args))
			}
		})
	}
}

// Devices that Open did not make say so, and a program that uses one in a lathe.Device or in the
// conformance suite reads the same.
func TestEmptyDevices(t *testing.T) {
	notMade := func(built bool) error {
		if built {
			return lathe.ErrNotInitialized
		}
		return lathe.ErrNoDevice
	}
	for name, c := range map[string]struct {
		dev  gpu.Device
		want error
	}{
		"nil cpu": {(*cpu.Device)(nil), lathe.ErrNotInitialized}, "zero cpu": {&cpu.Device{}, lathe.ErrNotInitialized},
		"nil vk": {(*vk.Device)(nil), notMade(vk.Built)}, "zero vk": {&vk.Device{}, notMade(vk.Built)},
		"nil wgpu": {(*wgpu.Device)(nil), notMade(wgpu.Built)}, "zero wgpu": {&wgpu.Device{}, notMade(wgpu.Built)},
		"nil guard": {(*guard.Device)(nil), lathe.ErrNotInitialized}, "zero guard": {&guard.Device{}, lathe.ErrNotInitialized},
		"guard of nil": {guard.New(nil), lathe.ErrInvalidArgument}, "limits of nil": {guard.Restrict(nil, gpu.Limits{}), lathe.ErrInvalidArgument},
		"guard of a nil pointer": {guard.New((*vk.Device)(nil)), lathe.ErrInvalidArgument},
	} {
		for method, f := range map[string]func() error{
			"Alloc":  func() error { _, err := c.dev.Alloc(4); return err },
			"Free":   func() error { return c.dev.Free(1) },
			"Write":  func() error { return c.dev.Write(t.Context(), 1, 0, nil) },
			"Read":   func() error { return c.dev.Read(t.Context(), 1, 0, nil) },
			"Submit": func() error { return c.dev.Submit(nil) },
			"Sync":   func() error { return c.dev.Sync(t.Context()) },
			"Close":  func() error { return c.dev.Close() },
			"StartTrace": func() error {
				if timer, ok := c.dev.(gpu.Timer); ok {
					return timer.StartTrace(nil, nil)
				}
				return c.want
			},
		} {
			if err := f(); !errors.Is(err, c.want) {
				t.Errorf("%s: %s: got %v, want %v", name, method, err, c.want)
			}
		}
		if info := c.dev.Info(); info == nil || info.Name != "" {
			t.Errorf("%s: Info: %+v", name, info)
		}
		if strings.HasPrefix(name, "zero") {
			if _, err := conformance.Run(t.Context(), c.dev, conformance.Options{}); !errors.Is(err, c.want) {
				t.Errorf("%s: conformance.Run: got %v, want %v", name, err, c.want)
			}
			d, err := lathe.Open(t.Context(), lathe.WithGPU(c.dev), lathe.WithoutCache())
			if err == nil {
				_, err = lathe.FromSlice(t.Context(), d, []float32{1})
			}
			if !errors.Is(err, c.want) {
				t.Errorf("%s: WithGPU: got %v, want %v", name, err, c.want)
			}
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
		"Apply, short gray":      func() error { _, err := d.Apply(bg, &image.Gray{Rect: img.Rect}); return err },
		"Apply, empty palette":   func() error { _, err := d.Apply(bg, &image.Paletted{Rect: img.Rect}); return err },
		"Apply, nil call":        func() error { _, err := d.Apply(bg, img, nil); return err },
		"Apply, nil op":          func() error { _, err := d.Apply(bg, img, (*imageops.Sharpen)(nil)); return err },
		"Apply, no picture op":   func() error { _, err := d.Apply(bg, img, &ops.MatMul{}); return err },
		"ApplyTo, short image":   func() error { return d.ApplyTo(bg, &image.NRGBA{Rect: img.Rect, Stride: 16}, img) },
		"ApplyTo, short RGBA":    func() error { return d.ApplyTo(bg, &image.RGBA{Rect: img.Rect, Stride: 16, Pix: img.Pix[:63]}, img) },
		"ApplyTo, short gray":    func() error { return d.ApplyTo(bg, &image.Gray{Rect: img.Rect, Stride: 4}, img) },
		"FindCrops, nil context": func() error { _, err := d.FindCrops(noContext, img, imageops.Trim{}); return err },
		"FindCrops, nil image":   func() error { _, err := d.FindCrops(bg, nil, imageops.Trim{}); return err },
		"FindCrops, short image": func() error {
			_, err := d.FindCrops(bg, &image.NRGBA64{Rect: img.Rect, Stride: 32, Pix: img.Pix[:63]}, imageops.Trim{})
			return err
		},
		"Find, nil call":      func() error { _, err := d.Find(bg, nil, x); return err },
		"Find, nil context":   func() error { _, err := d.Find(noContext, ops.NonZero{}, x); return err },
		"Find, nil tensor":    func() error { _, err := d.Find(bg, ops.NonZero{}, nil); return err },
		"Find, no inputs":     func() error { _, err := d.Find(bg, ops.Compress{}); return err },
		"Find, Scalar":        func() error { _, err := d.Find(bg, ops.Compress{}, lathe.Scalar(1), x); return err },
		"FindCrops, nil call": func() error { _, err := d.FindCrops(bg, img, nil); return err },
		"FindCrops, nil op":   func() error { _, err := d.FindCrops(bg, img, (*imageops.Trim)(nil)); return err },
		"Apply, endless":      func() error { _, err := d.Apply(bg, image.NewUniform(color.White)); return err },
		"Sync, nil context":   func() error { return d.Sync(noContext) },
		"Read, nil context":   func() error { _, err := d.Read(noContext, x); return err },
		"Write, nil context":  func() error { return d.Write(noContext, x, make([]byte, 8)) },
		"Run, nil context":    func() error { return d.Run(noContext, ops.Abs{}, []*lathe.Tensor{x}, []*lathe.Tensor{x}) },
		"Run, nil tensors":    func() error { return d.Run(bg, ops.Abs{}, []*lathe.Tensor{nil}, []*lathe.Tensor{nil}) },
		"Call, nil call":      func() error { _, err := d.Call(bg, nil, x); return err },
		"Call, nil context":   func() error { _, err := d.Call(noContext, ops.Abs{}, x); return err },
		"FromSlice":           func() error { _, err := lathe.FromSlice(noContext, d, []float32{1}); return err },
		"Call, nil op":        func() error { _, err := d.Call(bg, (*ops.Abs)(nil), x); return err },
		"DispatchCompute":     func() error { return d.DispatchCompute(noContext, nil, []*lathe.Tensor{x}, nil, [3]uint32{1, 1, 1}) },
		"ToSlice":             func() error { _, err := lathe.ToSlice[float32](noContext, x); return err },
		"GPU().Sync":          func() error { return d.GPU().Sync(noContext) },
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
	if _, err := d.Call(bg, &ops.Softmax{}, x); err != nil {
		t.Error(err)
	}
}
