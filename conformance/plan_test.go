package conformance

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	_ "github.com/lathe-gpu/lathe/ops/all" // registers the operations
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// somewhere returns a device of random limits, from the least that Vulkan allows. It
// records launches and runs nothing. It checks each launch against its limits.
func somewhere(t *rapid.T) *null.Device {
	info := null.DefaultInfo()
	info.Memory = 1 << 50
	if rapid.Bool().Draw(t, "cpu") {
		info.Kind = gpu.CPU
	}
	l, f := &info.Limits, &info.Features
	l.MaxBuffer = 1 << 48
	l.MaxBinding = rapid.SampledFrom([]int64{1 << 20, 1 << 24, 128 << 20, 1<<32 - 16}).Draw(t, "binding")
	l.MaxTexels = rapid.SampledFrom([]int64{1 << 16, 1 << 20, 1 << 27}).Draw(t, "texels")
	l.MaxTexelBuffers = rapid.SampledFrom([]uint32{0, 4, 16}).Draw(t, "texel buffers")
	l.OffsetAlign = rapid.SampledFrom([]int64{4, 16, 64, 256}).Draw(t, "align")
	l.TexelAlign = rapid.SampledFrom([]int64{4, 16, 256}).Draw(t, "texel align")
	l.MaxInvocations = rapid.SampledFrom([]uint32{64, 128, 256, 1024}).Draw(t, "invocations")
	for i := range l.MaxLocalSize {
		l.MaxLocalSize[i] = min(l.MaxLocalSize[i], l.MaxInvocations)
	}
	l.MaxGroups = rapid.SampledFrom([][3]uint32{{256, 256, 256}, {65535, 65535, 65535}, {1<<31 - 1, 65535, 65535}}).Draw(t, "groups")
	l.MaxSharedBytes = rapid.SampledFrom([]uint32{16 << 10, 32 << 10, 48 << 10}).Draw(t, "shared")
	l.MaxBindings = rapid.SampledFrom([]uint32{4, 5, 8, 16}).Draw(t, "bindings")
	l.MaxIterations = rapid.SampledFrom([]uint32{0, math.MaxUint16}).Draw(t, "iterations")
	f.F64, f.I64 = rapid.Bool().Draw(t, "f64"), rapid.Bool().Draw(t, "i64")
	if !rapid.Bool().Draw(t, "f16") {
		f.F16, f.Storage16, f.I16, f.I8, f.Storage8 = false, false, false, false, false
	}
	f.SubgroupSize = rapid.SampledFrom([]uint32{4, 8, 32, 64}).Draw(t, "subgroup")
	if !rapid.Bool().Draw(t, "subgroups") {
		f.Subgroups, f.SubgroupSize = false, 0
	}
	return null.NewRecorder(&info)
}

// mostBindings is the largest size of a call's operands, counted in bindings of the
// device. Larger operands would only need more of the same launches.
const mostBindings = 16

// someInputs draws sizes, from awkward to large ones, and returns the inputs. It returns
// nil if the operation has no such case.
func someInputs(t *rapid.T, op *spec.Op, c spec.Call, d tensor.DType, most int64) []tensor.Desc {
	dims := make([]int, len(op.Cases.Dims))
	for i, dim := range op.Cases.Dims {
		sizes := rapid.SampledFrom(awkward(dim))
		if len(dim.Only) == 0 {
			sizes = rapid.OneOf(sizes, rapid.IntRange(0, 70), rapid.IntRange(1, 5000),
				rapid.SampledFrom([]int{255, 256, 257, 4096, 16384, 65535, 65536, 100_000, 1_000_000, 16_777_217}))
		}
		dims[i] = sizes.Draw(t, dim.Name)
	}
	for {
		in := op.Cases.InputsFor(c, d, dims)
		if in == nil {
			return nil
		}
		total := int64(0)
		outs, err := shape(op, c, in)
		if err != nil {
			return in // The caller reports it.
		}
		for _, t := range append(slices.Clone(in), outs...) {
			total += min(t.Bytes(), most+1) // The sum must not overflow.
		}
		if total <= most {
			return in
		}
		large := -1
		for i, n := range dims {
			if len(op.Cases.Dims[i].Only) == 0 && (large < 0 || n > dims[large]) {
				large = i
			}
		}
		if large < 0 || dims[large] < 2 {
			return nil
		}
		dims[large] = min(dims[large]*2/3+1, dims[large]-1)
	}
}

// TestPlansKeepLimits runs every operation on devices of random limits that record and
// check launches. The tensors are up to many times as large as a binding, which takes no
// memory here. Every launch must keep the limits, and together the launches must write
// all of every output. LATHE_OPS chooses operations, as for TestOps in tests/conformance.
func TestPlansKeepLimits(t *testing.T) {
	ops := spec.All()
	if names := os.Getenv("LATHE_OPS"); names != "" {
		ops = nil
		for _, n := range strings.Split(names, ",") {
			op := spec.Lookup(n)
			if op == nil {
				t.Fatalf("LATHE_OPS: no operation is named %q", n)
			}
			ops = append(ops, op)
		}
	}
	for _, op := range ops {
		t.Run(op.Name, func(t *testing.T) {
			t.Parallel()
			checkPlans(t, op)
		})
	}
}

// enoughLaunches ends the plans of an operation: so many launches take a few seconds. A limit on the
// time would make another choice of plans on each machine.
const enoughLaunches = 1 << 19

// checkPlans is TestPlansKeepLimits for one operation.
func checkPlans(t *testing.T, op *spec.Op) {
	launches, tried, each := 0, 0, 1
	if testlevel.IsFull() {
		each = 10
	}
	rapid.Check(t, func(t *rapid.T) { // A skipped check would count as failed.
		for range each {
			if launches > enoughLaunches {
				return
			}
			if n, ok := checkPlan(t, op); ok {
				launches, tried = launches+n, tried+1
			}
		}
	})
	if tried == 0 {
		t.Errorf("%s: no plan was made", op.Name)
	}
}

// planViews are the layouts of operands. Most often they are contiguous.
var planViews = []layout{{}, {}, {}, {}, {pad: 1}, {transposed: true}, {repeated: 1}, {repeated: -1}, {pad: 3, aligned: true}}

// checkPlan draws a device and a call. It returns the number of launches, and whether there was a
// plan to check.
func checkPlan(t *rapid.T, op *spec.Op) (n int, ok bool) {
	dev := somewhere(t)
	d := rapid.SampledFrom(op.Cases.DTypes).Draw(t, "dtype")
	call := rapid.SampledFrom(op.Cases.Calls).Draw(t, "call")
	limits := dev.Info().Limits
	in := someInputs(t, op, call, d, mostBindings*min(limits.MaxBinding, limits.MaxTexels*16))
	if in == nil {
		return 0, false
	}
	out, err := op.Shape(call, in)
	if errors.Is(err, errs.ErrInvalidArgument) {
		return 0, false
	}
	if err != nil {
		t.Fatal(err)
	}
	inView, outView := rapid.SampledFrom(planViews).Draw(t, "in"), rapid.SampledFrom(planViews[:6]).Draw(t, "out")
	strided := !inView.plain() || !outView.plain()
	flops, written := int64(0), int64(0)
	if op.Cost != nil {
		flops = op.Cost(call, in).Flops
	}
	if flops > 1<<35 || strided && spec.Lookup("copy") == nil {
		return 0, false
	}
	for _, d := range append(slices.Clone(in), out...) { // The rows are padded to a multiple of a long dimension.
		if v, _ := planViews[len(planViews)-1].strided(d); v.Bytes() > limits.MaxBuffer {
			return 0, false
		}
	}
	place := func(ds []tensor.Desc, v layout) (list []exec.Operand) {
		for _, d := range ds {
			d, _ = v.strided(d)
			h, err := dev.Alloc(d.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, exec.Operand{Buffer: h, Desc: d})
		}
		return list
	}
	inputs, outputs := place(in, inView), place(out, outView)
	target := exec.TargetOf(dev.Info())
	if op.Strategies != nil {
		if strategies := op.Strategies(call, &target, in, out); len(strategies) > 0 {
			target.Strategy = rapid.SampledFrom(strategies).Draw(t, "strategy")
		}
	}
	x, err := exec.New(dev, exec.WithTarget(func(t *spec.Target) { *t = target }))
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	err = x.Run(t.Context(), call, inputs, outputs)
	took := time.Since(begin)
	launches := dev.Recorded()
	for _, d := range out {
		written += d.Bytes()
	}
	about := fmt.Sprintf("%s of %v %+v to %v %+v: %d launches", callName(call), in, inView, out, outView, len(launches))
	lacks := errors.Is(err, gpu.ErrUnsupported) && slices.ContainsFunc(append(slices.Clone(in), out...), func(t tensor.Desc) bool {
		return t.DType == tensor.F64 && !dev.Info().Features.F64 || t.DType == tensor.I64 && !dev.Info().Features.I64 ||
			slices.Contains([]string{"auto_contrast", "equalize", "clahe"}, op.Name) && t.Elems()/t.Shape[2] > math.MaxUint32/3 // Their docs say so.
	})
	halo := errors.Is(err, gpu.ErrLimit) && op.Group == "image" // A few rows with their halo exceed a binding.
	switch {
	case lacks || halo:
		return 0, false
	case err != nil:
		t.Fatalf("%s: %v", about, err)
	case op.Group == "image" && len(launches) > max(1<<19, 4*(in[0].Shape[0]+out[0].Shape[0])):
		t.Fatalf("%s: some launches for each row are enough", about)
	case took > time.Minute || op.Group != "image" && int64(len(launches)) > max(1<<19, flops>>15, written>>12):
		// A launch does 2^15 operations or writes 4 KiB of the result, even under the least
		// limits.
		t.Fatalf("%s: planned in %v", about, took)
	}
	for i, o := range outputs {
		if gap := unreached(o, launches); gap != "" {
			t.Fatalf("%s: output %d: %s", about, i, gap)
		}
	}
	return len(launches), true
}

// unreached returns which bytes of an operand no launch can write.
func unreached(o exec.Operand, launches []gpu.Dispatch) string {
	if o.Desc.Elems() == 0 {
		return ""
	}
	var parts [][2]int64
	for _, x := range launches {
		for _, b := range x.Module.Bindings {
			if g := x.Bindings[b.Slot]; g.Buffer == o.Buffer && b.Access != spv.ReadOnly && x.Count() > 0 {
				parts = append(parts, [2]int64{g.Offset, g.Offset + g.Size})
			}
		}
	}
	slices.SortFunc(parts, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
	done := int64(0)
	for _, p := range parts {
		if p[0] > done && o.Desc.IsContiguous() {
			break
		}
		done = max(done, p[1])
	}
	if done < o.Desc.Bytes() {
		return fmt.Sprintf("no launch writes byte %d of %d", done, o.Desc.Bytes())
	}
	return ""
}
