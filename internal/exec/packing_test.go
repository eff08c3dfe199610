package exec_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	_ "github.com/lathe-gpu/lathe" // registers every operation
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
	"github.com/lathe-gpu/lathe/vk"
)

func open(t *testing.T) (gpu.Device, *exec.Runner) {
	t.Helper()
	dev, err := vk.Open(t.Context(), vk.Options{NoCache: true, Warn: func(string) {}})
	testkit.Device(t, dev, err)
	r, err := exec.New(dev)
	return dev, testkit.Device(t, r, err)
}

// view is an operand in a buffer. The test knows all bytes of the buffer.
type view struct {
	exec.Operand
	buffer []byte
}

func (v *view) host(buffer []byte) *tensor.Host {
	return &tensor.Host{Desc: v.Desc, Data: buffer[v.Offset:]}
}

// put copies the elements of h, which are contiguous, to a new buffer, misalignment
// elements after its start. If padded is set, the dimensions are reversed and the rows
// are padded.
func put(t *testing.T, dev gpu.Device, h *tensor.Host, misalignment int, padded bool) *view {
	t.Helper()
	v := &view{}
	v.Desc = h.Desc
	if padded {
		v.Desc.Strides = make([]int, len(h.Shape))
		n := 1
		for i, size := range h.Shape {
			v.Desc.Strides[i] = n
			n = n*max(size, 1) + 1
		}
	}
	size := h.DType.Size()
	v.Offset = int64(misalignment * size)
	v.buffer = make([]byte, v.Offset+v.Desc.Bytes()+37)
	for i := range v.buffer {
		v.buffer[i] = byte(i*31 + 7)
	}
	to, i := v.host(v.buffer), 0
	to.Each(func(_ []int, off int) {
		copy(to.Data[off*size:(off+1)*size], h.Data[i*size:])
		i++
	})
	var err error
	if v.Buffer, err = dev.Alloc(int64(len(v.buffer))); err == nil {
		err = dev.Write(context.Background(), v.Buffer, 0, v.buffer)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Free(v.Buffer) })
	return v
}

// elements reads the view's elements. It checks that nothing else in the buffer has
// changed.
func (v *view) elements(t *testing.T, r *exec.Runner) []byte {
	t.Helper()
	got := make([]byte, len(v.buffer))
	if err := r.Read(t.Context(), v.Buffer, 0, got); err != nil {
		t.Fatal(err)
	}
	want, size := bytes.Clone(v.buffer), v.Desc.DType.Size()
	var out []byte
	from, to := v.host(got), v.host(want)
	from.Each(func(_ []int, off int) {
		e := from.Data[off*size : (off+1)*size]
		out = append(out, e...)
		copy(to.Data[off*size:], e)
	})
	if !bytes.Equal(got, want) {
		t.Errorf("bytes beside the elements changed")
	}
	return out
}

// TestViews runs every operation on operands with misalignments, paddings and reversed
// dimensions, and compares with contiguous operands. At the quick level it runs a quarter of them.
func TestViews(t *testing.T) {
	dev, r := open(t)
	testlevel.Seed(t)
	for i, op := range spec.All() {
		if !testlevel.Sampled(i, 4) {
			continue
		}
		c := op.Cases
		for di, d := range c.DTypes {
			if di > 1 && !testlevel.IsFull() {
				break
			}
			dims := make([]int, len(c.Dims))
			for i, dim := range c.Dims {
				if dims[i] = 6; len(dim.Only) > 0 {
					dims[i] = dim.Only[len(dim.Only)-1]
				}
			}
			call := c.Calls[0]
			in := c.Inputs(op.Defaults, d, dims)
			want, err := op.Shape(call, in)
			if in == nil || err != nil {
				continue // There is no such case.
			}
			t.Run(op.Name+" "+d.String(), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(1, 2))
				var hosts []*tensor.Host
				for i, desc := range in {
					low, high := c.Low, c.High
					if c.Range != nil {
						low, high = c.Range(call, i, in)
					}
					h := tensor.NewHost(desc)
					values := make([]float64, desc.Elems())
					for k := range values {
						values[k] = low + (high-low)*rng.Float64()
					}
					h.SetFloats(values)
					hosts = append(hosts, h)
				}
				var plain [][]byte
				for _, misalignment := range []int{0, 1, 5} {
					for _, padded := range []bool{false, true} {
						var views []*view
						var places []exec.Operand
						for _, h := range hosts {
							views = append(views, put(t, dev, h, misalignment, padded))
						}
						for _, w := range want {
							views = append(views, put(t, dev, tensor.NewHost(w), misalignment, padded))
						}
						for _, v := range views {
							places = append(places, v.Operand)
						}
						err := r.Run(t.Context(), call, places[:len(in)], places[len(in):])
						if errors.Is(err, gpu.ErrUnsupported) && len(plain) == 0 { // Contiguous operands failed too.
							testkit.Ability(t, false, dev.Info().Name, fmt.Sprintf("%s of %v (%v)", op.Name, d, err))
						}
						if err != nil {
							t.Fatalf("%d elements in, padded %v: %v", misalignment, padded, err)
						}
						for i, v := range views {
							got := v.elements(t, r)
							if len(plain) < len(views) {
								plain = append(plain, got)
							} else if (misalignment > 0 || i < len(in)) && !bytes.Equal(got, plain[i]) {
								t.Errorf("%d elements in, padded %v: operand %d has other bytes than contiguous", misalignment, padded, i)
							}
						}
					}
				}
			})
		}
	}
}

// TestViewsOfFaults checks that a misaligned output is unchanged after a failed device
// check.
func TestViewsOfFaults(t *testing.T) {
	dev, r := open(t)
	indices, err := tensor.FromFloats(tensor.I32, []int{2, 2}, []float64{0, 1, 8, 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []tensor.DType{tensor.U8, tensor.F16, tensor.F32, tensor.F64} {
		weight := tensor.NewHost(tensor.Contiguous(d, 8, 3))
		out := tensor.NewHost(tensor.Contiguous(d, 2, 2, 3))
		for i := range out.Data {
			out.Data[i] = byte(i + 1)
		}
		a, b, c := put(t, dev, indices, 1, true), put(t, dev, weight, 3, true), put(t, dev, out, 5, true)
		if err := r.Run(t.Context(), ops.Embedding{}, []exec.Operand{a.Operand, b.Operand}, []exec.Operand{c.Operand}); err != nil {
			t.Fatal(err)
		}
		const want = "index 8 at position 2 (want 0 to 7)"
		if err := r.Sync(t.Context()); !errors.Is(err, gpu.ErrInvalidArgument) || !bytes.Contains([]byte(err.Error()), []byte(want)) {
			t.Errorf("%v: got %v, want %q", d, err, want)
		}
		if got := c.elements(t, r); !slices.Equal(got, out.Data) {
			t.Errorf("%v: the output changed: %v", d, got)
		}
	}
}
