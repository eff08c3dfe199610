package ops_test

import (
	"errors"
	"testing"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestMostHiddenUnits plans the widest layer for a driver that ends loops after 65 535 iterations, and
// a wider one, as the docs of LSTM say.
func TestMostHiddenUnits(t *testing.T) {
	target := &spec.Target{
		CPU: true, MaxBinding: 1 << 27, MaxTexels: 1 << 27, OffsetAlign: 16, TexelAlign: 16, MaxGroups: [3]uint32{65535, 65535, 65535}, MaxInvocations: 256,
		MaxSharedBytes: 1 << 14, MaxParamBytes: 128, MaxBindings: 8, MaxIterations: 65535, TexelBuffers: true,
	}
	for _, d := range []tensor.DType{tensor.F32, tensor.F64} { // with texels, and without
		target.F64 = d == tensor.F64
		for hidden, fits := range map[int]bool{65_532: true, 65_533: false} {
			call := &ops.RNN{Direction: "forward"}
			in := []tensor.Desc{tensor.Contiguous(d, 1, 1, 1), tensor.Contiguous(d, 1, hidden, 1), tensor.Contiguous(d, 1, hidden, hidden)}
			out, err := call.Spec().Shape(call, in)
			if err != nil {
				t.Fatal(err)
			}
			_, err = call.Spec().Plan(call, target, in, out)
			if limit := (*errs.LimitError)(nil); fits && err != nil || !fits && (!errors.As(err, &limit) || limit.Name != "MaxIterations") {
				t.Errorf("%v, %d hidden units: got %v, want that it fits: %v", d, hidden, err, fits)
			}
		}
	}
}
