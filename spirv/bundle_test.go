package spirv

import (
	"errors"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/pack"
)

// TestBundleDamaged checks damaged bundles. If the packed files of a bundle do not match its ABI text, loading the kernel fails,
// and the error names the kernel. Kernels of other files still load.
func TestBundleDamaged(t *testing.T) {
	const victim, other = "image/pointwise.u8", "image/sharpen.u8"
	read := func(name string) []byte {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	edit := func(change func(list []pack.Module) []pack.Module) []byte {
		list, err := pack.Decode(read("image/pointwise.pack"))
		if err != nil {
			t.Fatal(err)
		}
		data, err := pack.Encode(change(list))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	for what, data := range map[string][]byte{
		"missing": nil,
		"cut":     read("image/pointwise.pack")[:100],
		"one word of code": edit(func(list []pack.Module) []pack.Module {
			for i := range list {
				list[i].Code[len(list[i].Code)-1] ^= 1
			}
			return list
		}),
		"another kernel's code": edit(func(list []pack.Module) []pack.Module {
			code, err := Module(other)
			if err != nil {
				t.Fatal(err)
			}
			for i := range list {
				list[i].Code = code.Code
			}
			return list
		}),
		"other names": edit(func(list []pack.Module) []pack.Module {
			for i := range list {
				list[i].Name += ".other"
			}
			return list
		}),
	} {
		files := fstest.MapFS{"abi.pack": {Data: read("abi.pack")}, "image/sharpen.pack": {Data: read("image/sharpen.pack")}}
		if data != nil {
			files["image/pointwise.pack"] = &fstest.MapFile{Data: data}
		}
		b := open(files)
		for range 2 {
			if m, err := b.load(victim); m != nil || !errors.Is(err, errs.ErrABIMismatch) || !strings.Contains(err.Error(), "pointwise") {
				t.Errorf("%s: module %v, error %v: want ErrABIMismatch that names the kernel", what, m, err)
			}
		}
		if m, err := b.load(other); m == nil || err != nil {
			t.Errorf("%s: %s does not load: %v", what, other, err)
		}
	}
	packed := func(text string) []byte {
		data, err := pack.EncodeText([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	for what, data := range map[string][]byte{
		"no file": nil, "no pack": []byte("x"), "cut": read("abi.pack")[:20000], "no text": packed(""), "no table": packed("fingerprint 0\nx\n"), "half": packed(ABIText()[:3000]),
	} {
		if b := open(fstest.MapFS{"abi.pack": {Data: data}}); len(b.names) != 0 {
			if _, err := b.load(b.names[0]); err == nil {
				t.Errorf("%s: a kernel without a file loads", what)
			}
		}
	}
}
