package exec

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"

	"github.com/lathe-gpu/lathe/gpu"
)

// faultSlots is how many calls may wait to be asked whether they failed. One
// more waits for those before it to end.
const faultSlots = 256

// faults lends the words that plans with a Fault report in, and asks them once
// the work is done.
type faults struct {
	dev    gpu.Device
	stride int64 // bytes from one slot to the next

	mu   sync.Mutex
	buf  gpu.Handle
	free []int
	wait []waiting
	errs []error // found, and not yet returned
}

// waiting is a call that has been submitted and may have failed.
type waiting struct {
	slot  int
	fault func([4]uint32) error
}

const faultBytes = 16

// takeAll lends so many times four words, which are zero.
func (f *faults) takeAll(ctx context.Context, n int) (words []gpu.Binding, slots []int, err error) {
	for range n {
		w, slot, err := f.take(ctx)
		if err != nil {
			for _, s := range slots {
				f.submitted(s, nil, false)
			}
			return nil, nil, err
		}
		words, slots = append(words, w), append(slots, slot)
	}
	return words, slots, nil
}

// take lends four words, which are zero.
func (f *faults) take(ctx context.Context) (gpu.Binding, int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.free) == 0 {
		if err := f.more(ctx); err != nil {
			return gpu.Binding{}, -1, err
		}
	}
	slot := f.free[len(f.free)-1]
	f.free = f.free[:len(f.free)-1]
	return gpu.Binding{Buffer: f.buf, Offset: int64(slot) * f.stride, Size: faultBytes}, slot, nil
}

// more finds free slots: all of them at first, those that wait later.
func (f *faults) more(ctx context.Context) error {
	if f.buf == 0 {
		buf, err := f.dev.Alloc(faultSlots * f.stride)
		if err != nil {
			return err
		}
		f.buf = buf
		for slot := range faultSlots {
			f.free = append(f.free, faultSlots-1-slot)
		}
		return nil
	}
	if err := f.ask(ctx); err != nil {
		return err
	}
	if len(f.free) == 0 {
		return errors.New("too many calls at once that check their inputs on the device")
	}
	return nil
}

// submitted says what became of the work that uses a slot.
func (f *faults) submitted(slot int, fault func([4]uint32) error, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if ok {
		f.wait = append(f.wait, waiting{slot, fault})
	} else {
		f.free = append(f.free, slot)
	}
}

// collect waits for the calls submitted so far and returns the errors of those
// that failed, each once.
func (f *faults) collect(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.ask(ctx); err != nil {
		return err
	}
	err := errors.Join(f.errs...)
	f.errs = nil
	return err
}

// ask waits for the calls that wait and moves their errors to errs.
func (f *faults) ask(ctx context.Context) error {
	if len(f.wait) == 0 {
		return nil
	}
	last := 0
	for _, w := range f.wait {
		last = max(last, w.slot)
	}
	data := make([]byte, int64(last)*f.stride+faultBytes)
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
			if err := f.dev.Write(ctx, f.buf, at, make([]byte, faultBytes)); err != nil {
				f.wait = f.wait[i:]
				return err
			}
		}
		if words[0] != 0 {
			f.errs = append(f.errs, w.fault(words))
		}
		f.free = append(f.free, w.slot)
	}
	f.wait = f.wait[:0]
	return nil
}

func (f *faults) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.buf == 0 {
		return nil
	}
	buf := f.buf
	f.buf, f.free, f.wait = 0, nil, nil
	return f.dev.Free(buf)
}
