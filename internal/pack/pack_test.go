package pack

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func sample(t *testing.T) []Module {
	t.Helper()
	files, err := filepath.Glob("../../spirv/image/gaussian_blur.*.texel.spv")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d modules, %v", len(files), err)
	}
	list := []Module{{Name: "none", Code: []byte{}}}
	for _, f := range files {
		code, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, Module{filepath.Base(f), code})
	}
	return list
}

func TestRoundTrip(t *testing.T) {
	want := sample(t)
	data, err := Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(data)
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Fatalf("error %v (-want +got):\n%s", err, d)
	}
	total := 0
	for _, m := range want {
		total += len(m.Code)
	}
	if len(data) > total/3 {
		t.Errorf("%d bytes of %d: variants of a shader do not pack", len(data), total)
	}
	_ = append(got[1].Code, 1, 2, 3, 4)
	if !bytes.Equal(got[2].Code, want[2].Code) {
		t.Error("appending to a module writes into the next")
	}
}

func TestEncodeRefuses(t *testing.T) {
	for _, m := range []Module{{"a", make([]byte, 3)}, {"", nil}, {"a b", nil}, {"a\n", nil}, {"a", make([]byte, maxBytes+4)}} {
		if _, err := Encode([]Module{m}); err == nil {
			t.Errorf("%q of %d bytes: no error", m.Name, len(m.Code))
		}
	}
}

// Damage is an error or other content, and never a panic or a huge allocation.
func TestDecodeDamaged(t *testing.T) {
	data, err := Encode(sample(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "a", "a 4", "\n\n", "a -4\n\n", "a 3\n\n", "a 4\n\n", "a 99999999999\n\n", "a 67108864\nb 67108864\n\n", " 4\n\n"} {
		if _, err := Decode([]byte(bad)); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
	for n := 0; n < len(data); n += 97 {
		if _, err := Decode(data[:n]); err == nil {
			t.Errorf("the first %d of %d bytes: no error", n, len(data))
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		bad := bytes.Clone(data)
		bad[rng.IntN(len(bad))] ^= byte(1 + rng.IntN(255))
		_, _ = Decode(bad) // the hash of each module tells
	}
}
