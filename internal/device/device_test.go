package device

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/spv"
)

var info = &gpu.Info{Backend: "test", Name: "Tester", Limits: gpu.Limits{MaxBuffer: 1 << 20}}

func newLife(timeout time.Duration) *Life {
	l := new(Life)
	l.Init(info, timeout)
	return l
}

// operation makes an operation that returns err.
func operation(l *Life, err error) error {
	if err := l.Begin(); err != nil {
		return err
	}
	l.End(&err)
	return err
}

// The first error of submitted work is kept, and returned once.
func TestFirstError(t *testing.T) {
	l := newLife(-1)
	first, second := errors.New("first"), errors.New("second")
	l.Note(first)
	l.Note(second)
	if err := l.TakeError(); err != first {
		t.Errorf("got %v, want %v", err, first)
	}
	if err := l.TakeError(); err != nil {
		t.Errorf("once more: %v", err)
	}
	l.Note(first)
	l.Withdraw(second)
	if l.Failed() != first {
		t.Error("an error that is not kept was withdrawn")
	}
	l.Withdraw(first)
	if err := l.TakeError(); err != nil {
		t.Errorf("after it was withdrawn: %v", err)
	}
}

// Once the device is lost, every operation fails, and so does TakeError.
func TestLostDevice(t *testing.T) {
	lost := fmt.Errorf("gone: %w", gpu.ErrDeviceLost)
	for name, lose := range map[string]func(l *Life){
		"an operation says so": func(l *Life) { _ = operation(l, lost) },
		"the work says so":     func(l *Life) { l.Note(lost) },
		"the driver is asked":  func(l *Life) { l.LookForLoss = func() { l.Note(lost) } },
	} {
		l := newLife(-1)
		if err := operation(l, errors.New("harmless")); errors.Is(err, gpu.ErrDeviceLost) || l.Lost() != nil {
			t.Errorf("%s: lost too early: %v", name, err)
		}
		lose(l)
		for range 2 {
			if err := operation(l, nil); err != lost {
				t.Errorf("%s: got %v, want %v", name, err, lost)
			}
			if err := l.TakeError(); err != lost {
				t.Errorf("%s: TakeError: got %v, want %v", name, err, lost)
			}
		}
		l.StopOperations()
		if err := operation(l, nil); !errors.Is(err, gpu.ErrClosed) {
			t.Errorf("%s: closed: got %v", name, err)
		}
	}
}

// Close waits for operations under way, and no new one begins.
func TestCloseWaits(t *testing.T) {
	l := newLife(10 * time.Millisecond)
	if err := l.Begin(); err != nil {
		t.Fatal(err)
	}
	shut := func() error {
		l.Lock()
		defer l.Unlock()
		l.StopOperations()
		return nil
	}
	result := make(chan error)
	go func() { result <- l.Close(shut, func() string { return "3 buffers of 48 bytes" }) }()
	// The operation releases the lock, as one that waits for the driver does.
	err := l.Unlocked(func() error { return <-result })
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want DeadlineExceeded", err)
	}
	for _, word := range []string{"test: close", "3 buffers of 48 bytes", "1 operations under way", "Tester"} {
		if err != nil && !strings.Contains(err.Error(), word) {
			t.Errorf("%v says nothing of %q", err, word)
		}
	}
	err = nil
	l.End(&err)
	l.closeTimeout = -1
	if err := l.Close(shut, nil); err != nil {
		t.Errorf("at the end: %v", err)
	}
	if err := l.Begin(); !errors.Is(err, gpu.ErrClosed) || !strings.HasPrefix(err.Error(), "test: ") {
		t.Errorf("after Close: %v, want ErrClosed", err)
	}
}

// A caller that holds the lock and never lets go does not keep Close.
func TestCloseWithLockHeld(t *testing.T) {
	l := newLife(time.Millisecond)
	l.Lock()
	err := l.Close(func() error { l.Lock(); return nil }, nil)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want DeadlineExceeded", err)
	}
	l.Unlock()
}

// A panic without the lock leaves the lock to the deferred calls of its operation.
func TestUnlockedPanics(t *testing.T) {
	l := newLife(-1)
	func() {
		defer func() { _ = recover() }()
		err := l.Begin()
		defer l.End(&err)
		_ = l.Unlocked(func() error { panic("a bug") })
	}()
	if err := operation(l, nil); err != nil {
		t.Errorf("after a panic: %v", err)
	}
}

type testBuffer int64

func (b testBuffer) Bytes() int64 { return int64(b) }

func TestBuffers(t *testing.T) {
	released := 0
	table := NewBuffers(func(testBuffer) { released++ })
	x, _ := table.Add(10)
	y, _ := table.Add(6)
	if n, err := table.Size(x); n != 10 || err != nil {
		t.Errorf("size %d, %v", n, err)
	}
	if n, bytes := table.Total(); n != 2 || bytes != 16 {
		t.Errorf("%d buffers of %d bytes, want 2 of 16", n, bytes)
	}
	if _, err := table.PinRange(t.Context(), "read", x, 4, 7); !errors.Is(err, gpu.ErrInvalidArgument) {
		t.Errorf("a range that ends past the buffer: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := table.PinRange(ended, "read", x, 0, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
	if b, err := table.PinRange(t.Context(), "read", x, 4, 6); b != 10 || err != nil {
		t.Errorf("a range in the buffer: %v, %v", b, err)
	}
	table.FreeAll()
	if released != 1 { // y only: x is pinned, once
		t.Errorf("%d buffers released, want 1", released)
	}
	_ = table.Unpin(x)
	if _, err := table.Size(y); released != 2 || !errors.Is(err, gpu.ErrInvalidHandle) {
		t.Errorf("%d buffers released, want 2; a freed one has size: %v", released, err)
	}
}

func module(code byte) *spv.Module {
	return &spv.Module{Name: "test/module", Code: make([]byte, 20), Hash: [32]byte{code}, LocalSize: [3]uint32{1, 1, 1}}
}

// anything is a device that runs every module.
var anything = &gpu.Info{Backend: "test", Limits: gpu.Limits{MaxInvocations: 1, MaxLocalSize: [3]uint32{1, 1, 1}}}

// Each module is compiled once for each variant, however many callers want it.
func TestCompiledOnce(t *testing.T) {
	var c Compiled[bool, *int]
	var runs atomic.Int64
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Go(func() {
			want := g % 2
			p, err := c.Get(anything, module(1), g%2 == 1, func() (*int, error) {
				runs.Add(1)
				time.Sleep(time.Millisecond)
				return &want, nil
			})
			if err != nil || *p != want {
				t.Errorf("got %v, %v; want the pipeline of variant %d", p, err, want)
			}
		})
	}
	wg.Wait()
	if runs.Load() != 2 {
		t.Errorf("%d compilations, want 2", runs.Load())
	}
	destroyed := 0
	c.Drain(func(*int) { destroyed++ })
	if destroyed != 2 {
		t.Errorf("%d pipelines destroyed, want 2", destroyed)
	}
}

// A compilation that fails or panics is an error of those who wait for it, and the
// next caller tries again.
func TestCompiledFails(t *testing.T) {
	for name, fail := range map[string]func() (int, error){
		"error": func() (int, error) { return 0, gpu.ErrOutOfMemory },
		"panic": func() (int, error) { panic("a planted panic") },
	} {
		var c Compiled[bool, int]
		started, waiting := make(chan struct{}), make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			defer func() { _ = recover() }()
			_, _ = c.Get(anything, module(1), false, func() (int, error) {
				close(started)
				<-waiting
				time.Sleep(5 * time.Millisecond)
				return fail()
			})
		})
		<-started
		wg.Go(func() {
			close(waiting)
			// It waits for the first compilation, or comes late and compiles itself.
			n, err := c.Get(anything, module(1), false, func() (int, error) { return 7, nil })
			if (err == nil) != (n == 7) {
				t.Errorf("%s: got %d, %v", name, n, err)
			}
		})
		wg.Wait()
		if n, err := c.Get(anything, module(1), false, func() (int, error) { return 7, nil }); n != 7 || err != nil {
			t.Errorf("%s: the next caller got %d, %v", name, n, err)
		}
	}
}

// A module of the same code that declares more than the device has is refused, though
// the code is compiled.
func TestCompiledChecks(t *testing.T) {
	var c Compiled[bool, int]
	get := func(m *spv.Module) error {
		_, err := c.Get(anything, m, false, func() (int, error) { return 1, nil })
		return err
	}
	if err := get(module(1)); err != nil {
		t.Fatal(err)
	}
	large := module(1)
	large.LocalSize[0] = 2
	for range 2 {
		if err := get(large); !errors.Is(err, gpu.ErrLimit) {
			t.Errorf("got %v, want ErrLimit", err)
		}
		if err := get(module(1)); err != nil {
			t.Error(err)
		}
	}
	if err := get(nil); err == nil {
		t.Error("no module, and no error")
	}
}

// Scratch that is given back holds nothing alive and is used again.
func TestScratches(t *testing.T) {
	var l Scratches[*int, *int]
	s := l.Borrow()
	s.Pipes, s.Uses = append(s.Pipes, new(int)), append(s.Uses, new(int), new(int))
	l.Return(s)
	again := l.Borrow()
	if again != s || len(again.Pipes) != 0 || len(again.Uses) != 0 {
		t.Errorf("got %v, want the same one, empty", again)
	}
	if again.Pipes[:1][0] != nil || again.Uses[:2][1] != nil {
		t.Error("what was used is still referred to")
	}
	if l.Borrow() == again {
		t.Error("one Scratch borrowed twice")
	}
}

// Copy and Clear reach every byte and none past the end, in one part and in several.
func TestCopyClear(t *testing.T) {
	for _, n := range []int{0, 1, 100, splitBytes - 1, splitBytes, splitBytes + 1, 2*splitBytes + 77} {
		src, dst := make([]byte, n), make([]byte, n+1)
		for i := range src {
			src[i] = byte(i*7 + 1)
		}
		dst[n] = 99
		Copy(dst, src)
		if !bytes.Equal(dst[:n], src) || dst[n] != 99 {
			t.Errorf("a copy of %d bytes differs", n)
		}
		Copy(dst[:n/2], src) // as many as fit
		Clear(dst[:n])
		if !bytes.Equal(dst[:n], make([]byte, n)) || dst[n] != 99 {
			t.Errorf("%d bytes are not cleared", n)
		}
	}
}

// A CPU driver that nobody asked for is worth a warning, and only that.
func TestChoose(t *testing.T) {
	t.Setenv(gpu.SelectorEnv, "")
	infos := []gpu.Info{{Name: "Slow", Kind: gpu.CPU}}
	for selector, want := range map[string]int{"": 1, "Slow": 0, "0": 0} {
		var warned []string
		i, err := Choose(infos, selector, func(text string) { warned = append(warned, text) })
		if i != 0 || err != nil || len(warned) != want || want == 1 && !strings.Contains(warned[0], "Slow") {
			t.Errorf("selector %q: %d, %v, warnings %q", selector, i, err, warned)
		}
	}
	if _, err := Choose(infos, "no such device", nil); !errors.Is(err, gpu.ErrNoDevice) {
		t.Errorf("got %v, want ErrNoDevice", err)
	}
}

func TestFaults(t *testing.T) {
	var f Faults[int]
	if r := f.Result("call"); r != 0 {
		t.Errorf("without a fault: %d", r)
	}
	fail := func(call string) int { return len(call) }
	f.Store(&fail)
	if r := f.Result("call"); r != 4 {
		t.Errorf("got %d, want 4", r)
	}
}
