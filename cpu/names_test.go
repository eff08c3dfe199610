package cpu

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/testgpu"
)

// TestManyIDs runs b[i] = a[i] + 1 in a module of more than 55 296 ids, in which both buffers have ids that
// are surrogates in Unicode, and no names. Each keeps to itself.
func TestManyIDs(t *testing.T) {
	const first, n = 0xd800, 256
	words := []uint32{0x07230203, 0x00010300, 0, first + 2, 0}
	put := func(op uint32, w ...uint32) { words = append(append(words, uint32(len(w)+1)<<16|op), w...) }
	const void, fn, u32, v3, in3, inU, id, arr, block, ptrB, ptrU, zero, one, main, label, p, i, pa, va, sum, pb = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21
	const a, b = first, first + 1
	put(17, 1)                          // Shader
	put(14, 0, 1)                       // logical, GLSL450
	put(15, 5, main, 0x6e69616d, 0, id) // "main"
	put(16, main, 17, 64, 1, 1)         // LocalSize
	put(71, id, 11, 28)                 // GlobalInvocationId
	put(71, arr, 6, 4)                  // ArrayStride
	put(72, block, 0, 35, 0)            // Offset
	put(71, block, 2)                   // Block
	for k, v := range []uint32{a, b} {
		put(71, v, 34, 0)
		put(71, v, 33, uint32(k))
	}
	put(19, void)
	put(33, fn, void)
	put(21, u32, 32, 0)
	put(23, v3, u32, 3)
	put(32, in3, 1, v3)
	put(32, inU, 1, u32)
	put(59, in3, id, 1)
	put(29, arr, u32)
	put(30, block, arr)
	put(32, ptrB, 12, block)
	put(32, ptrU, 12, u32)
	put(43, u32, zero, 0)
	put(43, u32, one, 1)
	for k := uint32(100); k < first; k++ {
		put(43, u32, k, k)
	}
	put(59, ptrB, a, 12)
	put(59, ptrB, b, 12)
	put(54, void, main, 0, fn)
	put(248, label)
	put(65, inU, p, id, zero)
	put(61, u32, i, p)
	put(65, ptrU, pa, a, zero, i)
	put(61, u32, va, pa)
	put(128, u32, sum, va, one)
	put(65, ptrU, pb, b, zero, i)
	put(62, pb, sum)
	put(253)
	put(56)
	var code, in, want []byte
	for _, w := range words {
		code = binary.LittleEndian.AppendUint32(code, w)
	}
	for k := range uint32(n) {
		in, want = binary.LittleEndian.AppendUint32(in, 1000+k), binary.LittleEndian.AppendUint32(want, 1001+k)
	}
	d := openTest(t, Options{NoCache: true})
	hs := []gpu.Handle{testgpu.Load(t, d, in), testgpu.Load(t, d, make([]byte, 4*n))}
	if err := gpu.DispatchCompute(t.Context(), d, code, hs, nil, [3]uint32{n / 64, 1, 1}); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 4*n)
	if err := d.Read(t.Context(), hs[1], 0, got); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) || slices.Equal(got, in) {
		t.Errorf("got %x…, want %x…", got[:16], want[:16])
	}
}
