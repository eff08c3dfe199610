package ops_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/lathe-gpu/lathe/conformance"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/testgpu"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestIntegersWrap adds and subtracts 64-bit integers that carry, borrow and
// overflow, which a float64 reference cannot.
func TestIntegersWrap(t *testing.T) {
	a := []int64{math.MaxInt64, math.MinInt64, 1<<32 - 1, -1, 0, 1 << 32, 1<<53 + 1, -1 << 33, 5}
	b := []int64{1, 1, 1, 1, 1, -1, 1 << 53, math.MinInt64, -7}
	n := len(a)
	base := device(t)
	for _, v := range conformance.Variants(base.Info()) {
		if v.Limits != nil {
			continue
		}
		var opts []exec.Option
		if v.Target != nil {
			opts = append(opts, exec.WithTarget(v.Target))
		}
		r := runner(t, base, opts...)
		for _, shape := range [][]int{{n}, {1, n, 1}} { // the latter beside [2, 1, 1]
			bytes := func(x []int64) []byte {
				out := make([]byte, 0, 8*len(x))
				for _, v := range x {
					out = binary.LittleEndian.AppendUint64(out, uint64(v))
				}
				return out
			}
			in := []exec.Operand{
				{Buffer: testgpu.Load(t, base, bytes(a)), Desc: tensor.Contiguous(tensor.I64, shape...)},
				{Buffer: testgpu.Load(t, base, bytes(b)), Desc: tensor.Desc{DType: tensor.I64, Shape: shape}},
			}
			want := [][]int64{nil, nil}
			for i := range a {
				want[0], want[1] = append(want[0], a[i]+b[i]), append(want[1], a[i]-b[i])
			}
			if len(shape) == 3 { // b is a column: rows of a with each of it
				in[1].Desc = tensor.Contiguous(tensor.I64, n, 1, 1)
				want = [][]int64{nil, nil}
				for i := range b {
					for j := range a {
						want[0], want[1] = append(want[0], a[j]+b[i]), append(want[1], a[j]-b[i])
					}
				}
			}
			for i, c := range []spec.Call{ops.Add{}, ops.Sub{}} {
				outs, err := c.Spec().Shape(c, []tensor.Desc{in[0].Desc, in[1].Desc})
				if err != nil {
					t.Fatal(err)
				}
				got := make([]byte, outs[0].Bytes())
				to := testgpu.Load(t, base, got)
				if err := r.Run(t.Context(), c, in, []exec.Operand{{Buffer: to, Desc: outs[0]}}); err != nil {
					t.Fatal(err)
				}
				if err := r.Read(t.Context(), to, 0, got); err != nil {
					t.Fatal(err)
				}
				for k, w := range want[i] {
					if g := int64(binary.LittleEndian.Uint64(got[8*k:])); g != w {
						t.Errorf("%s %s %v, element %d: got %d, want %d", v.Name, c.Spec().Name, shape, k, g, w)
					}
				}
			}
		}
	}
}
