package ops_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/testgpu"
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

// TestAttentionLengths computes rows over a part of the keys. NaN and infinities in the rest of keys and values must not reach them.
func TestAttentionLengths(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	f := func(shape []int, v ...float64) *tensor.Host { return host(tensor.F32, shape, v...) }
	none := f([]int{0})
	onVariants(t, func(t *testing.T, dev gpu.Device, r *exec.Runner) {
		for _, c := range []struct {
			causal                 bool
			q, k, v, mask, n, want *tensor.Host
		}{
			{false, f([]int{1, 1}, 0), f([]int{4, 1}, 1, 2, nan, inf), f([]int{4, 2}, 1, 2, 3, 6, nan, inf, -inf, nan), none, host(tensor.I32, []int{1}, 2), f([]int{1, 2}, 2, 4)},
			{true, f([]int{2, 1}, 0, 0), f([]int{4, 1}, 1, 2, 0, nan), f([]int{4, 1}, 1, 3, 5, nan), none, host(tensor.I64, []int{1}, 3), f([]int{2, 1}, 2, 3)},
			{true, f([]int{3, 1}, 0, 0, 0), f([]int{3, 1}, 1, nan, nan), f([]int{3, 1}, 7, nan, inf), none, host(tensor.I32, []int{1}, 1), f([]int{3, 1}, 0, 0, 7)},
			{false, f([]int{1, 1}, 0), f([]int{2, 1}, nan, nan), f([]int{2, 1}, nan, nan), none, host(tensor.I32, []int{1}, 0), f([]int{1, 1}, 0)},
			{false, f([]int{1, 1}, 0), f([]int{2, 1}, 1, 2), f([]int{2, 1}, 4, 6), none, host(tensor.I32, []int{1}, 1000), f([]int{1, 1}, 5)},
			{false, f([]int{1, 1}, 0), f([]int{2, 1}, nan, nan), f([]int{2, 1}, nan, nan), none, host(tensor.I32, []int{1}, -5), f([]int{1, 1}, 0)},
			{false, f([]int{1, 1}, 0), f([]int{2, 1}, nan, nan), f([]int{2, 1}, nan, nan), none, host(tensor.I64, []int{1}, -1<<40), f([]int{1, 1}, 0)},
			{false, f([]int{1, 1}, 0), f([]int{2, 1}, 1, 2), f([]int{2, 1}, 4, 6), none, host(tensor.I64, []int{1}, 1<<40), f([]int{1, 1}, 5)},
			// Each batch has its own number, and a mask that hides a key besides.
			{false, f([]int{2, 2, 1, 1}, 0, 0, 0, 0), f([]int{2, 1, 3, 1}, 1, 2, nan, 4, 5, 6), f([]int{2, 1, 3, 1}, 1, 3, nan, 3, 6, 9), none, host(tensor.I32, []int{2}, 2, 3), f([]int{2, 2, 1, 1}, 2, 2, 6, 6)},
			{false, f([]int{2, 1, 1}, 0, 0), f([]int{2, 3, 1}, 1, 2, nan, 4, 5, 6), f([]int{2, 3, 1}, 1, 3, nan, 3, 6, 9), f([]int{3}, -inf, 0, 0), host(tensor.I32, []int{2}, 2, 3), f([]int{2, 1, 1}, 3, 7.5)},
		} {
			expectCall(t, r, dev, ops.Attention{Scale: 1, Causal: c.causal}, []*tensor.Host{c.q, c.k, c.v, c.mask, c.n}, []*tensor.Host{c.want})
		}
		// So many keys are several blocks, and the last one that counts is in the second.
		const n = 3000
		k, v := make([]float64, n), make([]float64, n)
		for i := range v {
			if v[i] = 2; i > n/2 {
				k[i], v[i] = inf, nan
			}
		}
		expectCall(t, r, dev, ops.Attention{Scale: 1, Causal: true}, []*tensor.Host{f([]int{2, 1}, 0, 0), f([]int{n, 1}, k...), f([]int{n, 1}, v...), none, host(tensor.I32, []int{1}, n/2+1)}, []*tensor.Host{f([]int{2, 1}, 2, 2)})
	})
}

// TestDecodeCopiesNothing plans a step of a decoder whose eight heads of queries share two heads of keys: no launch copies the cache, which
// is a part of a larger tensor, or the number of keys, which lies at the third word of a state.
func TestDecodeCopiesNothing(t *testing.T) {
	onVariants(t, func(t *testing.T, dev gpu.Device, r *exec.Runner) {
		operand := func(words int, offset int64, d tensor.Desc) exec.Operand {
			return exec.Operand{Buffer: testgpu.Load(t, dev, make([]byte, 4*words)), Offset: offset, Desc: d}
		}
		cache := tensor.Contiguous(tensor.F32, 1, 2, 1, 64, 16)
		cache.Strides = []int{2 * 80 * 16, 80 * 16, 80 * 16, 16, 1} // of 80 positions
		q := tensor.Contiguous(tensor.F32, 1, 2, 4, 1, 16)
		in := []exec.Operand{
			operand(q.Elems(), 0, q), operand(2*80*16, 0, cache), operand(2*80*16, 0, cache),
			operand(4, 0, tensor.Contiguous(tensor.F32, 0)), operand(4, 8, tensor.Contiguous(tensor.I32, 1)),
		}
		plan, err := r.Plan(ops.Attention{Scale: 0.25, Causal: true}, in, []exec.Operand{operand(q.Elems(), 0, q)})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range plan.Steps {
			if strings.HasPrefix(s.Name(), "move/") {
				t.Errorf("launch %s (want no copies)", s.Name())
			}
		}
	})
}
