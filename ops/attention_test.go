package ops

import (
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestAttentionTiles counts the launches of attention where tiles must be small.
func TestAttentionTiles(t *testing.T) {
	target := spec.Target{
		MaxBinding: 1 << 20, OffsetAlign: 256, TexelAlign: 256,
		MaxGroups: [3]uint32{65535, 65535, 65535}, MaxInvocations: 256, MaxSharedBytes: 16 << 10,
	}
	softmax := func(in ...tensor.Desc) (n int, groups uint32) {
		q, v := in[0], in[2]
		out := tensor.Contiguous(q.DType, q.Shape[0], v.Shape[1])
		plan, err := Attention{}.Spec().Plan(Attention{Scale: 1}, &target, in, []tensor.Desc{out})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range plan.Steps {
			if strings.HasPrefix(s.Module.Name, "nn/attention_softmax") {
				n, groups = n+1, max(groups, s.Groups[0])
			}
		}
		return n, groups
	}
	f32 := func(shape ...int) tensor.Desc { return tensor.Contiguous(tensor.F32, shape...) }
	// The columns of the result are computed in many tiles. The weights of a row are the same
	// in each of them.
	if n, _ := softmax(f32(3, 8), f32(5, 8), f32(5, 1<<20)); n != 3 {
		t.Errorf("many columns: the weights of 3 rows are computed by %d launches, want 3", n)
	}
	// A binding holds 2 rows of the mask. Then 16 blocks of 1024 keys are computed at once.
	const keys = 1 << 17
	if n, _ := softmax(f32(32, 8), f32(keys, 8), f32(keys, 8), f32(32, keys)); n > 32*keys/(16*1024) {
		t.Errorf("a large mask: %d launches, want at most %d", n, 32*keys/(16*1024))
	}
}
