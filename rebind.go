package lathe

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/session"
)

// Rebind says that a replay uses To in place of From. See Capture.ReplayWith.
type Rebind struct {
	// From is a tensor that was declared by Capture.Bindable, or a view of the same memory.
	From *Tensor
	// To is a tensor of the same element type, shape and strides.
	To *Tensor
}

// Bindable says that replays of the graph that is being recorded may use other tensors in place of these: call it between Begin and End, before or after
// the calls that use them. It makes no difference to Replay. A tensor can be one that was made before, or one that was made while the graph is recorded.
// A view must begin at a multiple of the alignment of the device, of at most 256 bytes, and end at a multiple of 16 or with its memory.
// Views of a bindable tensor move with it. A recorded call cannot use it together with memory beside it: End says so.
// Errors: ErrCapture (no capture has begun), ErrInvalidHandle (also a Scalar), ErrInvalidArgument (such a view, a view with gaps, an overlap with another bindable tensor), ErrClosed.
func (c *Capture) Bindable(tensors ...*Tensor) error {
	if err := c.ready("bindable"); err != nil {
		return err
	}
	for i, t := range tensors {
		m, err := memoryToBind("bindable", t)
		if err == nil {
			err = c.session.Bindable(m)
		}
		if err != nil {
			return fmt.Errorf("%w (tensor %d)", err, i)
		}
	}
	return nil
}

// memoryToBind is the memory of a tensor, which must have some.
func memoryToBind(op string, t *Tensor) (session.Tensor, error) {
	if t == nil {
		return session.Tensor{}, fmt.Errorf("lathe: %s: %w: no tensor", op, errs.ErrInvalidHandle)
	}
	if err := t.made(op); err != nil {
		return session.Tensor{}, err
	}
	return t.memory, nil
}

// ReplayWith is Replay with other tensors in place of some that were declared by Bindable. Those that the list leaves out are the recorded ones. It has no
// effect on later replays. Earlier ones may still run, with other tensors.
//
// The device keeps what it has prepared for the last 8 choices of tensors of a graph, so that a program with a few sets of buffers pays for each set once, and
// a replay with one of them allocates nothing. Another choice costs as much as End.
//
// A tensor may be used twice, and may be another one of the graph, if the graph writes neither. If the program has freed a recorded tensor, replays that
// replace it go on.
// Errors: those of Replay; ErrInvalidHandle (no tensor, or one that was freed), ErrInvalidArgument (From was not declared, or is there twice; To has another element type, shape or strides,
// begins at no multiple of the alignment, or overlaps a tensor of the graph, and the graph writes one of both). After an error nothing has been run.
func (c *Capture) ReplayWith(ctx context.Context, key uint64, list ...Rebind) (bool, error) {
	if err := c.ready("replay"); err != nil {
		return false, err
	}
	moves := moved.Get().(*[]session.Move)
	defer moved.Put(moves)
	*moves = (*moves)[:0]
	for i := range list {
		from, err := memoryToBind("replay", list[i].From)
		if err != nil {
			return false, fmt.Errorf("%w (replacement %d, From)", err, i)
		}
		to, err := memoryToBind("replay", list[i].To)
		if err != nil {
			return false, fmt.Errorf("%w (replacement %d, To)", err, i)
		}
		m, err := c.session.Move(i, from, to)
		if err != nil {
			return false, err
		}
		*moves = append(*moves, m)
	}
	ok, err := c.session.Replay(ctx, key, *moves)
	runtime.KeepAlive(list)
	return ok, err
}

// moved keeps lists for ReplayWith, which so allocates nothing.
var moved = sync.Pool{New: func() any { return new([]session.Move) }}

// Patch is a recorded call of a shader of the program. Its push constants can be replaced between replays. Capture.Patchable makes it. Any goroutine may
// call its methods, and what they set holds for the replays that come after them.
type Patch struct{ patch *session.Patch }

// Patchable makes a call that is recorded, and says that its push constants may be replaced. f makes one call of Kernel.Run, of a Kernel that Device has loaded, or of DispatchCompute of
// Device, and no other calls:
//
//	p, err := c.Patchable(func() error { return k.Run(ctx, size, params{Scale: 1}, x, y) })
//
// The size, which is the number of workgroups, stays as it was recorded. After an error, call Abort, as after that of any recorded call.
// Errors: ErrCapture (no capture has begun), those of f, ErrInvalidArgument (no function; f has made no such call, or further ones), ErrClosed.
func (c *Capture) Patchable(f func() error) (*Patch, error) {
	if err := c.ready("patchable"); err != nil {
		return nil, err
	}
	if f == nil {
		return nil, fmt.Errorf("lathe: patchable: %w: no function", errs.ErrInvalidArgument)
	}
	p, err := c.session.Patchable(f)
	if err != nil {
		return nil, err
	}
	return &Patch{p}, nil
}

func (p *Patch) ready() error {
	if p == nil || p.patch == nil {
		return fmt.Errorf("lathe: patch: %w: a Patch that Capture.Patchable did not make", errs.ErrNotInitialized)
	}
	return nil
}

// SetParams replaces the push constants in the replays that follow, as the params struct of Kernel.Run. The next replay costs as much as End, once for each choice
// of tensors that ReplayWith knows.
// Errors: ErrInvalidArgument (params that do not fit the shader), ErrCapture (its capture has not ended), ErrInvalidHandle (its graph was forgotten), ErrNotInitialized, ErrClosed.
func (p *Patch) SetParams(params any) error {
	if err := p.ready(); err != nil {
		return err
	}
	return p.patch.SetParams(params)
}

// SetPush is SetParams with the bytes of the push constants, as DispatchCompute takes them. The shader's block says how many there are.
// Errors: as SetParams.
func (p *Patch) SetPush(push []byte) error {
	if err := p.ready(); err != nil {
		return err
	}
	return p.patch.SetPush(push)
}
