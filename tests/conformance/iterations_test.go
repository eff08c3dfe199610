package conformance_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/conformance"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// loopLimit is Limits.MaxIterations of lavapipe.
const loopLimit = 65535

// TestIterations counts the loop iterations of every invocation of every kernel. lavapipe ends
// an invocation silently after loopLimit of them, so no plan may ask for more. It counts on the
// device of package cpu, with plans for lavapipe's limit and, for operations on images, for a
// small limit too: their plans depend on it, and mistakes show in small images then. A plan may
// refuse a small limit.
func TestIterations(t *testing.T) {
	testlevel.Need(t, testlevel.Full)
	dev, err := drivers.Open(t.Context(), drivers.Options{Backend: drivers.CPU, NoCache: true})
	counting := &countingDevice{Device: testkit.Device(t, dev, err), modules: map[*gpu.Module]*countingModule{}}
	for _, limit := range []uint32{loopLimit, 3000} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			opts := conformance.Options{Ops: inShard(), Quick: true, Pairs: true, Once: true, Seed: testlevel.Seed(t), Variants: []conformance.Variant{{
				Name:   "counted",
				Limits: func(l *gpu.Limits) { l.MaxIterations = limit },
			}}}
			small := limit < loopLimit
			if small {
				opts.Ops = slices.DeleteFunc(opts.Ops, func(op *spec.Op) bool { return op.Group != "image" })
			}
			counting.limit = limit
			rep, err := conformance.Run(t.Context(), counting, opts)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range rep.Rows {
				if r.Status == conformance.Fail && !(small && strings.Contains(r.Message, "device limit exceeded: MaxIterations")) {
					t.Errorf("%s %s %s: %s", r.Op, r.DType, r.Case, r.Message)
				}
			}
			if len(opts.Ops) > 0 && rep.Count(conformance.Pass) < 10*len(opts.Ops) {
				t.Errorf("%d cases of %d operations have passed", rep.Count(conformance.Pass), len(opts.Ops))
			}
		})
	}
}

// TestIterationsOfPictures counts them for pictures of which a workgroup makes many tiles, or many
// rows, under a limit that is small for them. Counts that are a little too low add up there.
func TestIterationsOfPictures(t *testing.T) {
	testlevel.Need(t, testlevel.Full)
	gpuDevice, err := drivers.Open(t.Context(), drivers.Options{Backend: drivers.CPU, NoCache: true})
	counting := &countingDevice{Device: testkit.Device(t, gpuDevice, err), modules: map[*gpu.Module]*countingModule{}, limit: 12_000}
	counting.info = *counting.Device.Info()
	counting.info.Limits.MaxIterations = counting.limit
	dev := front(t, lathe.WithGPU(counting))
	tried := 0
	for _, op := range inShard() {
		if op.Group != "image" || len(op.In) != 1 {
			continue
		}
		for _, call := range op.Cases.Calls {
			pictures := []image.Image{testimg.PhotoAlpha(331, 331, 1), testimg.PhotoAlpha(3, 40_009, 1), testimg.PhotoAlpha(40_009, 3, 1)}
			if op.Crops != nil {
				pictures = append(pictures, testimg.PhotoAlpha(1, 2_500_000, 1)) // They look at all of it, and make little.
			}
			for _, src := range pictures {
				in := []tensor.Desc{tensor.Contiguous(tensor.U8, src.Bounds().Dy(), src.Bounds().Dx(), 4)}
				if out, err := op.Shape(call, in); err != nil || out[0].Elems() > 1<<20 || op.Cost(call, in).Flops > 1<<28 {
					continue // The picture is too small for it, or it takes seconds.
				}
				got, err := dev.Apply(t.Context(), src, call)
				switch {
				case errors.Is(err, gpu.ErrLimit) && strings.Contains(err.Error(), "MaxIterations"):
				case err != nil:
					t.Errorf("%s of %v: %v", spec.FormatBrief(call), src.Bounds(), err)
				case got.Rect.Empty():
					t.Errorf("%s of %v: nothing", spec.FormatBrief(call), src.Bounds())
				default:
					tried++
				}
			}
		}
	}
	if tried == 0 {
		t.Error("nothing has run")
	}
}

// countingDevice counts the loop iterations of invocations. A Sync or Read after a kernel has
// exceeded the limit returns an error.
type countingDevice struct {
	gpu.Device
	limit uint32
	// info, if it has a Backend, is what Info returns.
	info gpu.Info

	mu      sync.Mutex
	modules map[*gpu.Module]*countingModule
}

// countingModule is a module that writes the most iterations of an invocation to a buffer.
type countingModule struct {
	*gpu.Module
	most gpu.Handle
}

func (d *countingDevice) Info() *gpu.Info {
	if d.info.Backend == "" {
		return d.Device.Info()
	}
	return &d.info
}

func (d *countingDevice) Submit(list []gpu.Dispatch) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	list = slices.Clone(list)
	for i := range list {
		x := &list[i]
		m := d.modules[x.Module]
		if m == nil {
			parsed, err := gpu.ParseModule(x.Module.Name, countingCode(x.Module))
			if err != nil {
				return err
			}
			m = &countingModule{Module: parsed}
			if m.most, err = d.Alloc(4); err != nil {
				return err
			}
			d.modules[x.Module] = m
		}
		x.Module, x.Bindings = m.Module, append(slices.Clone(x.Bindings), gpu.Binding{Buffer: m.most})
	}
	return d.Device.Submit(list)
}

func (d *countingDevice) Sync(ctx context.Context) error {
	if err := d.Device.Sync(ctx); err != nil {
		return err
	}
	return d.check(ctx)
}

func (d *countingDevice) Read(ctx context.Context, h gpu.Handle, offset int64, dst []byte) error {
	if err := d.Device.Read(ctx, h, offset, dst); err != nil {
		return err
	}
	return d.check(ctx)
}

// check returns an error if an invocation has exceeded the limit since the last call.
func (d *countingDevice) check(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for m := range maps.Values(d.modules) {
		var word [4]byte
		if err := d.Device.Read(ctx, m.most, 0, word[:]); err != nil {
			return err
		}
		n := binary.LittleEndian.Uint32(word[:])
		if err := d.Device.Write(ctx, m.most, 0, make([]byte, 4)); err != nil {
			return err
		}
		if n > d.limit {
			return fmt.Errorf("%s: an invocation made %d loop iterations, want at most %d", m.Name, n, d.limit)
		}
	}
	return nil
}

// The instructions, storage classes and decorations that countingCode looks for or writes. Source:
// the SPIR-V specification, section 3.
const (
	opEntryPoint     = 15
	opTypeInt        = 21
	opTypeStruct     = 30
	opTypePointer    = 32
	opConstant       = 43
	opFunction       = 54
	opVariable       = 59
	opLoad           = 61
	opStore          = 62
	opAccessChain    = 65
	opDecorate       = 71
	opMemberDecorate = 72
	opIAdd           = 128
	opAtomicUMax     = 239
	opPhi            = 245
	opLoopMerge      = 246
	opLabel          = 248
	opReturn         = 253
	opTypeFirst      = 19

	classPrivate       = 6
	classStorageBuffer = 12
)

// countingCode is the code of a module with a counter of loop iterations. The header of a loop
// runs once for each iteration, and once for the test that ends the loop, as lavapipe counts. After
// that test lavapipe runs the rest of the iteration without effect, and counts each loop in it once. The
// buffer after the last binding takes the maximum over all invocations.
func countingCode(m *gpu.Module) []byte {
	words := make([]uint32, len(m.Code)/4)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(m.Code[4*i:])
	}
	next := words[3]
	id := func() uint32 { next++; return next - 1 }
	inst := func(op uint32, args ...uint32) []uint32 {
		return append([]uint32{uint32(len(args)+1)<<16 | op}, args...)
	}
	pointer, counter, zero, one, block, blockPointer, result, resultPointer := id(), id(), id(), id(), id(), id(), id(), id()
	var entry, uintType uint32
	for at := 5; at < len(words); at += int(words[at] >> 16) {
		switch w := words[at:]; {
		case w[0]&0xffff == opEntryPoint:
			entry = w[2]
		case w[0]&0xffff == opTypeInt && w[2] == 32 && w[3] == 0:
			uintType = w[1]
		}
	}
	out := slices.Clone(words[:5])
	inserted := make([]uint32, 0, len(words)) // the code of the functions, with the counter
	var function uint32
	decorated, declared := false, false
	open := map[uint32]bool{} // blocks that follow the loops that have begun
	counts := map[uint32]uint32{1: one}
	headerAt := 0                // where the counter of a block goes, behind its label and phis
	empty := map[uint32]uint32{} // of blocks that follow a loop: how many loops are in it
	for at := 5; at < len(words); at += int(words[at] >> 16) {
		switch w := words[at:]; w[0] & 0xffff {
		case opLoopMerge:
			for merge := range open {
				empty[merge]++
			}
			open[w[1]] = true
		case opLabel:
			delete(open, w[1])
		}
	}
	count := func(n uint32) []uint32 {
		a, b := id(), id()
		return slices.Concat(inst(opLoad, uintType, a, counter), inst(opIAdd, uintType, b, a, counts[n]), inst(opStore, counter, b))
	}
	var after uint32 // loops to count behind the label and phis of this block
	for at := 5; at < len(words); at += int(words[at] >> 16) {
		w := words[at : at+int(words[at]>>16)]
		op := w[0] & 0xffff
		if !decorated && op >= opTypeFirst && op < opFunction && op != opEntryPoint {
			decorated = true
			out = append(out, inst(opDecorate, block, 2)...)              // Block
			out = append(out, inst(opMemberDecorate, block, 0, 35, 0)...) // Offset
			out = append(out, inst(opDecorate, result, 34, 0)...)         // DescriptorSet
			out = append(out, inst(opDecorate, result, 33, uint32(len(m.Bindings)))...)
		}
		if op == opFunction {
			if !declared {
				declared = true
				if uintType == 0 {
					uintType = id()
					out = append(out, inst(opTypeInt, uintType, 32, 0)...)
				}
				out = append(out, inst(opConstant, uintType, zero, 0)...)
				out = append(out, inst(opConstant, uintType, one, 1)...)
				for _, n := range empty {
					if counts[n] == 0 {
						counts[n] = id()
						out = append(out, inst(opConstant, uintType, counts[n], n)...)
					}
				}
				out = append(out, inst(opTypePointer, pointer, classPrivate, uintType)...)
				out = append(out, inst(opVariable, pointer, counter, classPrivate, zero)...)
				out = append(out, inst(opTypeStruct, block, uintType)...)
				out = append(out, inst(opTypePointer, blockPointer, classStorageBuffer, block)...)
				out = append(out, inst(opTypePointer, resultPointer, classStorageBuffer, uintType)...)
				out = append(out, inst(opVariable, blockPointer, result, classStorageBuffer)...)
			}
			function = w[2]
		}
		if !declared {
			out = append(out, w...)
			continue
		}
		switch op {
		case opLoopMerge:
			inserted = slices.Insert(inserted, headerAt, count(1)...)
		case opReturn:
			if function == entry {
				p, v := id(), id()
				inserted = append(inserted, inst(opAccessChain, resultPointer, p, result, zero)...)
				inserted = append(inserted, inst(opLoad, uintType, v, counter)...)
				inserted = append(inserted, inst(opAtomicUMax, uintType, id(), p, one, zero, v)...) // one: the scope Device
			}
		}
		if after > 0 && op != opPhi {
			inserted = append(inserted, count(after)...)
			after = 0
		}
		inserted = append(inserted, w...)
		if op == opLabel || op == opPhi {
			headerAt = len(inserted)
		}
		if op == opLabel {
			after = empty[w[1]]
		}
	}
	out = append(out, inserted...)
	out[3] = next
	code := make([]byte, 4*len(out))
	for i, w := range out {
		binary.LittleEndian.PutUint32(code[4*i:], w)
	}
	return code
}
