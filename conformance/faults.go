package conformance

import (
	"errors"
	"fmt"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/tensor"
)

// pendingCalls is how many calls are made before their errors are read. A Runner has
// status words for fewer calls.
const pendingCalls = 300

// runFaults tries the inputs that only the device can refuse. The error must be returned
// once, by the next Sync or Read. The outputs must be unchanged. Calls before, between
// and after must give right results.
func (s *suite) runFaults(l *variantDevice, j *job) {
	if j.op.Cases.Faults == nil {
		return
	}
	sets := j.op.Cases.Faults(j.dtype)
	if len(sets) == 0 {
		return
	}
	good := s.smallCase(j)
	if good == nil {
		s.addRow(l, j, "fault", failf("no small case without a fault"))
		return
	}
	j = good.job // The rows have its name.
	var bad []*prepared
	for k, in := range sets {
		b, err := faultyCall(j, in)
		if err != nil {
			s.addRow(l, j, fmt.Sprintf("fault%d", k), fail(err))
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
			if err := s.runFault(l, good, b, lay, asked != "read"); err != nil {
				o = refusedOutcome(err, asked != "strided" || s.mayRefuse(b))
			}
			s.addRow(l, j, fmt.Sprintf("fault%d-%s", k, asked), o)
			if o.status == Unsupported && asked == "sync" { // The dtype is unsupported.
				return
			}
		}
	}
	for name, n := range map[string]int{"fault-between": 2*len(bad) + 1, "fault-pending": pendingCalls} {
		o := pass()
		if err := s.interleave(l, good, bad, n); err != nil {
			o = fail(err)
		}
		s.addRow(l, j, name, o)
	}
}

// faultyCall is the everyday call with faulty inputs. want only describes the outputs.
func faultyCall(j *job, in []*tensor.Host) (*prepared, error) {
	k := *j
	k.call, k.pattern = j.op.Cases.Calls[0], "faulty"
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

// placedCall is a call with its buffers.
type placedCall struct {
	*prepared
	blocks []*block
}

// placeCall allocates and fills the buffers of a call.
func (s *suite) placeCall(l *variantDevice, p *prepared, lay layout) (*placedCall, error) {
	blocks, err := s.placeAll(l, p, lay)
	return &placedCall{p, blocks}, err
}

// start runs the call. The shape rule may already find the fault.
func (c *placedCall) start(s *suite, l *variantDevice) error {
	ops := operands(c.blocks)
	return l.x.Run(s.ctx, c.call, ops[:len(c.in)], ops[len(c.in):])
}

// check compares the outputs with what they should hold: the results of the reference, or
// the old contents if the call is faulty.
func (c *placedCall) check(s *suite, l *variantDevice) error {
	for i, b := range c.blocks {
		got, err := l.readBuffer(s, b)
		if err != nil {
			return fmt.Errorf("reading operand %d: %w", i, err)
		}
		out := i - len(c.in)
		if out < 0 || c.pattern == "faulty" {
			if k := firstDifference(got, b.bytes); k >= 0 {
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

// runFault makes one faulty call and reads its error. Then it makes a good call.
func (s *suite) runFault(l *variantDevice, good, bad *prepared, lay layout, sync bool) (err error) {
	b, err := s.placeCall(l, bad, lay)
	defer func() { err = errors.Join(err, l.freeBlocks(b.blocks...)) }()
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

// interleave makes n calls, of which every second one is faulty if bad is not empty. Then
// it reads the errors once and checks all outputs.
func (s *suite) interleave(l *variantDevice, good *prepared, bad []*prepared, n int) (err error) {
	// A few calls have their own memory. The others repeat them.
	var calls []*placedCall
	defer func() {
		for _, c := range calls {
			err = errors.Join(err, l.freeBlocks(c.blocks...))
		}
	}()
	for i := range min(n, 2*len(bad)+1) {
		p := good
		if i%2 == 1 {
			p = bad[i/2]
		}
		c, err := s.placeCall(l, p, guarded)
		calls = append(calls, c)
		if err != nil {
			return err
		}
	}
	faults := 0
	for i := range n {
		c := calls[i%len(calls)]
		err := c.start(s, l)
		if c.pattern != "faulty" && err != nil {
			return fmt.Errorf("call %d, a good one: %w", i, err)
		}
		if c.pattern == "faulty" {
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
