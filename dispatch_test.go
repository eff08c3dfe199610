package lathe_test

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/internal/extra"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/tensor"
)

// lengths runs a shader that tells how many words and how many vectors of four words
// it finds in two tensors and what they add up to; then it fills them with value,
// where that is not 0.
func lengths(t *testing.T, dev *lathe.Device, words, fours *lathe.Tensor, value uint32) ([]uint32, error) {
	t.Helper()
	m := must(extra.Module("test/gputest_length.u32"))(t)
	found := must(lathe.FromSlice(t.Context(), dev, make([]uint32, 4)))(t)
	push := binary.LittleEndian.AppendUint32(nil, value)
	if err := dev.DispatchCompute(context.Background(), m.Code, []*lathe.Tensor{words, fours, found}, push, [3]uint32{1, 1, 1}); err != nil {
		return nil, err
	}
	return lathe.ToSlice[uint32](t.Context(), found)
}

// A foreign shader finds the elements that a tensor has, and no trace of what an
// earlier one wrote past them.
func TestDispatchLength(t *testing.T) {
	dev := open(t)
	five := must(lathe.FromSlice(t.Context(), dev, []uint32{1, 2, 3, 4, 5}))(t)
	bytes := must(lathe.FromSlice(t.Context(), dev, []uint8{1, 1, 1, 1, 1}))(t)
	none := must(dev.NewTensor(tensor.Contiguous(tensor.F32, 0)))(t)
	for _, c := range []struct {
		words, fours *lathe.Tensor
		want         []uint32
	}{
		{five, five, []uint32{5, 15, 2, 15}},
		{bytes, bytes, []uint32{2, 0x01010102, 1, 0x01010102}},
		{must(five.Narrow(0, 0, 3))(t), must(five.Narrow(0, 0, 4))(t), []uint32{3, 6, 1, 10}},
	} {
		if got := must(lengths(t, dev, c.words, c.fours, 0))(t); !slices.Equal(got, c.want) {
			t.Errorf("%v and %v: lengths and sums %d, want %d", c.words, c.fours, got, c.want)
		}
	}
	if got := must(lengths(t, dev, none, none, 0))(t); got[0] > 1 || got[2] > 1 || got[1] != 0 || got[3] != 0 {
		t.Errorf("an empty tensor: lengths and sums %d", got)
	}
	// A shader fills vectors of four, three words of the last beyond the tensor; the
	// next Write clears them.
	must(lengths(t, dev, none, five, 7))(t)
	if err := dev.Write(t.Context(), five, make([]byte, 20)); err != nil {
		t.Fatal(err)
	}
	if got, want := must(lengths(t, dev, five, five, 0))(t), []uint32{5, 0, 2, 0}; !slices.Equal(got, want) {
		t.Errorf("after a shader wrote past the end, and a Write: lengths and sums %d, want %d", got, want)
	}
}

// A view is bound where it begins at a multiple of the alignment, as far as it goes.
func TestDispatchViews(t *testing.T) {
	dev := open(t)
	align := int(max(dev.Info().Limits.OffsetAlign, 4)) / 4
	data := make([]uint32, 3*align+8)
	for i := range data {
		data[i] = uint32(i)
	}
	x := must(lathe.FromSlice(t.Context(), dev, data))(t)
	view := must(x.Narrow(0, align, 8))(t)
	a := uint32(align)
	if got, want := must(lengths(t, dev, view, view, 0))(t), []uint32{8, 8*a + 28, 2, 8*a + 28}; !slices.Equal(got, want) {
		t.Errorf("lengths and sums %d, want %d", got, want)
	}
	if _, err := lengths(t, dev, must(x.Narrow(0, 3, 0))(t), x, 0); !errors.Is(err, lathe.ErrInvalidArgument) {
		t.Errorf("an empty view: %v, want ErrInvalidArgument", err)
	}
	if align > 1 {
		if _, err := lengths(t, dev, must(x.Narrow(0, 1, 4))(t), x, 0); !errors.Is(err, lathe.ErrInvalidArgument) {
			t.Errorf("a view from the second element on: %v, want ErrInvalidArgument", err)
		}
	}
}

// A tensor for a binding that the shader does not use is an error that says so. A number
// between two bindings takes any tensor.
func TestDispatchExtraBinding(t *testing.T) {
	dev := open(t)
	x := must(lathe.FromSlice(t.Context(), dev, make([]uint32, 4)))(t)
	run := func(code []byte, n int) error {
		return dev.DispatchCompute(t.Context(), code, []*lathe.Tensor{x, x, x, x, x}[:n], nil, [3]uint32{1, 1, 1})
	}
	check := func(what string, code []byte, n int, want string) {
		t.Helper()
		err := run(code, n)
		if want == "" && err != nil {
			t.Errorf("%s, %d tensors: %v", what, n, err)
		}
		if want != "" && (!errors.Is(err, lathe.ErrInvalidArgument) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s, %d tensors: got %v, want ErrInvalidArgument with %q", what, n, err, want)
		}
	}
	if testkit.ToolIfAny(t, "glslc") == "" {
		return
	}
	const source = `#version 450
layout(binding = 0) buffer A { uint a[]; };
layout(binding = 2) buffer C { uint c[]; };
layout(binding = 3) buffer Unused { uint unused[]; };
void main() { a[0] = 1; c[1] = 2; }
`
	declared := testkit.GLSL(t, source, "--target-env=vulkan1.1", "-O0")
	check("as declared", declared, 4, "")
	check("as declared", declared, 5, "(got 5, want 4): the shader does not use binding 4")
	check("as declared", declared, 3, "3 given")
	optimised := testkit.GLSL(t, source, "--target-env=vulkan1.1", "-O")
	check("optimised", optimised, 3, "")
	check("optimised", optimised, 4, "(got 4, want 3): the shader does not use binding 3")
	none := testkit.GLSL(t, "#version 450\nvoid main() {}", "--target-env=vulkan1.1")
	check("none", none, 0, "")
	check("none", none, 1, "(got 1, want 0): the shader does not use binding 0")
}
