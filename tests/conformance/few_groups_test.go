package conformance_test

import (
	"bytes"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/gpu/guard"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestFewGroups copies transposed elements on a device that launches so few workgroups that a copy takes several launches, and compares the bits with those that the host puts in order.
func TestFewGroups(t *testing.T) {
	devices(t, func(t *testing.T, dev gpu.Device) {
		l := dev.Info().Limits
		l.MaxGroups = [3]uint32{16, 8, 1}
		few := guard.Restrict(dev, l)
		x, err := exec.New(few)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range []tensor.DType{tensor.U8, tensor.I16, tensor.F32, tensor.I64} {
			n := [3]int{61, 67, 31} // out[i][j][k] = in[k][i][j]
			size := d.Size()
			data := make([]byte, n[0]*n[1]*n[2]*size)
			for i := range data {
				data[i] = byte(i*i>>5 ^ i)
			}
			want := make([]byte, 0, len(data))
			for i := range n[0] {
				for j := range n[1] {
					for k := range n[2] {
						at := ((k*n[0]+i)*n[1] + j) * size
						want = append(want, data[at:at+size]...)
					}
				}
			}
			from := tensor.Desc{DType: d, Shape: n[:], Strides: []int{n[1], 1, n[0] * n[1]}}
			in, out := buffer(t, few, int64(len(data))), buffer(t, few, int64(len(data)))
			if err := few.Write(t.Context(), in, 0, data); err != nil {
				t.Fatal(err)
			}
			err := x.Run(t.Context(), ops.Copy{}, []exec.Operand{{Buffer: in, Desc: from}}, []exec.Operand{{Buffer: out, Desc: tensor.Contiguous(d, n[:]...)}})
			if err != nil {
				t.Errorf("%v: %v", d, err)
				continue
			}
			got := make([]byte, len(data))
			if err := x.Read(t.Context(), out, 0, got); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%v: the copy has other elements", d)
			}
		}
	})
}

func buffer(t *testing.T, dev gpu.Device, size int64) gpu.Handle {
	t.Helper()
	h, err := dev.Alloc(size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dev.Free(h) })
	return h
}
