package ops_test

import (
	"fmt"
	"testing"

	"github.com/lathe-gpu/lathe/gpu/guard"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/testgpu"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestRowsBehindAlignedWindows normalises constant rows, which become ones, where a
// window holds one row and must begin some elements before it: at a multiple of what
// the device asks of offsets. An invocation that makes several packs once wrote 0.5
// over the last 36 elements of the row before.
func TestRowsBehindAlignedWindows(t *testing.T) {
	base := device(t)
	const rows, n = 2, 70001
	in := tensor.NewHost(tensor.Contiguous(tensor.F32, rows, n))
	values := make([]float64, rows*n)
	for i := range values {
		values[i] = float64(1 + i/n)
	}
	in.SetFloats(values)
	for _, align := range []int64{4, 16, 32, 64, 256, 4096} {
		t.Run(fmt.Sprint(align), func(t *testing.T) {
			l := base.Info().Limits
			l.OffsetAlign, l.TexelAlign, l.MaxTexels = align, align, 1<<16
			dev := guard.Restrict(base, l)
			r := runner(t, dev)
			a, b := testgpu.Load(t, dev, in.Data), testgpu.Load(t, dev, make([]byte, len(in.Data)))
			out := tensor.NewHost(in.Desc)
			err := r.Run(t.Context(), ops.RMSNorm{Dim: -1, Eps: 1e-5}, []exec.Operand{{Buffer: a, Desc: in.Desc}}, []exec.Operand{{Buffer: b, Desc: out.Desc}})
			if err == nil {
				err = r.Read(t.Context(), b, 0, out.Data)
			}
			if err != nil {
				t.Fatal(err)
			}
			wrong := 0
			for i, got := range out.Floats() {
				if got < 0.99999 || got > 1.00001 {
					if wrong++; wrong == 1 {
						t.Errorf("element %d of row %d is %v, want 1", i%n, i/n, got)
					}
				}
			}
			if wrong > 0 {
				t.Errorf("%d elements are wrong", wrong)
			}
		})
	}
}
