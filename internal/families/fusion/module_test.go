package fusion

import (
	"testing"

	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
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
