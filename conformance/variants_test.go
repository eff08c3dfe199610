package conformance

import (
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/spec"
)

// TestParts checks that the parts of a run contain each job once, and that each part has
// jobs of every operation.
func TestParts(t *testing.T) {
	testlevel.Turn(t, 5)
	s := &suite{opts: Options{Ops: spec.All()}, report: &Report{Backend: "vk"}}
	jobs, seen, size := s.jobs(), map[string]int{}, map[string]int{}
	name := func(j *job) string { return j.op.Name + " " + j.dtype.String() + " " + j.name() }
	for i := range jobs {
		seen[name(&jobs[i])]++
		size[jobs[i].op.Name]++
	}
	const parts = 40
	for i := range parts {
		part, ops := partOf(jobs, i, parts), map[string]bool{}
		if n := len(jobs) / parts; len(part) < n || len(part) > n+1 {
			t.Errorf("part %d has %d of %d jobs", i, len(part), len(jobs))
		}
		for k := range part {
			seen[name(&part[k])]--
			ops[part[k].op.Name] = true
		}
		for op, n := range size {
			if n >= parts && !ops[op] {
				t.Errorf("part %d has no case of %s", i, op)
			}
		}
	}
	for name, n := range seen {
		if n != 0 {
			t.Errorf("%s is run %d times too few", name, n)
		}
	}
	for _, part := range []int{-1, 3, 4} {
		if _, err := Run(t.Context(), null.New(nil), Options{Part: part, Parts: 3}); err == nil {
			t.Errorf("part %d of 3 was run", part)
		}
	}
}

// TestAlignmentsChangePlans checks that alignments are forced if the device requires
// less, and that they change plans of every operation. Without operands that are split
// after their first element, the suite would not find mistakes with alignments.
func TestAlignmentsChangePlans(t *testing.T) {
	testlevel.Turn(t, 5)
	info := null.DefaultInfo()
	info.Kind, info.Memory = gpu.CPU, 1<<40
	l := &info.Limits
	l.MaxBuffer, l.MaxBinding, l.MaxTexels, l.MaxTexelBuffers, l.OffsetAlign, l.TexelAlign = 1<<40, 1<<30, 1<<27, 16, 16, 16
	l.MaxInvocations, l.MaxLocalSize = 1024, [3]uint32{1024, 1024, 64}
	info.Features.F64 = true
	s := &suite{opts: Options{Ops: spec.All()}, report: &Report{Backend: "vk"}}
	for i, v := range Variants(&info) {
		if i > 0 && !v.Distinct {
			continue
		}
		ln, err := newVariantDevice(null.NewRecorder(&info), v, s.opts)
		if err != nil {
			t.Fatal(err)
		}
		s.devices = append(s.devices, ln)
	}
	if len(s.devices) != 4 {
		t.Fatalf("%d variants are Distinct, want 32, 64 and 256", len(s.devices)-1)
	}
	s.opts.Sample = 5
	taken, changed, all := map[string]int{}, map[string]int{}, 0
	largest := map[string]int{}
	tensors, changedTensors := 0, 0 // The rows of pictures are bound one by one, so nearly all their plans change.
	jobs := s.jobs()
	for i := range jobs {
		j := &jobs[i]
		if j.dtype != j.op.Cases.DTypes[0] {
			continue
		}
		all++
		isTensor := j.op.Group != "image"
		if isTensor {
			tensors++
		}
		for _, in := range j.inputs() {
			largest[j.op.Name] = max(largest[j.op.Name], in.Elems())
		}
		for _, l := range s.devicesFor(j) {
			taken[l.Name]++
		}
		if last := s.devices[3]; s.changesPlan(last, j) {
			changed[last.Name]++
			changed[j.op.Name]++
			if isTensor {
				changedTensors++
			}
		}
	}
	few, n := taken["align-256"], changed["align-256"]
	if taken["plain"] < all*9/10 || n == 0 || changedTensors > tensors/3 || few < n/5 || few > n/5+len(s.opts.Ops) {
		t.Errorf("of %d cases %d are run plain, and %d of %d with an alignment of 256 (want one in 5)", all, taken["plain"], few, n)
	}
	for _, op := range s.opts.Ops {
		if op.Group == "image" && largest[op.Name] < 1<<18 {
			continue // A picture that fits one launch is bound at its beginning, which is always aligned.
		}
		if len(op.In) > 0 && changed[op.Name] == 0 {
			t.Errorf("an alignment of 256 changes no plan of %s", op.Name)
		}
	}
	for align, want := range map[int64]string{16: "align-32", 32: "align-32", 64: "align-64", 256: "align-256"} {
		l.OffsetAlign = align
		vs := Variants(&info)
		if i := slices.IndexFunc(vs, func(v Variant) bool { return v.Distinct }); i < 0 || vs[i].Name != want {
			t.Errorf("an alignment of %d is not followed by %s: %+v", align, want, vs)
		}
	}
}
