//go:build cgo

package spv_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/vk"
	"github.com/lathe-gpu/lathe/wgpu"
)

// constOps are the numbers of those of intOps that OpSpecConstantOp may name.
var constOps = map[string]int{
	"OpSNegate": 126, "OpNot": 200, "OpIAdd": 128, "OpISub": 130, "OpIMul": 132, "OpUDiv": 134, "OpSDiv": 135, "OpUMod": 137,
	"OpSRem": 138, "OpSMod": 139, "OpShiftRightLogical": 194, "OpShiftRightArithmetic": 195, "OpShiftLeftLogical": 196,
	"OpBitwiseOr": 197, "OpBitwiseXor": 198, "OpBitwiseAnd": 199, "OpSelect": 169, "OpIEqual": 170, "OpINotEqual": 171,
	"OpUGreaterThan": 172, "OpSGreaterThan": 173, "OpUGreaterThanEqual": 174, "OpSGreaterThanEqual": 175, "OpULessThan": 176,
	"OpSLessThan": 177, "OpULessThanEqual": 178, "OpSLessThanEqual": 179,
}

// TestIntegerConstants computes with specialisation constants of either sign, of one
// and of three components: what comes of that goes by the opcode too.
func TestIntegerConstants(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var m intModule
	var want []uint32
	var what []string
	signedOf := map[int]bool{}
	spec := func(letter byte, v uint32) string {
		if letter == 'b' {
			return m.once(&m.consts, fmt.Sprintf("%%sb%d", v&1), "%s %%b", []string{"OpSpecConstantFalse", "OpSpecConstantTrue"}[v&1])
		}
		return m.once(&m.consts, fmt.Sprintf("%%s%c%d", letter, v), "OpSpecConstant %%%c %d", letter, v)
	}
	for k := range intOps {
		op := &intOps[k]
		number, ok := constOps[op.name]
		if !ok {
			continue
		}
		x := op.operands()
		for round := range 12 {
			n := 1 + round%2*2
			lane := rng.IntN(lanes)
			letters := make([]byte, len(op.kinds))
			for a := range letters {
				letters[a] = "ui"[rng.IntN(2)]
				switch op.kinds[a] {
				case 'u', 'b':
					letters[a] = op.kinds[a]
				case 'r':
					letters[a] = letters[0]
				}
			}
			text := fmt.Sprintf("OpSpecConstantOp %s %d", shaped(letters[0], n), number)
			for a := range op.kinds[1:] {
				var parts []string
				for c := range n {
					parts = append(parts, spec(letters[1+a], x[lane][c][a]))
				}
				if n == 1 {
					text += " " + parts[0]
				} else {
					id := m.id()
					fmt.Fprintf(&m.consts, "%s = OpSpecConstantComposite %s %s\n", id, shaped(letters[1+a], n), strings.Join(parts, " "))
					text += " " + id
				}
			}
			id := m.id()
			fmt.Fprintf(&m.consts, "%s = %s\n", id, text)
			for c := range n {
				one, letter := id, letters[0]
				if n > 1 {
					one = m.id()
					fmt.Fprintf(&m.consts, "%s = OpSpecConstantOp %%%c 81 %s %d\n", one, letter, id, c)
				}
				if letter == 'b' {
					letter, one = 'u', m.op("OpSelect %%u %s %%n1 %%n0", one)
				}
				p := m.op("OpAccessChain %%%cp %%%cout %%n0 %s", letter, letter, m.number(len(want)))
				fmt.Fprintf(&m.body, "OpStore %s %s\n", p, one)
				signedOf[len(want)] = letter == 'i'
				want = append(want, op.ref(x[lane][c]))
				what = append(what, fmt.Sprintf("%s of %s: %x", op.name, letters, x[lane][c][:len(letters)-1]))
			}
		}
	}
	mod, err := spv.Parse("constants", assemble(t, strings.Replace(m.text(), "17 64 1 1", "17 1 1 1", 1)))
	if err != nil {
		t.Fatal(err)
	}
	eachDevice(t, func(t *testing.T, dev gpu.Device) {
		got := runWords(t, dev, mod, make([]uint32, 4), len(want), 1)
		for k, w := range want {
			is := got[0][k]
			if signedOf[k] {
				is = got[1][k]
			}
			if is != w {
				t.Errorf("%s: got %x, want %x", what[k], is, w)
			}
		}
	})
}

// TestIntegerBranches runs switches on selectors of either sign whose cases include
// negative numbers, and joins what the ways give.
func TestIntegerBranches(t *testing.T) {
	cases := []uint32{0, 1, 31, 0xffffffff, 0x80000000, 0x7fffffff}
	var m intModule
	for _, letter := range []byte("ui") {
		p := m.op("OpAccessChain %%%cp %%%cin %%n0 %%lane", letter, letter)
		v := m.op("OpLoad %%%c %s", letter, p)
		none := m.once(&m.consts, fmt.Sprintf("%%%c_99", letter), "OpConstant %%%c 99", letter)
		fmt.Fprintf(&m.body, "OpSelectionMerge %%join%c 0\nOpSwitch %s %%else%c", letter, v, letter)
		for k, c := range cases {
			fmt.Fprintf(&m.body, " %d %%case%c%d", int32(c), letter, k)
		}
		join := ""
		for k := range cases {
			join += fmt.Sprintf(" %s %%case%c%d", m.once(&m.consts, fmt.Sprintf("%%%c_%d", letter, k), "OpConstant %%%c %d", letter, k), letter, k)
			fmt.Fprintf(&m.body, "\n%%case%c%d = OpLabel\nOpBranch %%join%c", letter, k, letter)
		}
		fmt.Fprintf(&m.body, "\n%%else%c = OpLabel\nOpBranch %%join%c\n%%join%c = OpLabel\n", letter, letter, letter)
		r := m.op("OpPhi %%%c%s %s %%else%c", letter, join, none, letter)
		p = m.op("OpAccessChain %%%cp %%%cout %%n0 %%x", letter, letter)
		fmt.Fprintf(&m.body, "OpStore %s %s\n", p, r)
	}
	mod, err := spv.Parse("branches", assemble(t, m.text()))
	if err != nil {
		t.Fatal(err)
	}
	in := make([]uint32, 4*64)
	for i := range 64 {
		in[4*i] = edges[i%len(edges)]
	}
	eachDevice(t, func(t *testing.T, dev gpu.Device) {
		got := runWords(t, dev, mod, in, 64, 1)
		for i := range 64 {
			want := uint32(99)
			for k, c := range cases {
				if in[4*i] == c {
					want = uint32(k)
				}
			}
			if got[0][i] != want || got[1][i] != want {
				t.Errorf("%x: got %d of unsigned, %d of signed, want %d", in[4*i], got[0][i], got[1][i], want)
			}
		}
	})
}

// TestIntegerAtomics takes the least and largest of numbers of either type by either
// opcode, or is told which instruction the device has not.
func TestIntegerAtomics(t *testing.T) {
	ops := []struct {
		name string
		ref  func(a, b uint32) uint32
	}{
		{"OpAtomicSMin", func(a, b uint32) uint32 { return uint32(min(int32(a), int32(b))) }},
		{"OpAtomicUMin", func(a, b uint32) uint32 { return min(a, b) }},
		{"OpAtomicSMax", func(a, b uint32) uint32 { return uint32(max(int32(a), int32(b))) }},
		{"OpAtomicUMax", func(a, b uint32) uint32 { return max(a, b) }},
	}
	for _, start := range []uint32{0, 1 << 31} {
		var m intModule
		for k, op := range ops {
			for _, letter := range []byte("ui") {
				v := m.op("OpLoad %%%c %s", letter, m.op("OpAccessChain %%%cp %%%cin %%n0 %%lane", letter, letter))
				p := m.op("OpAccessChain %%%cp %%%cout %%n0 %s", letter, letter, m.number(k))
				m.op("OpAtomicIAdd %%%c %s %%n1 %%n0 %s", letter, p, m.once(&m.consts, fmt.Sprintf("%%%c_%d", letter, start), "OpConstant %%%c %d", letter, start))
				m.op("%s %%%c %s %%n1 %%n0 %s", op.name, letter, p, v)
			}
		}
		// One invocation only, so that the start is added once.
		mod, err := spv.Parse("atomics", assemble(t, strings.Replace(m.text(), "17 64 1 1", "17 1 1 1", 1)))
		if err != nil {
			t.Fatal(err)
		}
		eachDevice(t, func(t *testing.T, dev gpu.Device) {
			if dev.Info().Backend == "wgpu" {
				h, err := dev.Alloc(64)
				if err != nil {
					t.Fatal(err)
				}
				b := gpu.Binding{Buffer: h}
				err = dev.Submit([]gpu.Dispatch{{Module: mod, Bindings: []gpu.Binding{b, b, b, b, b, b}, Groups: [3]uint32{1, 1, 1}}})
				if !errors.Is(err, gpu.ErrUnsupported) || !strings.Contains(err.Error(), "Atomic") {
					t.Errorf("got %v, want ErrUnsupported that names the instruction", err)
				}
				return
			}
			for _, v := range edges {
				got := runWords(t, dev, mod, []uint32{v, 0, 0, 0}, len(ops), 1)
				for k, op := range ops {
					if want := op.ref(start, v); got[0][k] != want || got[1][k] != want {
						t.Errorf("%s(%x, %x): got %x of unsigned, %x of signed, want %x", op.name, start, v, got[0][k], got[1][k], want)
					}
				}
			}
		})
	}
}

// runWords runs a module of intHead once for every lane and gives its three results.
func runWords(t *testing.T, dev gpu.Device, m *spv.Module, in []uint32, out, groups int) (got [3][]uint32) {
	t.Helper()
	ctx := t.Context()
	d := gpu.Dispatch{Module: m, Groups: [3]uint32{uint32(groups), 1, 1}}
	alloc := func(size int) gpu.Binding {
		h, err := dev.Alloc(int64(size))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = dev.Free(h) })
		return gpu.Binding{Buffer: h, Size: int64(size)}
	}
	src := alloc(4 * len(in))
	if err := dev.Write(ctx, src.Buffer, 0, testkit.Words(in...)); err != nil {
		t.Fatal(err)
	}
	d.Bindings = []gpu.Binding{src, src, src, alloc(4 * out), alloc(4 * out), alloc(4 * out)}
	if err := dev.Submit([]gpu.Dispatch{d}); err != nil {
		t.Fatal(err)
	}
	for k := range got {
		b := make([]byte, 4*out)
		if err := dev.Read(ctx, d.Bindings[3+k].Buffer, 0, b); err != nil {
			t.Fatal(err)
		}
		got[k] = testkit.Uint32s(b)
	}
	return got
}

// eachDevice runs a test on a device of Vulkan and on one of WebGPU.
func eachDevice(t *testing.T, run func(t *testing.T, dev gpu.Device)) {
	quiet := func(string) {}
	for name, open := range map[string]func() (gpu.Device, error){
		"vk":   func() (gpu.Device, error) { return vk.Open(t.Context(), vk.Options{NoCache: true, Warn: quiet}) },
		"wgpu": func() (gpu.Device, error) { return wgpu.Open(t.Context(), wgpu.Options{Warn: quiet}) },
	} {
		t.Run(name, func(t *testing.T) {
			dev, err := open()
			run(t, testkit.Device(t, dev, err))
		})
	}
}
