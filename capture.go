package lathe

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/session"
	"github.com/lathe-gpu/lathe/tensor"
)

// Capture records the work of a program once, and runs it again with one submission:
//
//	c, err := dev.NewCapture(8)
//	defer c.Close()
//	forward := func() error { return c.Device().Run(ctx, call, in, out) }
//	err = c.Record(ctx, 1, forward) // nothing has run so far
//	ok, err := c.Replay(ctx, 1)
//
// A Capture has a Device of its own, over the same device. What is called on it between Begin and End
// is recorded and not run: operations, Kernels that it loaded, DispatchCompute, and Executables that it compiled.
// At any other time its calls run as those of any Device. Calls of other Devices are never
// recorded, so other goroutines can go on with the Device that made the Capture. All take
// the tensors of the others.
//
// What a graph reads and writes are the buffers of the tensors that it was recorded with. To replay it
// with other data, write them into the same tensors. Tensors that are made while a graph is recorded belong to the
// graph: they have contents after the first replay, and their memory lives as long as the graph. A call that updates such a tensor in place goes on, in the next replay, from what
// it has left.
// A tensor that was made before is the program's. If the program frees it, the graph is stale: Replay forgets it and reports false.
//
// The keys belong to one Capture. Any goroutine may call its methods, but only one at a time
// should use its Device between Begin and End. Device.NewCapture makes a Capture. Methods of any other Capture return ErrNotInitialized.
type Capture struct {
	of      *Device
	dev     *Device
	session *session.Capture

	mu          sync.Mutex
	state       *Tensor    // the three words, and then each of them at an address that can be bound
	words       [3]*Tensor // views of them, of shape []
	token, step uint32
	onDevice    bool
}

// NewCapture makes a Capture that keeps at most limit graphs. If there are more, the one that was used
// longest ago is forgotten. The program closes the Capture before the Device.
// Errors: ErrInvalidArgument (limit is less than 1), ErrOutOfMemory, ErrClosed.
func (d *Device) NewCapture(limit int) (*Capture, error) {
	if err := d.open("capture"); err != nil {
		return nil, err
	}
	s, err := d.session.NewCapture(limit)
	if err != nil {
		return nil, err
	}
	c := &Capture{of: d, dev: &Device{session: s.Session, strip: d.strip}, session: s}
	if err := c.makeState(); err != nil {
		_ = c.Close() // nobody has seen it
		return nil, err
	}
	return c, nil
}

// CaptureSupported reports whether NewCapture works on the device. It does on every open device: one
// that cannot record commands keeps the list and submits it again.
func (d *Device) CaptureSupported() bool { return d.open("capture") == nil }

// ready returns an error for a Capture that NewCapture did not make, and after it or the device was closed.
func (c *Capture) ready(op string) error {
	if c == nil || c.session == nil {
		return fmt.Errorf("lathe: %s: %w: a Capture that Device.NewCapture did not make", op, errs.ErrNotInitialized)
	}
	if err := c.of.open(op); err != nil {
		return err
	}
	if c.session.NotClosed(op) != nil {
		return fmt.Errorf("lathe: %s: %w: the Capture", op, errs.ErrClosed)
	}
	return nil
}

// Device is the Device whose calls are recorded between Begin and End. It is nil for a Capture that NewCapture did not make.
func (c *Capture) Device() *Device {
	if c == nil {
		return nil
	}
	return c.dev
}

// Begin begins to record. Until End or Abort, Read and Sync of Device are ErrCapture, and so are another Begin, and Write to a tensor that was made before, or that a
// recorded call uses.
// They change nothing of what is recorded.
// Errors: ErrCapture (a capture has begun), ErrClosed, ErrDeviceLost, ctx.Err().
func (c *Capture) Begin(ctx context.Context) error {
	if err := c.ready("begin"); err != nil {
		return err
	}
	return c.session.Begin(ctx)
}

// Record is Begin, the calls that f makes of Device, and End. If f returns an error, it is Abort, and the graph that the key had stays.
// Errors: those of Begin, of f and of End.
func (c *Capture) Record(ctx context.Context, key uint64, f func() error) error {
	if f == nil {
		return fmt.Errorf("lathe: record: %w: no function", errs.ErrInvalidArgument)
	}
	if err := c.Begin(ctx); err != nil {
		return err
	}
	ended := false
	defer func() {
		if !ended { // f has panicked
			_ = c.Abort()
		}
	}()
	err := f()
	ended = true
	if err != nil {
		return errors.Join(err, c.Abort())
	}
	return c.End(ctx, key)
}

// End ends recording and keeps the graph under a key, in place of an earlier one. Nothing has run. After an
// error nothing of the capture is kept, and Device runs its calls again. It does not know of calls that have failed: after an error of one, call Abort, or
// use Record, which does so.
// Errors: ErrCapture (no capture has begun), ErrInvalidHandle (a tensor was freed meanwhile), ErrOutOfMemory, ErrClosed, ErrDeviceLost, ctx.Err().
func (c *Capture) End(ctx context.Context, key uint64) error {
	if err := c.ready("end"); err != nil {
		return err
	}
	return c.session.End(ctx, key)
}

// Abort ends recording and keeps nothing.
// Errors: ErrCapture (no capture has begun), ErrClosed.
func (c *Capture) Abort() error {
	if err := c.ready("abort"); err != nil {
		return err
	}
	return c.session.Abort()
}

// Replay runs the graph of a key, as the recorded calls would have run, and does not wait for it. It reports false if
// there is no such graph, or if a tensor of it was freed: then the program makes the calls itself.
// Errors: ErrCapture (a capture has begun), ErrOutOfMemory, ErrClosed, ErrDeviceLost, ctx.Err(). What only the device can see, such as
// an index out of range, is an error of the next Sync or Read. The call at fault leaves its outputs as they are, and so it does in later replays until that Sync or Read.
func (c *Capture) Replay(ctx context.Context, key uint64) (bool, error) {
	if err := c.ready("replay"); err != nil {
		return false, err
	}
	return c.session.Replay(ctx, key, nil)
}

// Recording reports whether a capture has begun.
func (c *Capture) Recording() bool { return c.ready("recording") == nil && c.session.Recording() }

// Reset forgets the graph of a key, if there is one. Work already submitted still finishes.
// Errors: ErrClosed, ErrDeviceLost.
func (c *Capture) Reset(key uint64) error {
	if err := c.ready("reset"); err != nil {
		return err
	}
	return c.session.Reset(key)
}

// ResetAll forgets all graphs.
// Errors: as Reset.
func (c *Capture) ResetAll() error {
	if err := c.ready("reset"); err != nil {
		return err
	}
	return c.session.ResetAll()
}

// Keys are the keys of the graphs, in ascending order.
func (c *Capture) Keys() []uint64 {
	if c.ready("keys") != nil {
		return nil
	}
	return c.session.Keys()
}

// Close forgets all graphs and closes Device. The device underneath stays open, and so do tensors that the program has made on
// Device. Closing twice is harmless.
func (c *Capture) Close() error {
	if c == nil || c.session == nil {
		return c.ready("close")
	}
	if c.of.open("close") != nil {
		return nil // with the device all is closed
	}
	return c.session.Close()
}

// makeState makes the words of the decode state.
func (c *Capture) makeState() error {
	apart := int(c.dev.session.Align()) / 4
	t, err := c.dev.NewTensor(tensor.Contiguous(tensor.I32, 4*apart))
	if err != nil {
		return err
	}
	c.state = t
	for i := range c.words {
		if c.words[i], err = t.Narrow(0, (i+1)*apart, 1); err == nil {
			c.words[i], err = c.words[i].Reshape()
		}
		if err != nil {
			return err
		}
	}
	return c.write(context.Background(), 0, 0)
}

// write writes the words, also while a capture is recorded.
func (c *Capture) write(ctx context.Context, token, step uint32) error {
	data := make([]byte, c.state.Desc().Bytes())
	for i, w := range []uint32{token, step, step + 1} {
		binary.LittleEndian.PutUint32(data[4*i:], w)
		binary.LittleEndian.PutUint32(data[c.words[i].Offset():], w)
	}
	return c.of.session.Write(ctx, c.state.memory, data)
}

// SetDecodeState sets the state of a decoder before a step: the token, its position, which is step, and the valid length of the cache,
// which is step + 1. They take effect in order with all other calls, and are never recorded.
// Errors: ErrInvalidArgument (more than 2³¹ − 2), ErrClosed, ErrDeviceLost, ctx.Err().
func (c *Capture) SetDecodeState(ctx context.Context, token, step uint32) error {
	if err := c.ready("set decode state"); err != nil {
		return err
	}
	const most = 1<<31 - 2
	if token > most || step > most {
		return fmt.Errorf("lathe: set decode state: %w: token %d at step %d (want at most %d)", errs.ErrInvalidArgument, token, step, most)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.write(ctx, token, step); err != nil {
		return err
	}
	c.token, c.step = token, step
	return nil
}

// SetDeviceStateMode says what Token, Position and ValidLength return: words on the device, or the numbers of the last SetDecodeState.
// A graph that was recorded with the words runs each later step. Without them, it would run the step that it was recorded for. The mode is off at first.
func (c *Capture) SetDeviceStateMode(enable bool) {
	if c != nil {
		c.mu.Lock()
		c.onDevice = enable
		c.mu.Unlock()
	}
}

// Token is the token of the decode state, as an I32 of shape []: the word on the device, or a Scalar if the mode is off. The word
// belongs to the Capture: the program must not free it.
func (c *Capture) Token() *Tensor { return c.word(0) }

// Position is the position of the token, as Token.
func (c *Capture) Position() *Tensor { return c.word(1) }

// ValidLength is how many elements of the cache are valid with the token, as Token.
func (c *Capture) ValidLength() *Tensor { return c.word(2) }

func (c *Capture) word(i int) *Tensor {
	if err := c.ready("decode state"); err != nil {
		return &Tensor{failed: err}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.onDevice {
		return c.words[i]
	}
	return Scalar([3]int32{int32(c.token), int32(c.step), int32(c.step + 1)}[i])
}

// DecodeState is the words of token, position and valid length, as an I32 of shape [3] on the device.
// Errors: ErrNotInitialized, ErrClosed.
func (c *Capture) DecodeState() (*Tensor, error) {
	if err := c.ready("decode state"); err != nil {
		return nil, err
	}
	return c.state.Narrow(0, 0, 3)
}
