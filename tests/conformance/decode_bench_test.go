package conformance_test

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// BenchmarkDecodeAttention measures attention of one query over a cache with room for 2048 keys, of which some are valid: by the kernels for few
// queries, and by the tiles that would be chosen else, in turns. It reports the least times.
func BenchmarkDecodeAttention(b *testing.B) {
	infos, err := drivers.List(b.Context(), "")
	testkit.Opened(b, err)
	for i, info := range infos {
		dev, err := drivers.Open(b.Context(), drivers.Options{Device: fmt.Sprint(i), NoCache: true, Warn: func(string) {}})
		if err != nil {
			b.Fatal(err)
		}
		defer dev.Close()
		own, err := exec.New(dev)
		if err != nil {
			b.Fatal(err)
		}
		const heads, groups, keys, size = 4, 4, 2048, 64
		for _, d := range []tensor.DType{tensor.F32, tensor.F16} {
			q, cache, none := tensor.Contiguous(d, 1, heads, groups, 1, size), tensor.Contiguous(d, 1, heads, 1, keys, size), tensor.Contiguous(d, 0)
			in := []tensor.Desc{q, cache, cache, none, tensor.Contiguous(tensor.I32, 1)}
			var operands []exec.Operand
			for _, desc := range append(in, q) {
				h, err := dev.Alloc(max(desc.Bytes(), 16))
				if err != nil {
					b.Fatal(err)
				}
				operands = append(operands, exec.Operand{Buffer: h, Desc: desc})
			}
			runs := map[string]*exec.Runner{}
			target := own.Target()
			call := ops.Attention{Scale: 0.125, Causal: true}
			list := call.Spec().Strategies(call, &target, in, []tensor.Desc{q})
			for _, s := range list[:min(len(list), 2)] {
				if runs[s], err = exec.New(dev, exec.WithTarget(func(t *spec.Target) { t.Strategy = s })); err != nil {
					b.Fatal(err)
				}
			}
			for _, valid := range []uint32{16, 512, keys} {
				b.Run(fmt.Sprintf("%s/%v/%d", info.Backend, d, valid), func(b *testing.B) {
					if err := dev.Write(b.Context(), operands[4].Buffer, 0, binary.LittleEndian.AppendUint32(nil, valid)); err != nil {
						b.Fatal(err)
					}
					least := map[string]time.Duration{}
					for b.Loop() {
						for s, run := range runs {
							begin := time.Now()
							for range 10 {
								if err := run.Run(b.Context(), call, operands[:5], operands[5:]); err != nil {
									b.Fatal(err)
								}
							}
							if err := run.Sync(b.Context()); err != nil {
								b.Fatal(err)
							}
							if d := time.Since(begin) / 10; least[s] == 0 || d < least[s] {
								least[s] = d
							}
						}
					}
					for s, t := range least {
						b.ReportMetric(float64(t.Microseconds()), "µs-"+s)
					}
				})
			}
		}
	}
}
