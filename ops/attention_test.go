package ops_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/ops"
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
		plan, err := ops.Attention{}.Spec().Plan(ops.Attention{Scale: 1}, &target, in, []tensor.Desc{out})
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

// TestCausalAttention computes rows of queries that see different keys. NaN and infinities in keys that a query does
// not see, and in their values, must not reach its row, and those that it sees must.
func TestCausalAttention(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	host := func(shape []int, v ...float64) *tensor.Host { return host(tensor.F32, shape, v...) }
	// Scores are 0, so that a row is the mean of the values that it sees.
	onVariants(t, func(t *testing.T, dev gpu.Device, r *exec.Runner) {
		for _, c := range []struct{ q, k, v, want *tensor.Host }{
			{host([]int{3, 1}, 0, 0, 0), host([]int{3, 1}, 1, 2, 3), host([]int{3, 2}, 1, 2, 3, 4, 8, 9), host([]int{3, 2}, 1, 2, 2, 3, 4, 5)},
			{host([]int{1, 1}, 0), host([]int{3, 1}, 1, 2, 3), host([]int{3, 1}, 1, 2, 6), host([]int{1, 1}, 3)},
			{host([]int{2, 1}, 0, 0), host([]int{3, 1}, 1, 2, 3), host([]int{3, 1}, 1, 3, 5), host([]int{2, 1}, 2, 3)},
			{host([]int{4, 1}, 0, 0, 0, 0), host([]int{2, 1}, 1, 2), host([]int{2, 1}, 1, 3), host([]int{4, 1}, 0, 0, 1, 2)},
			{host([]int{4, 1}, 0, 0, 0, 0), host([]int{2, 1}, nan, 2), host([]int{2, 1}, inf, 3), host([]int{4, 1}, 0, 0, nan, nan)},
			{host([]int{3, 1}, 0, 0, 0), host([]int{3, 1}, 1, nan, inf), host([]int{3, 1}, 1, 2, 3), host([]int{3, 1}, 1, nan, nan)},
			{host([]int{3, 1}, 0, 0, 0), host([]int{3, 1}, 1, 2, 3), host([]int{3, 2}, 1, 2, inf, 4, nan, -inf), host([]int{3, 2}, 1, 2, inf, 3, nan, -inf)},
			{host([]int{2, 1}, 0, 0), host([]int{0, 1}), host([]int{0, 1}), host([]int{2, 1}, 0, 0)},
		} {
			expectCall(t, r, dev, ops.Attention{Scale: 1, Causal: true}, []*tensor.Host{c.q, c.k, c.v}, []*tensor.Host{c.want})
		}
		// So many keys are several blocks.
		const n = 3000
		q, k, v, want := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range v {
			if v[i], want[i] = 2, 2; i > n/2 {
				v[i], want[i] = nan, nan
			}
		}
		shape := []int{n, 1}
		expectCall(t, r, dev, ops.Attention{Scale: 1, Causal: true}, []*tensor.Host{host(shape, q...), host(shape, k...), host(shape, v...)}, []*tensor.Host{host(shape, want...)})
		// Few queries are computed for several blocks at once. The first one does not see the last key.
		last := slices.Repeat([]float64{2}, n)
		last[n-1] = nan
		expectCall(t, r, dev, ops.Attention{Scale: 1, Causal: true}, []*tensor.Host{host([]int{2, 1}, 0, 0), host(shape, k...), host(shape, last...)}, []*tensor.Host{host([]int{2, 1}, 2, nan)})
	})
}
