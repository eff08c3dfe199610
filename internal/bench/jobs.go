package bench

import (
	"slices"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// job is a call with inputs of a dtype.
type job struct {
	benchCase spec.BenchCase
	dtype     tensor.DType
}

// BenchCases are the calls that a bench with these options measures on a device.
func (o *Options) BenchCases(info *gpu.Info) []spec.BenchCase {
	var ws []spec.BenchCase
	for _, j := range o.jobs(info) {
		ws = append(ws, j.benchCase)
	}
	return ws
}

// jobs are the calls to measure on a device. GPUs measure larger ones too.
func (o *Options) jobs(info *gpu.Info) []job {
	ops := o.Ops
	if ops == nil {
		for _, op := range spec.All() {
			if op.Offered() {
				ops = append(ops, op)
			}
		}
	}
	var jobs []job
	for _, op := range ops {
		if op.Cases.Bench == nil {
			continue
		}
		dtypes := usual(op, info)
		if o.DTypes != nil {
			dtypes = nil
			for _, d := range o.DTypes {
				if slices.Contains(op.Cases.DTypes, d) {
					dtypes = append(dtypes, d)
				}
			}
		}
		for _, d := range dtypes {
			for _, w := range op.Cases.Bench(d) {
				if (!w.GPU || info.Kind != gpu.CPU) && (o.Keep == nil || o.Keep(w)) {
					jobs = append(jobs, job{w, d})
				}
			}
		}
	}
	return jobs
}

// usual are the element types that are measured unless the options name some: the most usual
// one, and for products of matrices F16 too, if the device multiplies cooperative matrices.
func usual(op *spec.Op, info *gpu.Info) []tensor.DType {
	dtypes := op.Cases.DTypes[:1:1]
	matrices := info.Features.Matrix[0] > 0 && info.Features.FullSubgroups
	if matrices && op.Traits.Class == spec.MatrixProduct && dtypes[0] != tensor.F16 && slices.Contains(op.Cases.DTypes, tensor.F16) {
		return append(dtypes, tensor.F16)
	}
	return dtypes
}
