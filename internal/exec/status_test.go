package exec

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/gpu/faulty"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
)

// newStatusWords returns status words on a device without kernels. The tests write the
// words themselves.
func newStatusWords(t *testing.T) (*statusWords, *faulty.Device) {
	t.Helper()
	dev := faulty.New(null.New(nil))
	f := &statusWords{dev: dev, slots: statusSlots, stride: 64}
	t.Cleanup(func() {
		if err := errors.Join(f.close(), f.close(), dev.Close()); err != nil {
			t.Error(err)
		}
	})
	return f, dev
}

// call acts as a call whose check has failed if word is not 0.
func (f *statusWords) call(ctx context.Context, name string, word uint32) error {
	b, slot, err := f.borrowOne(ctx)
	if err != nil {
		return err
	}
	was := make([]byte, StatusBytes)
	if err := f.dev.Read(ctx, b.Buffer, b.Offset, was); err != nil {
		return err
	}
	for _, w := range was {
		if w != 0 {
			return fmt.Errorf("%s: the words are %v at first", name, was)
		}
	}
	binary.LittleEndian.PutUint32(was, word)
	binary.LittleEndian.PutUint32(was[12:], 7) // Without word 0 this is no error.
	if err := f.dev.Write(ctx, b.Buffer, b.Offset, was); err != nil {
		return err
	}
	f.submitted(slot, func(words [4]uint32) error { return fmt.Errorf("%s %d %d", name, words[0], words[3]) }, true)
	return nil
}

func TestStatusWordsAreReportedOnceInOrder(t *testing.T) {
	f, _ := newStatusWords(t)
	ctx := t.Context()
	for range 2 {
		for i, word := range []uint32{0, 3, 0, 0, 9, 0} {
			if err := f.call(ctx, fmt.Sprint("call ", i), word); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.collect(ctx, nil); err == nil || err.Error() != "call 1 3 7\ncall 4 9 7" {
			t.Errorf("got %v", err)
		}
		if err := f.collect(ctx, nil); err != nil {
			t.Errorf("a second time: %v", err)
		}
	}
}

// TestStatusWordsRunOut checks that calls wait for earlier ones if there are not enough
// words, and that no error is lost.
func TestStatusWordsRunOut(t *testing.T) {
	f, _ := newStatusWords(t)
	ctx := t.Context()
	const n = 3*statusSlots + 5
	for i := range n {
		word := uint32(0)
		if i == 2 || i == statusSlots || i == n-1 {
			word = 1
		}
		if err := f.call(ctx, fmt.Sprint("call ", i), word); err != nil {
			t.Fatal(i, err)
		}
	}
	if err := f.collect(ctx, nil); err == nil || strings.Count(err.Error(), "call") != 3 {
		t.Errorf("got %v, want three errors", err)
	}
	// Calls that have words and are not submitted yet keep their words.
	var slots []int
	for range statusSlots {
		_, slot, err := f.borrowOne(ctx)
		if err != nil {
			t.Fatal(err)
		}
		slots = append(slots, slot)
	}
	if _, _, err := f.borrowOne(ctx); err == nil {
		t.Error("one more was lent words than there are")
	}
	for _, slot := range slots {
		f.submitted(slot, nil, false)
	}
	if err := f.call(ctx, "after", 0); err != nil {
		t.Errorf("after the others were given up: %v", err)
	}
}

// TestStatusWordsOfTheDevice checks that errors of the device delay errors of checks and
// lose none.
func TestStatusWordsOfTheDevice(t *testing.T) {
	ctx, boom := t.Context(), errors.New("boom")
	for _, c := range []struct {
		call faulty.Call
		n    int
	}{{faulty.Read, 1}, {faulty.Write, 1}, {faulty.Write, 2}, {faulty.Write, 3}} {
		f, dev := newStatusWords(t)
		for i, word := range []uint32{1, 0, 2} {
			if err := f.call(ctx, fmt.Sprint("call ", i), word); err != nil {
				t.Fatal(err)
			}
		}
		dev.Fail(c.call, c.n, boom)
		if err := f.collect(ctx, nil); !errors.Is(err, boom) {
			t.Errorf("%v %d: got %v", c.call, c.n, err)
		}
		if err := f.collect(ctx, nil); err == nil || err.Error() != "call 0 1 7\ncall 2 2 7" {
			t.Errorf("%v %d: afterwards got %v", c.call, c.n, err)
		}
		if err := f.collect(ctx, nil); err != nil || len(f.free) != statusSlots {
			t.Errorf("%v %d: in the end got %v, %d of %d words free", c.call, c.n, err, len(f.free), statusSlots)
		}
	}
	f, dev := newStatusWords(t)
	dev.Fail(faulty.Alloc, 1, gpu.ErrOutOfMemory)
	if err := f.call(ctx, "call", 0); !errors.Is(err, gpu.ErrOutOfMemory) {
		t.Errorf("got %v", err)
	}
	if err := f.call(ctx, "call", 1); err != nil {
		t.Errorf("after memory came back: %v", err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if err := f.collect(cancelled, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
	if err := f.collect(ctx, nil); err == nil || err.Error() != "call 1 7" {
		t.Errorf("after a cancelled wait: got %v", err)
	}
	if err := f.call(ctx, "pending", 1); err != nil { // The Runner is closed while this call is pending.
		t.Error(err)
	}
}

func TestStatusWordsConcurrently(t *testing.T) {
	f, _ := newStatusWords(t)
	ctx := t.Context()
	var mu sync.Mutex
	found := 0
	collect := func() {
		if err := f.collect(ctx, nil); err != nil {
			mu.Lock()
			found += strings.Count(err.Error(), "call")
			mu.Unlock()
		}
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 100 {
				if err := f.call(ctx, "call", uint32(i%2)); err != nil {
					t.Error(err)
				}
				if i%(10+g) == 0 {
					collect()
				}
			}
		})
	}
	wg.Wait()
	collect()
	if found != 8*50 {
		t.Errorf("%d errors came out, want %d", found, 8*50)
	}
}
