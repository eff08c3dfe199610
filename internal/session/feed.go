package session

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/graph/lir"
	"github.com/lathe-gpu/lathe/internal/errs"
)

// feed is an output that becomes a param after each run. Runs write its two buffers in turn, so that none writes what it reads.
type feed struct {
	output  string
	param   *param
	buffers [2]Tensor
	next    int // the buffer that the next run writes
}

// outputs says what the outputs of a Program are for.
type outputs struct {
	feeds *[]*feed   // for which this was made
	fed   []*feed    // by output; nil for one that the caller of Run gives
	given []lir.Port // those that the caller gives
}

// Feed makes output number output the tensor of param number i after each run from now on. Callers of Run no longer give that output.
// It takes memory for two such tensors. The tensor that SetParam has set is read, and never written.
// Errors: ErrInvalidArgument (another dtype or shape, a param or an output that Feed was called for before), *LimitError, ErrOutOfMemory, ErrClosed.
func (p *Program) Feed(i, output int) error {
	st := p.state
	st.mu.Lock()
	defer st.mu.Unlock()
	if err := p.usable("feed"); err != nil {
		return err
	}
	from, to := p.lir.Outputs[output], p.lir.Params[i]
	if from.Desc.DType != to.Desc.DType || !slices.Equal(from.Desc.Shape, to.Desc.Shape) {
		return fmt.Errorf("%s: feed: %w: output %q is %v, and param %q is %v", p.session.surface, errs.ErrInvalidArgument, from.Name, from.Desc, to.Name, to.Desc)
	}
	if to.Weight {
		return fmt.Errorf("%s: feed: %w: param %q is a weight, which changes only when it is set (declare it with Param)", p.session.surface, errs.ErrInvalidArgument, to.Name)
	}
	var list []*feed
	if old := st.feeds.Load(); old != nil {
		list = slices.Clone(*old)
	}
	for _, f := range list {
		if f.output == from.Name || f.param == p.params[i] {
			return fmt.Errorf("%s: feed: %w: output %q or param %q is fed already", p.session.surface, errs.ErrInvalidArgument, from.Name, to.Name)
		}
	}
	f := &feed{output: from.Name, param: p.params[i]}
	for k := range f.buffers {
		t, err := p.session.NewTensor(to.Desc)
		if err != nil {
			return errors.Join(err, f.free())
		}
		f.buffers[k] = t
	}
	list = append(list, f)
	st.feeds.Store(&list)
	return nil
}

// free releases the buffers.
func (f *feed) free() error {
	var err error
	for _, t := range f.buffers {
		if t.Buffer != nil {
			err = errors.Join(err, t.Buffer.free())
		}
	}
	return err
}

// Outputs are the outputs that the caller of Run gives, in the order of the schedule: those that are not fed.
func (p *Program) Outputs() []lir.Port { return p.outputs().given }

func (p *Program) outputs() *outputs {
	feeds := p.state.feeds.Load()
	if o := p.outs.Load(); o != nil && o.feeds == feeds {
		return o
	}
	o := &outputs{feeds: feeds, given: p.lir.Outputs}
	if feeds != nil {
		o.fed, o.given = make([]*feed, len(p.lir.Outputs)), nil
		for i, port := range p.lir.Outputs {
			if k := slices.IndexFunc(*feeds, func(f *feed) bool { return f.output == port.Name }); k >= 0 {
				o.fed[i] = (*feeds)[k]
			} else {
				o.given = append(o.given, port)
			}
		}
	}
	p.outs.Store(o)
	return o
}

// withFed appends to list the tensors of all outputs: those that the caller gives, and the buffers of the others.
func (o *outputs) withFed(list, given []Tensor) []Tensor {
	if o.fed == nil {
		return append(list, given...)
	}
	for _, f := range o.fed {
		if f != nil {
			list = append(list, f.buffers[f.next])
			continue
		}
		list, given = append(list, given[0]), given[1:]
	}
	return list
}

// turn makes the outputs that a run has written the params of the next one.
func (o *outputs) turn() {
	for _, f := range o.fed {
		if f != nil {
			f.param.to(f.buffers[f.next])
			f.next = 1 - f.next
		}
	}
}
