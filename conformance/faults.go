package conformance

import (
	"errors"
	"fmt"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/tensor"
)

// pendingCalls is how many calls are left unasked in one go: more than a Runner
// keeps words for.
const pendingCalls = 300

// faults tries the inputs that only the device can refuse: the error must come
// by the next Sync or Read, once, with the outputs as they were, and calls
// before, between and after must be right.
func (s *suite) faults(l *lane, j *job) {
	if j.op.Cases.Faults == nil {
		return
	}
	sets := j.op.Cases.Faults(j.dtype)
	if len(sets) == 0 {
		return
	}
	good := s.small(j)
	if good == nil {
		s.add(l, j, "fault", failf("no small case without a fault"))
		return
	}
	j = good.job // for its name
	var bad []*prepared
	for k, in := range sets {
		b, err := broken(j, in)
		if err != nil {
			s.add(l, j, fmt.Sprintf("fault%d", k), fail(err))
			return
		}
		bad = append(bad, b)
		for _, asked := range []string{"sync", "read", "strided"} {
			lay := guarded
			if asked == "strided" {
				if lay = padded; !changes(lay, b.in) && !changes(lay, b.want) {
					continue
				}
			}
			o := pass()
			if err := s.fault(l, good, b, lay, asked != "read"); err != nil {
				o = refused(err, asked != "strided" || s.mayRefuse(b))
			}
			s.add(l, j, fmt.Sprintf("fault%d-%s", k, asked), o)
			if o.status == Unsupported && asked == "sync" { // the dtype
				return
			}
		}
	}
	for name, n := range map[string]int{"fault-between": 2*len(bad) + 1, "fault-pending": pendingCalls} {
		o := pass()
		if err := s.interleave(l, good, bad, n); err != nil {
			o = fail(err)
		}
		s.add(l, j, name, o)
	}
}

// broken is the default call with faulty inputs; want has only the descs of
// the outputs.
func broken(j *job, in []*tensor.Host) (*prepared, error) {
	k := *j
	k.call, k.image = j.op.Cases.Calls[0], "faulty"
	p := &prepared{job: &k, in: in}
	outs, err := j.op.Shape(k.call, descsOf(in))
	if err != nil {
		return nil, fmt.Errorf("the shape rule refuses inputs of Cases.Faults, which it should accept: %w", err)
	}
	for _, d := range outs {
		p.want = append(p.want, &tensor.Host{Desc: d})
	}
	return p, nil
}

// placed is a call with its memory.
type placed struct {
	*prepared
	blocks []*block
}

func (s *suite) placed(l *lane, p *prepared, lay layout) (*placed, error) {
	blocks, err := s.placeAll(l, p, lay)
	return &placed{p, blocks}, err
}

// start runs the call. The device may be the first to see a fault, or not.
func (c *placed) start(s *suite, l *lane) error {
	ops := operands(c.blocks)
	return l.x.Run(s.ctx, c.call, ops[:len(c.in)], ops[len(c.in):])
}

// check compares the outputs with what they should be: the reference's, or
// what they were before a faulty call.
func (c *placed) check(s *suite, l *lane) error {
	for i, b := range c.blocks {
		got, err := l.read(s, b)
		if err != nil {
			return fmt.Errorf("reading operand %d: %w", i, err)
		}
		out := i - len(c.in)
		if out < 0 || c.image == "faulty" {
			if k := differ(got, b.bytes); k >= 0 {
				return fmt.Errorf("the call has a fault and yet changed operand %d: byte %d of the buffer: got %#x, want %#x", i, k, got[k], b.bytes[k])
			}
			continue
		}
		elems, err := b.elements(got)
		if err != nil {
			return err
		}
		w := c.want[out]
		if o := compare(elems, w, c.op.Tolerance(c.call, w.DType, descsOf(c.in))); o.status != Pass {
			return fmt.Errorf("a good call beside a faulty one: output %d: %w", out, o.err)
		}
	}
	return nil
}

// fault makes one faulty call and asks for its error, then a good one.
func (s *suite) fault(l *lane, good, bad *prepared, lay layout, sync bool) (err error) {
	b, err := s.placed(l, bad, lay)
	defer func() { err = errors.Join(err, l.free(b.blocks...)) }()
	if err != nil {
		return err
	}
	ask := func() error {
		if sync {
			return l.x.Sync(s.ctx)
		}
		return l.x.Read(s.ctx, b.blocks[0].h, 0, make([]byte, 1))
	}
	switch err := b.start(s, l); {
	case errors.Is(err, gpu.ErrUnsupported):
		return err
	case err != nil && !errors.Is(err, gpu.ErrInvalidArgument):
		return fmt.Errorf("got error %w, want %v", err, gpu.ErrInvalidArgument)
	case err == nil:
		if err := ask(); !errors.Is(err, gpu.ErrInvalidArgument) {
			return fmt.Errorf("was accepted: the next sync or read gave error %v, want %v", err, gpu.ErrInvalidArgument)
		}
	}
	if err := ask(); err != nil {
		return fmt.Errorf("the error came a second time: %w", err)
	}
	if err := b.check(s, l); err != nil {
		return err
	}
	return s.interleave(l, good, nil, 1)
}

// interleave makes n calls, of which every second one is faulty in turn if
// there are any, asks once and checks all.
func (s *suite) interleave(l *lane, good *prepared, bad []*prepared, n int) (err error) {
	// A few calls have memory of their own, the rest repeat them.
	var calls []*placed
	defer func() {
		for _, c := range calls {
			err = errors.Join(err, l.free(c.blocks...))
		}
	}()
	for i := range min(n, 2*len(bad)+1) {
		p := good
		if i%2 == 1 {
			p = bad[i/2]
		}
		c, err := s.placed(l, p, guarded)
		calls = append(calls, c)
		if err != nil {
			return err
		}
	}
	faults := 0
	for i := range n {
		c := calls[i%len(calls)]
		err := c.start(s, l)
		if c.image != "faulty" && err != nil {
			return fmt.Errorf("call %d, a good one: %w", i, err)
		}
		if c.image == "faulty" {
			if faults++; err != nil && !errors.Is(err, gpu.ErrInvalidArgument) {
				return fmt.Errorf("call %d, a faulty one: got error %w, want %v", i, err, gpu.ErrInvalidArgument)
			} else if err != nil {
				faults--
			}
		}
	}
	switch err := l.x.Sync(s.ctx); {
	case faults == 0 && err != nil:
		return fmt.Errorf("sync after good calls: %w", err)
	case faults > 0 && !errors.Is(err, gpu.ErrInvalidArgument):
		return fmt.Errorf("%d faulty calls among %d: sync gave error %v, want %v", faults, n, err, gpu.ErrInvalidArgument)
	}
	if err := l.x.Sync(s.ctx); err != nil {
		return fmt.Errorf("the error came a second time: %w", err)
	}
	for _, c := range calls {
		if err := c.check(s, l); err != nil {
			return err
		}
	}
	return nil
}
