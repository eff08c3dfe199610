package ops_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/lathe-gpu/lathe/internal/testspv/interp"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestStridedBounds runs strided kernels of windows whose output begins behind the first pack. They may read nothing outside of their operands.
func TestStridedBounds(t *testing.T) {
	tg := &spec.Target{MaxBinding: 4096, OffsetAlign: 256, TexelAlign: 256, MaxGroups: [3]uint32{65535, 65535, 65535}, MaxInvocations: 256, MaxParamBytes: 128, MaxBindings: 8, MaxSharedBytes: 16384, F64: true}
	for _, c := range []struct {
		call spec.Call
		d    tensor.DType
	}{{ops.Add{}, tensor.F32}, {ops.Add{}, tensor.F16}, {ops.Add{}, tensor.F64}, {ops.BitwiseAnd{}, tensor.I32}, {ops.BitwiseAnd{}, tensor.U8}, {ops.Greater{}, tensor.F32}} {
		a, b := tensor.Contiguous(c.d, 37, 331), tensor.Contiguous(c.d, 37, 1)
		b.Strides = []int{64 * 8, 1} // aligned rows
		outs, err := c.call.Spec().Shape(c.call, []tensor.Desc{a, b})
		if err != nil {
			t.Fatal(err)
		}
		p, err := c.call.Spec().Plan(c.call, tg, []tensor.Desc{a, b}, outs)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for i, s := range p.Steps {
			var push bytes.Buffer
			if err := binary.Write(&push, binary.LittleEndian, s.Params); err != nil {
				t.Fatal(err)
			}
			l := &interp.Launch{Buffers: map[uint32][]byte{}, Push: push.Bytes(), Groups: s.Groups}
			for k, bind := range s.Bind {
				l.Buffers[uint32(k)] = make([]byte, max(bind.Size, 0))
			}
			res, err := interp.Run(s.Module.Code, l)
			if err != nil {
				t.Fatal(err)
			}
			if res.Undefined != "" {
				if found == 0 {
					t.Errorf("%s %v step %d of %d: %s %+v: %s", c.call.Spec().Name, c.d, i, len(p.Steps), s.Module.Name, s.Params, res.Undefined)
				}
				found++
			}
		}
	}
}
