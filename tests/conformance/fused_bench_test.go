package conformance_test

import (
	"fmt"
	"testing"

	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/families/fusion"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// BenchmarkFused measures eight operations on three inputs, 16 MiB each in f32, one by one and in one launch, and copies
// of as many bytes. With rows, two of the inputs are broadcast.
func BenchmarkFused(b *testing.B) {
	f := fusion.Fused{
		Calls: []spec.Call{ops.Add{}, ops.Mul{}, ops.Sub{}, ops.Maximum{}, ops.ReLU{}, ops.Mul{}, ops.Add{}, ops.Minimum{}},
		Args:  [][]int{{0, 1}, {3, 2}, {4, 0}, {5, 1}, {6}, {7, 2}, {8, 0}, {9, 1}}, Outs: []int{10},
	}
	heavy := fusion.Fused{
		Calls: []spec.Call{ops.Add{}, ops.GELU{}, ops.Mul{}, ops.Tanh{}, ops.Sigmoid{}, ops.Exp{}, ops.Sub{}, ops.SiLU{}},
		Args:  [][]int{{0, 1}, {3}, {4, 2}, {5}, {6}, {7}, {8, 0}, {9}}, Outs: []int{10},
	}
	infos, err := drivers.List(b.Context(), "")
	testkit.Opened(b, err)
	for i, info := range infos {
		dev, err := drivers.Open(b.Context(), drivers.Options{Device: fmt.Sprint(i), NoCache: true, Warn: func(string) {}})
		if err != nil {
			b.Fatal(err)
		}
		defer dev.Close()
		x, err := exec.New(dev)
		if err != nil {
			b.Fatal(err)
		}
		full, row, column := []int{4096, 1024}, []int{1024}, []int{4096, 1}
		for _, c := range []struct {
			name   string
			f      fusion.Fused
			d      tensor.DType
			shapes [3][]int
		}{
			{"light", f, tensor.F32, [3][]int{full, full, full}},
			{"rows", f, tensor.F32, [3][]int{full, row, column}},
			{"odd", f, tensor.F32, [3][]int{{4096, 1023}, {1023}, {4096, 1}}},
			{"heavy", heavy, tensor.F32, [3][]int{full, full, full}},
			{"f16", f, tensor.F16, [3][]int{{8192, 1024}, {8192, 1024}, {8192, 1024}}},
			{"f64", f, tensor.F64, [3][]int{{2048, 1024}, {2048, 1024}, {2048, 1024}}},
		} {
			if c.d == tensor.F64 && !info.Features.F64 {
				continue
			}
			var values []exec.Operand
			var descs []tensor.Desc
			place := func(d tensor.Desc) exec.Operand {
				h, err := dev.Alloc(d.Bytes())
				if err != nil {
					b.Fatal(err)
				}
				return exec.Operand{Buffer: h, Desc: d}
			}
			for _, s := range c.shapes {
				descs = append(descs, tensor.Contiguous(c.d, s...))
				values = append(values, place(descs[len(descs)-1]))
			}
			type run struct {
				call    spec.Call
				in, out []exec.Operand
			}
			list := map[string][]run{}
			for k, call := range c.f.Calls {
				var in []exec.Operand
				var shapes []tensor.Desc
				for _, a := range c.f.Args[k] {
					in, shapes = append(in, values[a]), append(shapes, values[a].Desc)
				}
				out, err := call.Spec().Shape(call, shapes)
				if err != nil {
					b.Fatal(err)
				}
				values = append(values, place(out[0]))
				list["eager"] = append(list["eager"], run{call, in, values[len(values)-1:]})
			}
			list["fused"] = []run{{c.f, values[:3], values[len(values)-1:]}}
			ways := []string{"eager", "fused"}
			if c.shapes[0][0] == c.shapes[1][0] && c.shapes[1][0] == c.shapes[2][0] {
				// Two copies read and write as many bytes as the one launch.
				list["copies"] = []run{{ops.Copy{}, values[:1], values[3:4]}, {ops.Copy{}, values[1:2], values[4:5]}}
				ways = append(ways, "copies")
			}
			for _, how := range ways {
				b.Run(info.Backend+"/"+c.name+"/"+how, func(b *testing.B) {
					b.SetBytes(4 * 16 << 20)
					for b.Loop() {
						for _, r := range list[how] {
							if err := x.Run(b.Context(), r.call, r.in, r.out); err != nil {
								b.Fatal(err)
							}
						}
						if err := x.Sync(b.Context()); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
			for _, v := range values {
				if err := dev.Free(v.Buffer); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
}
