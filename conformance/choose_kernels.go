package conformance

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// keepFirst makes the suite run the kernels of one job of each operation in its first element
// type and in those that keeps draws, whatever kernels the seed draws. It takes the first job in
// the plain mode that launches a kernel, or the first in another mode if there is none.
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
		if j.pattern == "none" || !s.keeps(j.op, j.dtype) || plain[g] || len(first[g]) > 0 && j.modes[0].name != "plain" {
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

// withoutUndrawn removes the jobs of which no case has all its kernels, before their inputs
// and references are computed. It keeps the jobs that the refusals follow.
func (s *suite) withoutUndrawn(jobs []job) []job {
	if s.opts.Kernels <= 1 {
		return jobs
	}
	return slices.DeleteFunc(jobs, func(j job) bool { return !j.last && j.pattern != "none" && !s.drawsAny(&j) })
}

// drawsAny reports whether a case of the job has all its kernels. Strategies that
// runOtherStrategies adds do not count: no run that draws kernels has them.
func (s *suite) drawsAny(j *job) bool {
	p := &prepared{job: j}
	in := j.inputs()
	out, err := shape(j.op, j.call, in)
	if err != nil {
		return true // The case reports it.
	}
	for _, d := range in {
		p.in = append(p.in, &tensor.Host{Desc: d})
	}
	for _, d := range out {
		p.want = append(p.want, &tensor.Host{Desc: d})
	}
	if slices.Contains(aliases(j.op, j.call, in), true) {
		p.aliased = p.want // A mode with aliases asks whether there are any.
	}
	devices := s.devices
	if j.devices != nil {
		devices = nil
		for _, i := range j.devices {
			devices = append(devices, s.devices[i])
		}
	}
	return slices.ContainsFunc(devices, func(l *variantDevice) bool {
		planned, err := l.withStrategy(j.strategy)
		return err != nil || slices.ContainsFunc(p.placements(), func(m mode) bool {
			return m.applies(p) && s.draws(planned, p, m)
		})
	})
}

// draws reports whether this run has kept or drawn all kernels of a case. If there is no
// plan, the case may run, because it reports the error.
func (s *suite) draws(l *variantDevice, p *prepared, m mode) bool {
	if s.opts.Kernels <= 1 {
		return true
	}
	var in, out []exec.Place
	for _, h := range p.in {
		in = append(in, l.x.PlaceOf(l.operand(h.Desc, m.in)))
	}
	for i, h := range p.want {
		if k := m.overwrites(p, i); k >= 0 {
			out = append(out, in[k])
			continue
		}
		out = append(out, l.x.PlaceOf(l.operand(h.Desc, m.out)))
	}
	c, err := compile(l.x, p.call, in, out)
	if err != nil {
		return true
	}
	for _, module := range c.Modules() {
		if !s.kept[module.Name] && !s.drawn(module.Name) {
			return false
		}
	}
	return true
}

// compile is x.Compile. It returns a panic as an error.
func compile(x *exec.Runner, call spec.Call, in, out []exec.Place) (c *exec.Compiled, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panicked: %v", v)
		}
	}()
	return x.Compile(call, in, out)
}

// keeps reports whether an operation and element type has the kernels of a case in every run.
func (s *suite) keeps(op *spec.Op, d tensor.DType) bool {
	return d == op.Cases.DTypes[0] || s.hash(op.Name+" "+d.String())%4 == 0
}

// drawn reports whether the seed draws a kernel.
func (s *suite) drawn(kernel string) bool { return s.hash(kernel)%uint64(s.opts.Kernels) == 0 }

// hash is a number that the seed and a name determine.
func (s *suite) hash(name string) uint64 {
	h := fnv.New64a()
	h.Write(binary.LittleEndian.AppendUint64(nil, s.opts.Seed))
	h.Write([]byte(name))
	return h.Sum64()
}
