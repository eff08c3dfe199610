package conformance

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"slices"

	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/spec"
)

// errNotDrawn is the error of a case that needs a kernel which Options.Kernels leaves out.
// Such a case gets no row in the report.
var errNotDrawn = errors.New("the case needs a kernel that was not drawn")

// keepFirst makes the suite run the kernels of one job of each operation and element type,
// whatever the seed draws. It takes the first job in the plain mode that launches a kernel,
// or the first in another mode if there is none.
func (s *suite) keepFirst(jobs []job) {
	if s.opts.Kernels <= 1 {
		return
	}
	type group struct{ op, dtype string }
	first := map[group][]string{}
	plain := map[group]bool{}
	for i := range jobs {
		j := &jobs[i]
		g := group{j.op.Name, j.dtype.String()}
		if j.pattern == "none" || plain[g] || len(first[g]) > 0 && j.modes[0].name != "plain" {
			continue
		}
		if names := s.kernelsOf(j); len(names) > 0 {
			first[g], plain[g] = names, j.modes[0].name == "plain"
		}
	}
	s.kept = map[string]bool{}
	for _, names := range first {
		for _, n := range names {
			s.kept[n] = true
		}
	}
}

// kernelsOf returns the names of the kernels that a job launches on its first device if
// its operands are contiguous. It returns nil if there is no plan, which the case reports.
func (s *suite) kernelsOf(j *job) (names []string) {
	target := s.devices[append(slices.Clone(j.devices), 0)[0]].x.Target()
	target.Strategy = j.strategy
	in := j.inputs()
	out, err := shape(j.op, j.call, in)
	if err != nil {
		return nil
	}
	p, err := j.op.Plan(j.call, &target, in, out)
	if err != nil {
		return nil
	}
	for _, step := range p.Steps {
		if step.Module != nil {
			names = append(names, step.Module.Name)
		}
	}
	return names
}

// draws reports whether this run has kept or drawn all kernels of a call's plan. If there
// is no plan, the call may run, because its error is to be reported.
func (s *suite) draws(l *variantDevice, call spec.Call, in, out []exec.Operand) bool {
	if s.opts.Kernels <= 1 {
		return true
	}
	p, err := l.x.Plan(call, in, out)
	return err != nil || !slices.ContainsFunc(p.Steps, func(step spec.Step) bool {
		return step.Module != nil && !s.kept[step.Module.Name] && !s.drawn(step.Module.Name)
	})
}

// drawn reports whether the seed draws a kernel.
func (s *suite) drawn(kernel string) bool {
	h := fnv.New64a()
	h.Write(binary.LittleEndian.AppendUint64(nil, s.opts.Seed))
	h.Write([]byte(kernel))
	return h.Sum64()%uint64(s.opts.Kernels) == 0
}
