package exec

import (
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestCopiesInPlace appends to a cache: in place no launch copies the cache, in single calls and in sequences, and elsewhere one does. The index
// lies anywhere, and is not copied.
func TestCopiesInPlace(t *testing.T) {
	r, dev := recorder(t)
	ctx := t.Context()
	operand := func(d tensor.DType, first int, shape ...int) Operand {
		o := at(t, dev, first, shape...)
		o.Desc.DType = d
		return o
	}
	cache, other := operand(tensor.F32, 0, 1, 2, 64, 8), operand(tensor.F32, 0, 1, 2, 64, 8)
	update, index := operand(tensor.F32, 0, 1, 2, 1, 8), operand(tensor.I32, 3, 1)
	names := func(list []gpu.Dispatch) (out []string) {
		for _, d := range list {
			out = append(out, d.Module.Name[:strings.IndexByte(d.Module.Name+".", '.')])
		}
		return out
	}
	for _, c := range []struct {
		out  Operand
		want []string
	}{
		{cache, []string{"move/check_few", "move/tensor_scatter"}},
		{other, []string{"move/check_few", "move/copy_checked", "move/tensor_scatter"}},
	} {
		dev.Forget()
		in := []Operand{cache, update, index}
		call := ops.TensorScatter{Axis: -2}
		if err := r.Run(ctx, call, in, []Operand{c.out}); err != nil {
			t.Fatal(err)
		}
		if got := names(dev.Recorded()); !slices.Equal(got, c.want) {
			t.Errorf("launches %v (want %v)", got, c.want)
		}
		// In a sequence, slots say whether both are one.
		compiled, err := r.Compile(call, r.places(in), r.places([]Operand{c.out}))
		if err != nil {
			t.Fatal(err)
		}
		slots := []gpu.Handle{cache.Buffer, update.Buffer, index.Buffer, c.out.Buffer}
		slotOf := func(o Operand) SlotOperand {
			return SlotOperand{Slot: slices.Index(slots, o.Buffer), Offset: o.Offset, Desc: o.Desc}
		}
		s, err := r.NewSequence(len(slots), []SlotCall{{Call: call, Compiled: compiled, In: []SlotOperand{slotOf(cache), slotOf(update), slotOf(index)}, Out: []SlotOperand{slotOf(c.out)}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := names(s.list); !slices.Equal(got, c.want) {
			t.Errorf("launches of a sequence %v (want %v)", got, c.want)
		}
	}
}
