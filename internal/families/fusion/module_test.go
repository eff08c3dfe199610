package fusion

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestModulesValidate checks with spirv-val what is linked for each kind of device, element type and load, and what
// WebGPU gets of it.
func TestModulesValidate(t *testing.T) {
	val := testkit.Tool(t, "spirv-val")
	storage, texels, vectors := gpu(), gpu(), gpu()
	storage.F64, texels.F64, vectors.F64 = true, true, true
	texels.CPU, texels.TexelBuffers = true, true
	vectors.CPU, vectors.HostVectors = true, true
	for name, target := range map[string]*spec.Target{"storage": storage, "texels": texels, "vectors": vectors} {
		for _, d := range []tensor.DType{tensor.F32, tensor.F16, tensor.BF16, tensor.F64, tensor.I32, tensor.I64} {
			turned := tensor.Contiguous(d, 6, 8, 4)
			turned.Strides = []int{32, 1, 8}
			in := []tensor.Desc{tensor.Contiguous(d, 6, 8, 4), turned, tensor.Contiguous(d, 4), tensor.Contiguous(d, 8, 1), tensor.Contiguous(d)}
			f := Fused{
				Calls: []spec.Call{ops.Add{}, ops.Sub{}, ops.Add{}, ops.Sub{}}, Args: [][]int{{0, 1}, {5, 2}, {6, 3}, {7, 4}},
				Outs: []int{8, 6}, Strict: true,
			}
			if d != tensor.I32 && d != tensor.I64 {
				f.Calls, f.Args = append(f.Calls, ops.Clip{Min: -1, Max: 1}, ops.Pow{}), append(f.Args, []int{8}, []int{9, 9})
				f.Outs[0] = 10
			}
			out, err := f.Spec().Shape(f, in)
			if err != nil {
				t.Fatal(err)
			}
			l, err := layOut(&f, target, in, out)
			if err != nil {
				t.Fatal(err)
			}
			m, err := l.link()
			if err != nil {
				t.Fatal(err)
			}
			if m.Foreign || m.Slots() != 7 {
				t.Errorf("%s, %v: foreign %v, %d slots", name, d, m.Foreign, m.Slots())
			}
			if text, err := testkit.Validate(t, val, "vulkan1.1", m.Code); err != nil || text != "" {
				t.Errorf("%s, %v: %v\n%s", name, d, err, text)
			}
			low, err := spv.Lower(m, false)
			if err != nil {
				t.Errorf("%s, %v: %v", name, d, err)
				continue
			}
			if text, err := testkit.Validate(t, val, "vulkan1.1", low.Code); err != nil || text != "" {
				t.Errorf("%s, %v, lowered: %v\n%s", name, d, err, text)
			}
		}
	}
}

// TestEpiloguesValidate checks with spirv-val kernels that were linked with epilogues, whose words are parameters or constants of the module, and
// what WebGPU gets of them.
func TestEpiloguesValidate(t *testing.T) {
	val := testkit.Tool(t, "spirv-val")
	storage, texels, vectors := gpu(), gpu(), gpu()
	texels.CPU, texels.TexelBuffers = true, true
	vectors.CPU, vectors.HostVectors = true, true
	f32 := func(shape ...int) tensor.Desc { return tensor.Contiguous(tensor.F32, shape...) }
	turned := tensor.Desc{DType: tensor.F32, Shape: []int{24, 36}, Strides: []int{1, 24}}
	params, constants, pairs := 0, 0, 0
	half := func(d tensor.DType, shape ...int) tensor.Desc { return tensor.Contiguous(d, shape...) }
	for name, target := range map[string]*spec.Target{"storage": storage, "texels": texels, "vectors": vectors} {
		for _, c := range []struct {
			call spec.Call
			in   []tensor.Desc
		}{
			{ops.MatMul{}, []tensor.Desc{f32(24, 48), f32(48, 36)}},
			{ops.MatMul{}, []tensor.Desc{f32(24, 999), f32(999, 36)}},
			{ops.Conv{Group: 1}, []tensor.Desc{f32(1, 3, 26, 36), f32(1, 3, 3, 1)}},
			{ops.MatMul{}, []tensor.Desc{half(tensor.F16, 24, 48), half(tensor.F16, 48, 36)}},
			{ops.Conv{Group: 1}, []tensor.Desc{half(tensor.BF16, 1, 3, 26, 36), half(tensor.BF16, 1, 3, 3, 1)}},
			{ops.Reverse{Dims: []int{0}}, []tensor.Desc{half(tensor.BF16, 24, 36)}},
			{ops.RMSNorm{Dim: -1, Eps: 1e-5}, []tensor.Desc{f32(24, 36), f32(36)}},
			{ops.ReduceSum{Dims: []int{0}}, []tensor.Desc{half(tensor.F16, 24, 36)}},
			{ops.Softmax{Dim: 0}, []tensor.Desc{f32(24, 36)}},
			{ops.Reverse{Dims: []int{0}}, []tensor.Desc{f32(24, 36)}},
		} {
			then := Fused{Calls: []spec.Call{ops.Add{}, ops.Clip{Min: -1, Max: 2}, ops.Sub{}}, Args: [][]int{{0, 1}, {3}, {2, 4}}, Outs: []int{5}}
			var call spec.Call = Epilogue{Call: c.call, Inputs: len(c.in), As: []int{24, 36}, Then: then}
			if d := c.in[0].DType; d != tensor.F32 && len(c.in) == 1 && c.call.Spec().Class == spec.Reduction {
				if target.HostVectors {
					continue // It loads elements one by one.
				}
				pairs++
				then.Calls, then.Args, then.Outs = []spec.Call{ops.Cast{To: tensor.F32}, ops.Add{}}, [][]int{{0}, {3, 1}}, []int{4}
				call = Prologue{First: then, Call: c.call, Inputs: 1}
			} else if d != tensor.F32 {
				pairs++
				then.Calls = []spec.Call{ops.Cast{To: tensor.F32}, ops.Add{}, ops.Cast{To: d}}
				then.Args, then.Outs = [][]int{{0}, {3, 1}, {4}}, []int{5}
				call = Epilogue{Call: c.call, Inputs: len(c.in), As: []int{24, 36}, Then: then}
			} else if slices.Equal(c.in[0].Shape, turned.Shape) { // both, of the same tensors
				call = Prologue{First: then, Call: call, Inputs: len(c.in) + 2}
				c.in = append(c.in, f32(36), turned)
			}
			in := append(c.in, f32(36), turned)
			out, err := call.Spec().Shape(call, in)
			if err != nil {
				t.Fatal(err)
			}
			p, err := call.Spec().Plan(call, target, in, out)
			if err != nil {
				t.Errorf("%s, %s: %v", name, spec.FormatCall(c.call), err)
				continue
			}
			for _, s := range p.Steps {
				if err := spec.CheckParams(s.Module, s.Params); err != nil || s.Module.Foreign || int(s.Module.Slots()) != len(s.Bind) {
					t.Errorf("%s: %v, foreign %v, %d slots, %d bound", s.Module.Name, err, s.Module.Foreign, s.Module.Slots(), len(s.Bind))
				}
				if !strings.Contains(s.Module.Name, "+") {
					continue
				}
				if _, ok := s.Params.(spec.MoreParams); ok {
					params++
				} else {
					constants++
				}
				low, err := spv.Lower(s.Module, false)
				if err != nil {
					t.Errorf("%s: %v", s.Module.Name, err)
					continue
				}
				for _, code := range [][]byte{s.Module.Code, low.Code} {
					if text, err := testkit.Validate(t, val, "vulkan1.1", code); err != nil || text != "" {
						t.Errorf("%s, %s: %v\n%s", name, s.Module.Name, err, text)
					}
				}
			}
		}
	}
	if params == 0 || constants == 0 || pairs == 0 {
		t.Errorf("%d kernels with parameters more, %d with constants", params, constants)
	}
}

// TestResizedValidate checks with spirv-val kernels whose epilogues store elements of another size, and what WebGPU gets of those that store no 16 bits. Nothing of
// the binding's old type may be left.
func TestResizedValidate(t *testing.T) {
	val := testkit.Tool(t, "spirv-val")
	storage, texels, vectors := gpu(), gpu(), gpu()
	texels.CPU, texels.TexelBuffers = true, true
	vectors.CPU, vectors.HostVectors, vectors.F16 = true, true, true
	seen := map[string]int{}
	for name, target := range map[string]*spec.Target{"storage": storage, "texels": texels, "vectors": vectors} {
		for _, f16 := range []bool{false, true} {
			target.F16 = f16
			for _, d := range []tensor.DType{tensor.F32, tensor.F16, tensor.BF16} {
				of := func(shape ...int) tensor.Desc { return tensor.Contiguous(d, shape...) }
				for _, c := range []struct {
					call spec.Call
					in   []tensor.Desc
				}{
					{ops.MatMul{}, []tensor.Desc{of(24, 48), of(48, 36)}},
					{ops.Gather{}, []tensor.Desc{of(24, 36), tensor.Contiguous(tensor.I32, 24)}},
					{ops.Softmax{Dim: 0}, []tensor.Desc{of(24, 36)}},
					{ops.RMSNorm{Dim: -1, Eps: 1e-5}, []tensor.Desc{of(24, 36), of(36)}},
				} {
					to := tensor.BF16
					if d != tensor.F32 {
						to = tensor.F32
					}
					then := Fused{Calls: []spec.Call{ops.Cast{To: tensor.F32}, ops.Add{}, ops.Cast{To: to}}, Args: [][]int{{0}, {2, 1}, {3}}, Outs: []int{4}}
					call, in := Epilogue{Call: c.call, Inputs: len(c.in), Then: then}, append(c.in, tensor.Contiguous(tensor.F32, 36))
					out, err := call.Spec().Shape(call, in)
					if err != nil {
						t.Fatal(err)
					}
					p, err := call.Spec().Plan(call, target, in, out)
					if err != nil {
						if !errors.Is(err, errs.ErrUnsupported) {
							t.Errorf("%s, %s of %v: %v", name, spec.FormatCall(c.call), d, err)
						}
						seen["refused"]++
						continue
					}
					for _, s := range p.Steps {
						if !strings.Contains(s.Module.Name, "+") {
							continue
						}
						seen[d.String()]++
						codes := [][]byte{s.Module.Code}
						if low, err := spv.Lower(s.Module, false); err == nil {
							codes = append(codes, low.Code)
						} else if !f16 {
							t.Errorf("%s: %v", s.Module.Name, err)
						}
						for _, code := range codes {
							if text, err := testkit.Validate(t, val, "vulkan1.1", code); err != nil || text != "" {
								t.Errorf("%s, %s of %v: %v\n%s", name, s.Module.Name, d, err, text)
							}
						}
						for i, b := range s.Module.Bindings {
							if s.Bind[i].Buf == spec.Out(0) && b.Access != spv.WriteOnly {
								t.Errorf("%s reads the result: %v", s.Module.Name, b)
							}
						}
					}
				}
			}
		}
	}
	for _, what := range []string{"f32", "f16", "bf16", "refused"} {
		if seen[what] == 0 {
			t.Errorf("of %s there were no kernels: %v", what, seen)
		}
	}
}

// TestStoringRefuses checks mistakes with functions that store by themselves.
func TestStoringRefuses(t *testing.T) {
	kernel, err := spirv.Module("nn/rms_norm.f32")
	if err != nil {
		t.Fatal(err)
	}
	slot := uint32(0)
	for _, b := range kernel.Bindings {
		if b.Access&spv.WriteOnly != 0 {
			slot = b.Slot
		}
	}
	part := func(name string) *spv.Module {
		m, err := spirv.Part(name)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for want, f := range map[string]func(l *spv.Linker){
		"must":                        func(l *spv.Linker) { l.Begin(part("fused/finish.quads")) },
		"or does not store":           func(l *spv.Linker) { l.Begin(part("fused/finish_words.one.put")) },
		"returns something":           func(l *spv.Linker) { l.Begin(part("fused/finish.quads.put")); l.Return(l.Param(0)) },
		"no function that stores":     func(l *spv.Linker) { l.End() },
		"no function for a load or a": func(l *spv.Linker) {},
	} {
		l := spv.NewStoring(kernel, slot, spv.Words, 0)
		f(l)
		if _, err := l.Module("wrong"); !errors.Is(err, errs.ErrInvalidShader) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	l := spv.NewEpilogue(kernel, slot, spv.Words, 0)
	l.Begin(part("fused/finish.quads"))
	l.End()
	if _, err := l.Module("wrong"); !errors.Is(err, errs.ErrInvalidShader) {
		t.Errorf("End of a function that returns: %v", err)
	}
	if _, err := spv.NewStoring(nil, 0, spv.Words, 0).Module("none"); !errors.Is(err, errs.ErrInvalidShader) {
		t.Errorf("no kernel: %v", err)
	}
}
