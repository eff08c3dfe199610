package conformance_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"sync"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// drawn returns the result of a call without inputs.
func drawn(t *testing.T, dev gpu.Device, run *exec.Runner, call spec.Call) *tensor.Host {
	t.Helper()
	made, err := call.Spec().Shape(call, nil)
	if err != nil {
		t.Fatal(err)
	}
	dst, out := alloc(t, dev, made[0]), tensor.NewHost(made[0])
	if err := run.Run(t.Context(), call, nil, []exec.Operand{dst}); err != nil {
		t.Fatalf("%s: %v", spec.FormatCall(call), err)
	}
	if err := run.Read(t.Context(), dst.Buffer, 0, out.Data); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestPhiloxVectors compares with the vectors that the authors of Philox 4×32-10 published with Random123.
func TestPhiloxVectors(t *testing.T) {
	pair := func(low, high uint32) int { return int(int64(uint64(high)<<32 | uint64(low))) }
	devices(t, func(t *testing.T, dev gpu.Device) {
		run, err := exec.New(dev)
		run = testkit.Device(t, run, err)
		for _, c := range []struct {
			counter [4]uint32
			key     [2]uint32
			want    [4]uint32
		}{
			{want: [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
			{[4]uint32{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, [2]uint32{0xffffffff, 0xffffffff}, [4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
			{[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0}, [4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
		} {
			got := drawn(t, dev, run, ops.RandomBits{
				Shape: []int{4}, Seed: pair(c.key[0], c.key[1]), Offset: pair(c.counter[0], c.counter[1]), Stream: pair(c.counter[2], c.counter[3]),
			})
			for i, want := range c.want {
				if word := binary.LittleEndian.Uint32(got.Data[4*i:]); word != want {
					t.Errorf("counter %x, key %x: word %d is %08x, want %08x", c.counter, c.key, i, word, want)
				}
			}
		}
	})
}

// TestRandomIsTheSameEverywhere checks that random numbers have the same bits on all devices, that a tensor
// continues where another ends, and that mean, deviation and limits are as documented.
func TestRandomIsTheSameEverywhere(t *testing.T) {
	const n = 1 << 17
	var first sync.Map // the bytes of each call on the first device that was ready
	devices(t, func(t *testing.T, dev gpu.Device) {
		run, err := exec.New(dev)
		run = testkit.Device(t, run, err)
		for _, c := range []struct {
			call           spec.Call
			mean, sd       float64
			least, largest float64
		}{
			{ops.RandomUniform{Shape: []int{n}, DType: tensor.F32, Low: -1, High: 3, Seed: 11}, 1, 4 / math.Sqrt(12), -1, 3},
			{ops.RandomUniform{Shape: []int{n}, DType: tensor.BF16, High: 1, Seed: -1, Stream: 2}, 0.5, 1 / math.Sqrt(12), 0, 1},
			{ops.RandomNormal{Shape: []int{n}, DType: tensor.F32, Mean: 2, Scale: 0.5, Seed: 12}, 2, 0.5, 2 - 2.9, 2 + 2.9},
			{ops.RandomNormal{Shape: []int{n}, DType: tensor.F16, Scale: 1, Seed: 12, Stream: 1}, 0, 1, -5.8, 5.8},
		} {
			name := spec.FormatCall(c.call)
			got := drawn(t, dev, run, c.call)
			if want, ok := first.LoadOrStore(name, got.Data); ok && !bytes.Equal(got.Data, want.([]byte)) {
				t.Errorf("%s: other bits than on the first device", name)
			}
			sum, squares, cross, last := 0.0, 0.0, 0.0, 0.0
			for i, v := range got.Floats() {
				if !(v >= c.least && v <= c.largest) {
					t.Fatalf("%s: element %d is %v", name, i, v)
				}
				v = (v - c.mean) / c.sd
				sum, squares, cross, last = sum+v, squares+v*v, cross+v*last, v
			}
			// Each of these is within five of its own deviations, but for one of a million seeds.
			if m, s, r := sum/n, squares/n-1, cross/n; math.Abs(m) > 5/math.Sqrt(n) || math.Abs(s) > 5*math.Sqrt(2.0/n) || math.Abs(r) > 5/math.Sqrt(n) {
				t.Errorf("%s: mean %v, square %v, correlation of neighbours %v", name, m, s, r)
			}
		}
		whole := drawn(t, dev, run, ops.RandomNormal{Shape: []int{64}, DType: tensor.F32, Scale: 1, Seed: 5})
		rest := drawn(t, dev, run, ops.RandomNormal{Shape: []int{24}, DType: tensor.F32, Scale: 1, Seed: 5, Offset: 10})
		if !bytes.Equal(whole.Data[4*40:], rest.Data) {
			t.Error("a tensor does not continue where its offset is")
		}
	})
}
