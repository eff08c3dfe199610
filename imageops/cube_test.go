package imageops_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

const smallCube = "\ufeff# a comment\r\nTITLE \"Warm and low\"\r\n\r\nDOMAIN_MIN 0 0 -1\r\nLUT_3D_SIZE 2\r\nDOMAIN_MAX 1 2 1e0\r\n" +
	"0 0 0\r\n1 0 0\r\n0 1 0\r\n # between\r\n1\t1 0\r\n0 0 1\r\n1 0 1\r\n0 1 1\r\n+1 .5 1.25"

func TestParseCube(t *testing.T) {
	c, err := imageops.ParseCube(strings.NewReader(smallCube))
	if err != nil {
		t.Fatal(err)
	}
	if c.Title() != "Warm and low" || c.Bounds() != image.Rect(0, 0, 2, 4) {
		t.Errorf("title %q, bounds %v", c.Title(), c.Bounds())
	}
	want := []float64{0, 0, 0, 1, 1, 0, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1, 0.5, 1.25, 1}
	if h := c.Tensor(); h == nil || h.DType != tensor.F32 || !slices.Equal(h.Shape, []int{4, 2, 4}) || !slices.Equal(h.Floats(), want) {
		t.Errorf("tensor %v", h)
	}
	if r, g, b, a := c.At(1, 3).RGBA(); r != 0xffff || g != 0x8000 || b != 0xffff || a != 0xffff {
		t.Errorf("as a picture its last pixel is %x %x %x %x", r, g, b, a)
	}
	both, err := imageops.ParseCube(strings.NewReader("LUT_1D_SIZE 3\nLUT_1D_INPUT_RANGE -0.5 2\nLUT_3D_SIZE 2\nLUT_3D_INPUT_RANGE 0 4\n" + strings.Repeat("0.5 0.5 0.5\n", 11)))
	if err != nil || !slices.Equal(both.Tensor().Shape, []int{1, 11, 4}) {
		t.Errorf("a curve and a cube: %v, %v", both, err)
	}
}

// TestCubeErrors checks that what is wrong in a file is named with its line.
func TestCubeErrors(t *testing.T) {
	cube := func(n int) string { return "LUT_3D_SIZE 2\n" + strings.Repeat("0 0 0\n", n) }
	for text, want := range map[string]string{
		"":                                   "no LUT_1D_SIZE or LUT_3D_SIZE in 0 lines",
		"TITLE \"x\"\n1 2 3":                 "line 2: a colour before",
		cube(7):                              "line 8: the file ends after 7 colours (want 8)",
		cube(9):                              "line 10: more colours than the 8",
		cube(2) + "0 0":                      "line 4: a colour of 2 numbers (want 3)",
		cube(1) + "0 0 nan":                  `line 3: "nan" (want a number`,
		cube(1) + "0 1e39 0":                 `line 3: "1e39" (want a number`,
		cube(1) + "-inf 0 0":                 `line 3: "-inf" (want a number`,
		cube(1) + "TITLE x":                  `line 3: "TITLE" after the first colour`,
		"LUT_3D_SIZE 257":                    `line 1: "LUT_3D_SIZE 257" (want LUT_3D_SIZE and a number from 2 to 256)`,
		"LUT_3D_SIZE 1":                      "from 2 to 256",
		"LUT_3D_SIZE 2 2":                    "from 2 to 256",
		"LUT_1D_SIZE 65537":                  "from 2 to 65536",
		"LUT_3D_SIZE 2\nLUT_3D_SIZE 3":       "line 2: LUT_3D_SIZE again, after line 1",
		"\nLUT_IN_VIDEO_RANGE":               `line 2: "LUT_IN_VIDEO_RANGE" (want TITLE,`,
		"DOMAIN_MIN 0 0":                     "line 1: DOMAIN_MIN has 2 numbers (want 3)",
		"DOMAIN_MIN 0 0 x":                   `line 1: "x" (want a number`,
		"DOMAIN_MIN 0 0 1\n" + cube(8):       "line 1: a range from 1 to 1 (want it to rise)",
		"LUT_3D_INPUT_RANGE 1 0\n" + cube(8): "line 1: a range from 1 to 0",
		"# " + strings.Repeat("x", 5000):     "line 1: a line of more than 4096 bytes",
		"\x00\x01\x02":                       `line 1: "\x00\x01\x02" (want TITLE`,
	} {
		if _, err := imageops.ParseCube(strings.NewReader(text)); !errors.Is(err, errs.ErrInvalidArgument) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%.60q: got %v, want %s", text, err, want)
		}
	}
	if _, err := imageops.ParseCube(nil); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Errorf("no reader: %v", err)
	}
	if _, err := imageops.ParseCube(iotest.ErrReader(io.ErrUnexpectedEOF)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a reader that fails: %v", err)
	}
}

// TestCubeInCalls checks which calls take a table.
func TestCubeInCalls(t *testing.T) {
	c, err := imageops.ParseCube(strings.NewReader(smallCube))
	if err != nil {
		t.Fatal(err)
	}
	size := image.Pt(5, 4)
	if got, err := imageops.Size(size, imageops.LUT{Table: c, Amount: 1}); err != nil || got != size {
		t.Errorf("size %v, %v", got, err)
	}
	for _, bad := range []spec.Call{
		imageops.LUT{Table: image.NewNRGBA(image.Rect(0, 0, 2, 4)), Amount: 1},
		imageops.LUT{Amount: 1}, imageops.LUT{Table: (*imageops.Cube)(nil), Amount: 1}, imageops.LUT{Table: &imageops.Cube{}, Amount: 1},
		imageops.LUT{Table: c}, imageops.LUT{Table: c, Amount: 2},
		spec.WithDefaults(imageops.Composite{Image: c}),
	} {
		if _, err := imageops.Size(size, bad); !errors.Is(err, errs.ErrInvalidArgument) {
			t.Errorf("%#v: %v", bad, err)
		}
	}
	bare, list, err := spec.Pictures(imageops.LUT{Table: c, Amount: 1})
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	other, err := imageops.ParseCube(strings.NewReader(strings.Replace(smallCube, "1e0", "3", 1)))
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := spec.Pictures(&imageops.LUT{Table: other, Amount: 1})
	if err != nil {
		t.Fatal(err)
	}
	a, okA := spec.AppendKey(nil, bare)
	b, okB := spec.AppendKey(nil, second)
	if !okA || !okB || bytes.Equal(a, b) {
		t.Error("tables of other ranges have the same plan")
	}
}

func FuzzParseCube(f *testing.F) {
	f.Add([]byte(smallCube))
	f.Add([]byte("LUT_1D_SIZE 2\nDOMAIN_MAX 1 1 1\n0 0 0\n1 1 1"))
	f.Add([]byte("LUT_3D_SIZE 256\n0 0 0"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := imageops.ParseCube(bytes.NewReader(data))
		if err != nil {
			return
		}
		if h := c.Tensor(); h.Check() != nil || int64(len(h.Data)) != h.Bytes() || h.Bytes() > 16*int64(len(data)) {
			t.Errorf("a table %v of %d bytes", h.Desc, len(data))
		}
		if _, err := imageops.Size(image.Pt(3, 3), imageops.LUT{Table: c, Amount: 1}); err != nil {
			t.Error(err)
		}
	})
}
