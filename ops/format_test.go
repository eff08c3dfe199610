package ops_test

import (
	"bytes"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestFormatNames takes the names of formats as GGUF writes them, in capitals.
func TestFormatNames(t *testing.T) {
	ctx := t.Context()
	dev, err := lathe.Open(ctx, lathe.WithBackend("cpu"))
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	for lower, upper := range map[string]string{"q4_0": "Q4_0", "q8_0": "Q8_0", "q4_k": "Q4_K", "q6_k": "Q6_K"} {
		blocks := make([]byte, 2*210) // two blocks of the largest format
		for i := range blocks {
			blocks[i] = byte(7 * i % 61)
		}
		n := map[string]int{"q4_0": 18, "q8_0": 34, "q4_k": 144, "q6_k": 210}[lower]
		in, err := lathe.FromSlice(ctx, dev, blocks[:2*n], 2, n)
		if err != nil {
			t.Fatal(err)
		}
		var got [2][]byte
		for i, name := range []string{lower, upper} {
			w, err := dev.DequantizeBlocks(in, name, tensor.F32)
			if err != nil {
				t.Fatal(err)
			}
			y, err := dev.MatMulBlocks(w, in, name)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range []*lathe.Tensor{w, y} {
				b, err := dev.Read(ctx, x)
				if err != nil {
					t.Fatal(err)
				}
				got[i] = append(got[i], b...)
			}
		}
		if !bytes.Equal(got[0], got[1]) || len(got[0]) == 0 {
			t.Errorf("%s and %s have different results", lower, upper)
		}
	}
}
