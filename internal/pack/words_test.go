package pack

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// code writes words as SPIR-V has them.
func code(words ...uint32) []byte {
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

// Any words come back, also those that are no SPIR-V: what an instruction is said to have
// decides how small a file gets, and never what is in it.
func TestAnyWords(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	list := []Module{
		{"empty", code()}, {"half a header", code(1, 2, 1<<32-1)}, {"header", code(1, 2, 3, 4, 5)},
		{"an instruction without words", code(1, 2, 3, 4, 5, 0, 0, 7)},
		{"a long instruction", code(1, 2, 3, 4, 5, 9<<16|61, 1<<32-1, 0)},
		{"an id that is declared twice", code(1, 2, 3, 4, 5, 2<<16|248, 9, 2<<16|248, 9, 2<<16|249, 9)},
		{"far ids", code(1, 2, 3, 4, 5, 3<<16|1, 1<<32-1, 0, 3<<16|1, 0, 1<<31, 3<<16|1, 1<<31, 1<<32-1)},
		{"an unknown opcode", code(1, 2, 3, 4, 5, 4<<16|65535, 6, 7, 8)},
	}
	for op := range uint32(400) { // each opcode, short and long
		words := []uint32{1, 2, 3, 4, 5}
		for n := uint32(1); n < 9; n++ {
			words = append(words, n<<16|op)
			for range n - 1 {
				words = append(words, rng.Uint32()>>rng.IntN(32))
			}
		}
		list = append(list, Module{"opcode", code(words...)})
	}
	for range 300 {
		words := make([]uint32, rng.IntN(60))
		for i := range words {
			words[i] = rng.Uint32() >> rng.IntN(32)
		}
		list = append(list, Module{"random", code(words...)})
	}
	for i := range list {
		list[i].Name = strings.ReplaceAll(list[i].Name, " ", "-")
	}
	same := func(list []Module) {
		t.Helper()
		data, err := Encode(list)
		if err != nil {
			t.Fatal(err)
		}
		have, err := Decode(data)
		if err != nil || len(have) != len(list) {
			t.Fatalf("%s: %d modules of %d, %v", list[0].Name, len(have), len(list), err)
		}
		for i := range list {
			if have[i].Name != list[i].Name || !bytes.Equal(have[i].Code, list[i].Code) {
				t.Fatalf("%s: other words came back", list[i].Name)
			}
		}
	}
	same(list)
	for i := range list {
		same(list[i : i+1])
	}
}

// The ids of variants differ. They may not make files large.
func TestVariantsAreSmall(t *testing.T) {
	files, err := filepath.Glob("../../spirv/nn/softmax_stat.*.spv")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d modules, %v", len(files), err)
	}
	var list []Module
	total := 0
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, Module{filepath.Base(f), b})
		total += len(b)
	}
	data, err := Encode(list)
	if err != nil {
		t.Fatal(err)
	}
	if len(data) > total/20 {
		t.Errorf("%d bytes of %d (want at most a twentieth): is the row of an instruction missing in grammar?", len(data), total)
	}
}

func BenchmarkDecode(b *testing.B) {
	data, err := os.ReadFile("../../spirv/image/gaussian_blur.pack")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		list, err := Decode(data)
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for _, m := range list {
			n += len(m.Code)
		}
		b.SetBytes(int64(n))
	}
}
