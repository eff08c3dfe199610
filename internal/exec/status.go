package exec

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
)

// statusSlots is how many device checks may be unfinished at the same time. A further
// check waits until earlier ones have ended.
const statusSlots = 256

// statusWords lends the words in which device checks report, and reads them when the work
// is done.
type statusWords struct {
	dev gpu.Device
	// slots is how many checks may be unfinished at the same time.
	slots int
	// replayed is not nil for the words of a capture. Calls are submitted many times with their
	// words, which belong to them for good.
	replayed *atomic.Bool
	// stride is the distance from one slot to the next in bytes.
	stride int64

	mu  sync.Mutex
	buf gpu.Handle
	// free are the slots that no call uses.
	free []int
	// wait are the calls whose words have not been read yet.
	wait []waiting
	// errs are errors that were found and have not been returned yet.
	errs []error
}

// waiting is a call that was submitted and whose check may have found an error.
type waiting struct {
	slot   int
	report func([4]uint32) error
}

// StatusBytes is the size of the status words of a device check.
const StatusBytes = 16

// borrow lends four words, which are zero, for each of n checks. It appends their
// bindings and their slots.
func (f *statusWords) borrow(ctx context.Context, words []gpu.Binding, slots []int, n int) ([]gpu.Binding, []int, error) {
	for range n {
		w, slot, err := f.borrowOne(ctx)
		if err != nil {
			for _, s := range slots {
				f.submitted(s, nil, false)
			}
			return words[:0], slots[:0], err
		}
		words, slots = append(words, w), append(slots, slot)
	}
	return words, slots, nil
}

// borrowOne lends the words of one slot.
func (f *statusWords) borrowOne(ctx context.Context) (gpu.Binding, int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.free) == 0 {
		if err := f.refill(ctx); err != nil {
			return gpu.Binding{}, -1, err
		}
	}
	slot := f.free[len(f.free)-1]
	f.free = f.free[:len(f.free)-1]
	return gpu.Binding{Buffer: f.buf, Offset: int64(slot) * f.stride, Size: StatusBytes}, slot, nil
}

// refill fills free. At first it allocates all slots. Later it reads the words of calls
// that wait.
func (f *statusWords) refill(ctx context.Context) error {
	if f.buf == 0 {
		buf, err := f.dev.Alloc(int64(f.slots) * f.stride)
		if err != nil {
			return err
		}
		f.buf = buf
		for slot := range f.slots {
			f.free = append(f.free, f.slots-1-slot)
		}
		return nil
	}
	if f.replayed != nil {
		return fmt.Errorf("exec: %w: more than %d calls that check their inputs on the device (record an Executable, or divide the work)", errs.ErrCapture, f.slots)
	}
	if err := f.poll(ctx); err != nil {
		return err
	}
	if len(f.free) == 0 {
		return errors.New("too many calls at once that check their inputs on the device")
	}
	return nil
}

// submitted says whether the work that uses a slot was submitted. report turns its words
// into an error.
func (f *statusWords) submitted(slot int, report func([4]uint32) error, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if ok {
		f.wait = append(f.wait, waiting{slot, report})
	} else {
		f.free = append(f.free, slot)
	}
}

// used reports whether a call has had words.
func (f *statusWords) used() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.buf != 0
}

// pending reports whether there are calls whose words were not read, or errors that were not returned.
func (f *statusWords) pending() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.wait) > 0 || len(f.errs) > 0
}

// collect waits for the calls that were submitted before, and returns the errors that
// their checks have found. Each error is returned once. oldest becomes 0, if it is not nil.
func (f *statusWords) collect(ctx context.Context, oldest *atomic.Uint64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.poll(ctx); err != nil {
		return err
	}
	if oldest != nil {
		oldest.Store(0)
	}
	err := errors.Join(f.errs...)
	f.errs = nil
	return err
}

// poll waits for the work of the calls in wait, and appends their errors to errs.
func (f *statusWords) poll(ctx context.Context) error {
	if len(f.wait) == 0 {
		return nil
	}
	last := 0
	for _, w := range f.wait {
		last = max(last, w.slot)
	}
	data := make([]byte, int64(last)*f.stride+StatusBytes)
	if err := f.dev.Read(ctx, f.buf, 0, data); err != nil {
		return err
	}
	for i, w := range f.wait {
		var words [4]uint32
		at := int64(w.slot) * f.stride
		for k := range words {
			words[k] = binary.LittleEndian.Uint32(data[at+int64(4*k):])
		}
		if words != [4]uint32{} {
			if err := f.dev.Write(ctx, f.buf, at, make([]byte, StatusBytes)); err != nil {
				f.wait = f.wait[i:]
				return err
			}
		}
		if words[0] != 0 {
			f.errs = append(f.errs, w.report(words))
		}
		if f.replayed == nil {
			f.free = append(f.free, w.slot)
		}
	}
	if f.replayed == nil {
		f.wait = f.wait[:0]
	}
	return nil
}

// result waits for the work of a slot that is not in wait, returns the error that its check has found, and makes the slot free. If ctx ends first, the words
// are looked at with those of calls that wait, before anybody borrows them, and what the check finds is lost: the caller has an error.
func (f *statusWords) result(ctx context.Context, slot int, report func([4]uint32) error) error {
	words, err := f.readAndClear(ctx, slot)
	if err != nil {
		f.submitted(slot, func([4]uint32) error { return nil }, true)
		return err
	}
	f.submitted(slot, nil, false)
	if words[0] == 0 {
		return nil
	}
	return report(words)
}

// readAndClear reads the words of a slot once its work is done, and makes them zero.
func (f *statusWords) readAndClear(ctx context.Context, slot int) (words [4]uint32, err error) {
	f.mu.Lock()
	buf, at := f.buf, int64(slot)*f.stride
	f.mu.Unlock()
	data := make([]byte, StatusBytes)
	if err := f.dev.Read(ctx, buf, at, data); err != nil {
		return words, err
	}
	for k := range words {
		words[k] = binary.LittleEndian.Uint32(data[4*k:])
	}
	if words != [4]uint32{} {
		err = f.dev.Write(ctx, buf, at, make([]byte, StatusBytes))
	}
	return words, err
}

// close frees the words. Errors that were not collected are lost.
func (f *statusWords) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.buf == 0 {
		return nil
	}
	buf := f.buf
	f.buf, f.free, f.wait = 0, nil, nil
	return f.dev.Free(buf)
}
