package pack

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-gpu/lathe/internal/testlevel"
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
	testlevel.Turn(t, 5)
	data, err := Encode(sample(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "a", "\n", "-1\n", "99999999999\n", "4\nabcd", "0\n"} {
		if _, err := Decode([]byte(bad)); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
	// The same, within a stream that is whole.
	whole := func(plain []byte) []byte {
		data, err := EncodeText(plain)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	none := strings.Repeat("\x00", sections)
	for _, bad := range []string{"", "a", "a 4", "\n\n" + none, "a -4\n\n" + none, "a 3\n\n" + none, "a 4\n\n" + none, "a 4\n\n", "a 99999999999\n\n" + none,
		"a 67108864\n\n" + none, "a 67108864\nb 67108864\n\n" + none, " 4\n\n" + none, "a 0\n\n" + none + "x", "a 4\n\n\x00\x00\x00\x00\x00\x02x",
		"a 4\n\n\x00\x00\x00\x00\x00\x02xy", "a 4\n\n\x00\x00\x00\x00\x00\x01\xff", "a 0\n\n\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"} {
		if _, err := Decode(whole([]byte(bad))); err == nil {
			t.Errorf("in a stream, %q: no error", bad)
		}
	}
	if list, err := Decode(whole([]byte("a 4\n\n\x00\x00\x00\x00\x00\x01x"))); err != nil || string(list[0].Code) != "x\x00\x00\x00" {
		t.Errorf("one word: %v, %v", list, err)
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
	plain, err := inflate(data)
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		bad := bytes.Clone(plain)
		for range 1 + rng.IntN(3) {
			bad[rng.IntN(len(bad))] ^= byte(1 + rng.IntN(255))
		}
		_, _ = Decode(whole(bad))
	}
}

func TestText(t *testing.T) {
	for _, text := range []string{"", "x", strings.Repeat("a line\n", 1000)} {
		data, err := EncodeText([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if have, err := DecodeText(data); err != nil || string(have) != text {
			t.Errorf("%d bytes came back as %d, %v", len(text), len(have), err)
		}
		if _, err := DecodeText(append(data, 'x')); err == nil {
			t.Errorf("%d bytes, and one more: no error", len(text))
		}
		if _, err := DecodeText(data[:len(data)-1]); err == nil {
			t.Errorf("%d bytes, cut: no error", len(text))
		}
	}
	if _, err := EncodeText(make([]byte, maxBytes+1)); err == nil {
		t.Error("a text beyond the limit: no error")
	}
}
