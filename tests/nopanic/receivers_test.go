package nopanic

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/backend"
	"github.com/lathe-gpu/lathe/conformance"
	"github.com/lathe-gpu/lathe/cpu"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/gpu/guard"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/graph/lir"
	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/handles"
	"github.com/lathe-gpu/lathe/imageio"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/abi"
	"github.com/lathe-gpu/lathe/internal/batch"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/extra"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/rawptr"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
	"github.com/lathe-gpu/lathe/value"
	"github.com/lathe-gpu/lathe/vk"
	"github.com/lathe-gpu/lathe/wgpu"
)

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

// devices are receivers of the packages that have devices: of each backend a zero and a nil
// Device, one that is closed, and a live one where this machine has it.
func devices(t *testing.T) []receiver {
	list := []receiver{
		{"a nil cpu.Device", (*cpu.Device)(nil), true}, {"a zero cpu.Device", &cpu.Device{}, true},
		{"a nil vk.Device", (*vk.Device)(nil), true}, {"a zero vk.Device", &vk.Device{}, true},
		{"a nil wgpu.Device", (*wgpu.Device)(nil), true}, {"a zero wgpu.Device", &wgpu.Device{}, true},
		{"a nil guard.Device", (*guard.Device)(nil), true}, {"a zero guard.Device", &guard.Device{}, true},
		{"a nil cpu.Enumeration", (*cpu.Enumeration)(nil), true}, {"a zero cpu.Enumeration", &cpu.Enumeration{}, true},
		{"a nil vk.Enumeration", (*vk.Enumeration)(nil), false}, {"a zero vk.Enumeration", &vk.Enumeration{}, false}, // nothing is unusable
		{"a nil wgpu.Enumeration", (*wgpu.Enumeration)(nil), true}, {"a zero wgpu.Enumeration", &wgpu.Enumeration{}, true},
		{"a guard around nothing", guard.New(nil), true}, {"a guard around a nil device", guard.New((*null.Device)(nil)), true},
		{"a guard around a zero device", guard.New(&cpu.Device{}), true}, {"limits of nothing", guard.Restrict(nil, gpu.Limits{}), true},
		{"limits of a zero device", guard.Restrict(&vk.Device{}, gpu.Limits{}), true}, {"a guard", guard.New(lent(t)), false}, {"limits", guard.Restrict(lent(t), gpu.Limits{}), false},
	}
	open := map[string]func() (gpu.Device, error){
		"cpu": func() (gpu.Device, error) { return cpu.Open(cpu.Options{NoCache: true}) },
		"vk": func() (gpu.Device, error) {
			return vk.Open(t.Context(), vk.Options{NoCache: true, Warn: func(string) {}})
		},
		"wgpu": func() (gpu.Device, error) { return wgpu.Open(t.Context(), wgpu.Options{Warn: func(string) {}}) },
	}
	for _, name := range slices.Sorted(maps.Keys(open)) {
		for _, state := range []string{"live", "closed"} {
			dev, err := open[name]()
			if err != nil {
				t.Logf("no device of %s is tried: %v", name, err)
				break
			}
			if state == "closed" {
				if err := dev.Close(); err != nil {
					t.Fatal(err)
				}
			} else {
				t.Cleanup(func() { _ = dev.Close() })
			}
			list = append(list, receiver{"a " + state + " device of " + name, dev, false})
		}
	}
	return list
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
	built := graph.New()
	built.Output("x", built.Neg(built.Input("x", tensor.F32, 2, 2)))
	capture, err := live.NewCapture(2)
	if err != nil {
		t.Fatal(err)
	}
	executable, err := live.Compile(t.Context(), built, graph.Options{})
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
	addressed, ended := rawptr.New(rawptr.WithGPU(lent(t))), rawptr.New(rawptr.WithGPU(lent(t)))
	if err := errors.Join(addressed.Init(t.Context()), ended.Close()); err != nil {
		t.Fatal(err)
	}
	run, err := exec.New(lent(t))
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := imageio.Encode(t.Context(), &file, image.NewGray(image.Rect(0, 0, 4, 4)), imageio.PNG, nil); err != nil {
		t.Fatal(err)
	}
	decoder, err := imageio.NewDecoder(t.Context(), &file, nil)
	if err != nil {
		t.Fatal(err)
	}
	list := []receiver{
		{"a live Device", live, false}, {"a closed Device", closed, false}, {"a live Tensor", x, false}, {"a Tensor of a closed Device", old, false},
		{"a live backend", b, false}, {"a closed backend", gone, false}, {"a live Runner", run, false},
		{"a nil Device", (*lathe.Device)(nil), true}, {"a zero Device", &lathe.Device{}, true},
		{"a nil Tensor", (*lathe.Tensor)(nil), true}, {"a zero Tensor", &lathe.Tensor{}, true},
		{"a nil Scope", (*lathe.Scope)(nil), true}, {"a zero Scope", &lathe.Scope{}, true}, {"a live Scope", live.Scope(t.Context()), false}, {"a Scope of a closed Device", closed.Scope(t.Context()), false},
		{"a Scalar", lathe.Scalar(2), false}, {"no result of a Scope", closed.Scope(t.Context()).Neg(x), false}, {"a nil Kernel", (*lathe.Kernel)(nil), true}, {"a zero Kernel", &lathe.Kernel{}, true}, {"a live Kernel", kernel, false},
		{"a nil backend", (*backend.Device)(nil), false}, {"a zero backend", &backend.Device{}, false}, // scalars need none
		{"a nil rawptr.Device", (*rawptr.Device)(nil), true}, {"a zero rawptr.Device", &rawptr.Device{}, true},
		{"a rawptr.Device", addressed, false}, {"a closed rawptr.Device", ended, false}, {"a nil Registry", (*rawptr.Registry)(nil), true}, {"a zero Registry", &rawptr.Registry{}, false}, {"a rawptr.Device before Init", rawptr.New(rawptr.WithGPU(lent(t))), false},
		{"a nil Graph", (*graph.Graph)(nil), false}, {"a zero Graph", &graph.Graph{}, false}, {"a Graph", built, false}, {"a nil Value", (*graph.Value)(nil), false}, {"a zero Value", &graph.Value{}, false}, {"a Value", built.Input("y", tensor.F32, 2, 2), false}, {"a number of graphs", graph.Scalar(2), false},
		{"a nil mir.Graph", (*mir.Graph)(nil), false}, {"a zero mir.Graph", &mir.Graph{}, false}, {"a nil Rewriter", (*mir.Rewriter)(nil), false}, {"a zero Rewriter", &mir.Rewriter{}, false}, {"a Rewriter", mir.NewRewriter(&mir.Graph{}), false}, {"a nil graph.Plan", (*graph.Plan)(nil), false}, {"a zero graph.Plan", &graph.Plan{}, false}, {"a nil lir.Program", (*lir.Program)(nil), false}, {"a zero lir.Program", &lir.Program{}, false}, {"a nil lir.Step", (*lir.Step)(nil), false}, {"a zero lir.Step", &lir.Step{}, false}, {"a nil lir.Control", (*lir.Control)(nil), false}, {"a zero lir.Control", &lir.Control{}, false}, {"a nil mir.Node", (*mir.Node)(nil), false}, {"a zero mir.Node", &mir.Node{}, false},
		{"a nil Executable", (*lathe.Executable)(nil), true}, {"a zero Executable", &lathe.Executable{}, true}, {"an Executable", executable, false},
		{"a nil Patch", (*lathe.Patch)(nil), true}, {"a zero Patch", &lathe.Patch{}, true}, {"a nil Capture", (*lathe.Capture)(nil), true}, {"a zero Capture", &lathe.Capture{}, true}, {"a Capture", capture, false},
		{"a nil Model", (*lathe.Model)(nil), true}, {"a zero Model", &lathe.Model{}, true}, {"a Model of no function", live.Model(nil, graph.Options{}), false}, {"a Model", live.Model(func(g *graph.Graph) { g.Output("x", g.Neg(g.Input("x", tensor.F32, g.Dim("N")))) }, graph.Options{}), false}, {"a Model of a closed Device", closed.Model(func(*graph.Graph) {}, graph.Options{}), false},
		{"a nil Sequence", (*exec.Sequence)(nil), false}, {"a zero Sequence", &exec.Sequence{}, false},
		{"a nil Runner", (*exec.Runner)(nil), true}, {"a zero Runner", &exec.Runner{}, true},
		{"a nil table", (*handles.Table[int])(nil), true}, {"a zero table", &handles.Table[int]{}, false}, {"a table", handles.New[int](nil), false},
		{"a nil Decoder", (*imageio.Decoder)(nil), true}, {"a zero Decoder", &imageio.Decoder{}, true}, {"a Decoder", decoder, false},
		{"nil Metadata", (*imageio.Metadata)(nil), false}, {"zero Metadata", &imageio.Metadata{}, false},
		{"Metadata", &imageio.Metadata{EXIF: []byte("II*"), ICC: []byte("x")}, false},
		{"a nil report", (*conformance.Report)(nil), false}, {"a zero report", &conformance.Report{}, false}, {"hashes", conformance.Hashes{{}}, false},
		{"a nil declaration", (*spec.Declaration)(nil), false}, {"a zero declaration", &spec.Declaration{}, false},
		{"a nil Tape", (*spec.Tape)(nil), false}, {"a zero Tape", &spec.Tape{}, false}, {"a nil Match", (*spec.Match)(nil), false}, {"a zero Match", &spec.Match{}, false},
		{"a nil dispatch", (*gpu.Dispatch)(nil), true}, {"a zero dispatch", &gpu.Dispatch{}, true},
	}
	list = append(list, devices(t)...)
	for _, v := range []any{
		tensor.Desc{}, tensor.Host{}, tensor.DType(0), tensor.DType(200), value.Value{}, value.Type(0), value.Type(99),
		tensor.Desc{DType: tensor.F32, Strides: []int{1}}, tensor.Desc{DType: tensor.F32, Shape: []int{2}, Strides: []int{}}, tensor.Desc{Shape: []int{-1}},
		tensor.Host{Desc: tensor.Contiguous(tensor.F32, 3)}, tensor.Host{Desc: tensor.Desc{DType: tensor.U8, Shape: []int{3}, Strides: []int{5, 5}}, Data: make([]byte, 4)},
		imageio.Format(""), imageio.JPEG, imageio.Info{}, gpu.Kind(0), gpu.Kind(99), gpu.SpanKind(99), gpu.LimitError{}, gpu.Limits{}, gpu.Binding{}, conformance.Hashes(nil), spec.Class(0), spec.Strides(0), spec.Plan{}, spec.Step{}, spec.Tolerance{ByAlpha: 1}, spv.Kind(99), spv.Access(99), spv.Module{}, abi.Table{}, batch.Report{},
		lir.LegaliseError{}, graph.Dims{"N": -1}, lir.Memory(99), mir.Kind(99), mir.Value(-7), spec.Op{}, spec.PictureFile{}, spec.Cases{}, spec.Ref{Kind: 200, Index: -1}, exec.Tuned{}, handles.Handle(0), backend.Scalars{}, imageops.Pointwise{Calls: []spec.Call{nil}}, imageops.Cube{}, imageops.Profile{}, imageops.Conversion{}, ops.Copy{},
		rawptr.UnaryOp(0), rawptr.BinaryOp(200), rawptr.BinaryOp(0), rawptr.ReduceOp(0), rawptr.ReduceOp(99),
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
