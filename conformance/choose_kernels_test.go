package conformance

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
)

// onNull returns a suite whose device computes nothing.
func onNull(t *testing.T, o Options) *suite {
	t.Helper()
	info := null.DefaultInfo()
	info.Kind = gpu.CPU
	dev := null.NewRecorder(&info)
	s := &suite{ctx: t.Context(), opts: o, report: newReport(&info, Options{})}
	for _, v := range Variants(&info) {
		l, err := newVariantDevice(dev, v, o)
		if err != nil {
			t.Fatal(err)
		}
		s.devices = append(s.devices, l)
	}
	t.Cleanup(func() {
		for _, l := range s.devices {
			l.close()
		}
		dev.Close()
	})
	return s
}

// TestDrawnKernels wants each operation to have the kernels of a case in its first element type
// and in a part of the other ones, whatever kernels are drawn, and each kernel to be drawn by some seed.
func TestDrawnKernels(t *testing.T) {
	testlevel.Turn(t, 5)
	s := onNull(t, Options{Pairs: true, Quick: true, Kernels: 4, Seed: 1})
	target := s.devices[0].x.Target()
	others, left := 0, 0 // element types of operations
	for _, op := range spec.All() {
		jobs := s.chosen(op)
		s.keepFirst(jobs)
		for i, d := range op.Cases.DTypes {
			if d.Size() == 8 && !target.F64 {
				continue
			}
			others++
			if i > 0 && !s.keeps(op, d) {
				left++
				continue
			}
			if !slices.ContainsFunc(jobs, func(j job) bool {
				if j.dtype != d || j.pattern == "none" {
					return false
				}
				names := s.kernelsOf(&j)
				return len(names) > 0 && !slices.ContainsFunc(names, func(n string) bool { return !s.kept[n] })
			}) {
				t.Errorf("%s %v: no case has all its kernels", op.Name, d)
			}
		}
	}
	if left < others/3 || left > others*3/4 {
		t.Errorf("%d of %d element types are left out", left, others)
	}
	names := spirv.Names()
	missing, least, most := slices.Clone(names), len(names), 0
	for seed := range uint64(100) {
		s.opts.Seed = seed
		n := 0
		for _, name := range names {
			if s.drawn(name) {
				n++
			}
		}
		missing = slices.DeleteFunc(missing, s.drawn)
		least, most = min(least, n), max(most, n)
	}
	if len(missing) > 0 || least < len(names)/6 || most > len(names)/3 {
		t.Errorf("%d to %d of %d kernels are drawn, and %s never is", least, most, len(names), strings.Join(missing, ", "))
	}
}

// TestDrawnKernelsKeepJobs wants a job that is left out to have no case whose kernels are all
// drawn, in any mode.
func TestDrawnKernelsKeepJobs(t *testing.T) {
	s := onNull(t, Options{Pairs: true, Quick: true, Kernels: 4, Seed: 1})
	out, modes := 0, map[string]bool{}
	for _, name := range []string{"add", "matmul", "adam_update", "layer_norm"} {
		jobs := s.chosen(spec.Lookup(name))
		s.keepFirst(jobs)
		kept := map[string]bool{}
		key := func(j *job) string { return fmt.Sprint(j.dtype, j.name(), j.modes[0].name, j.strategy, j.devices) }
		for _, j := range s.withoutUndrawn(slices.Clone(jobs)) {
			kept[key(&j)] = true
			modes[j.modes[0].name] = true
		}
		for i := range jobs {
			j := &jobs[i]
			if kept[key(j)] {
				continue
			}
			out++
			p := s.prepare(j)
			devices := j.devices
			if devices == nil {
				devices = []int{0}
			}
			for _, k := range devices {
				l, err := s.devices[k].withStrategy(j.strategy)
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range p.placements() {
					if m.applies(p) && s.draws(l, p, m) {
						t.Errorf("%s %s in the mode %s is left out, and its kernels are drawn", name, j.name(), m.name)
					}
				}
			}
		}
	}
	if out == 0 || !modes["aliased"] || !modes["plain"] {
		t.Errorf("%d jobs are left out; the modes of the others are %v", out, modes)
	}
}

// TestDrawnKernelsLeaveCasesOut wants the fewer cases to run the fewer kernels there are.
func TestDrawnKernelsLeaveCasesOut(t *testing.T) {
	rows := func(kernels int) int {
		t.Helper()
		info := null.DefaultInfo()
		dev := null.NewRecorder(&info)
		defer dev.Close()
		rep, err := Run(t.Context(), dev, Options{Ops: []*spec.Op{spec.Lookup("softmax")}, Pairs: true, Quick: true, Kernels: kernels, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		return len(rep.Rows)
	}
	if all, some, one := rows(0), rows(2), rows(min(1<<40, math.MaxInt)); one == 0 || one >= some || some >= all {
		t.Errorf("%d rows with all kernels, %d with half of them, %d with the least", all, some, one)
	}
}
