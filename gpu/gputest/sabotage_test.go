package gputest_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/gpu/gputest"
)

// sabotaged is a device with one fault that a backend might have.
type sabotaged struct {
	gpu.Device
	alloc  func(d gpu.Device, size int64) (gpu.Handle, error)
	free   func(d gpu.Device, h gpu.Handle) error
	write  func(d gpu.Device, ctx context.Context, h gpu.Handle, off int64, b []byte) error
	submit func(d gpu.Device, list []gpu.Dispatch) error
	close  func(d gpu.Device) error
	span   func(s gpu.Span) []gpu.Span // returns the spans to report instead

	// If lazy is set, submitted work runs at the next call whose name is not in skip.
	lazy  bool
	skip  []string
	mu    sync.Mutex
	queue [][]gpu.Dispatch
}

// flush runs the work that a lazy device has delayed.
func (s *sabotaged) flush(call string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.skip, call) {
		return nil
	}
	var failed error
	for _, list := range s.queue {
		failed = errors.Join(failed, s.Device.Submit(list))
	}
	s.queue = nil
	return failed
}

func (s *sabotaged) Alloc(size int64) (gpu.Handle, error) {
	if s.alloc != nil {
		return s.alloc(s.Device, size)
	}
	return s.Device.Alloc(size)
}

func (s *sabotaged) Free(h gpu.Handle) error {
	if err := s.flush("free"); err != nil {
		return err
	}
	if s.free != nil {
		return s.free(s.Device, h)
	}
	return s.Device.Free(h)
}

func (s *sabotaged) Write(ctx context.Context, h gpu.Handle, off int64, b []byte) error {
	if err := s.flush("write"); err != nil {
		return err
	}
	if s.write != nil {
		return s.write(s.Device, ctx, h, off, b)
	}
	return s.Device.Write(ctx, h, off, b)
}

func (s *sabotaged) Read(ctx context.Context, h gpu.Handle, off int64, b []byte) error {
	if err := s.flush("read"); err != nil {
		return err
	}
	return s.Device.Read(ctx, h, off, b)
}

func (s *sabotaged) Submit(list []gpu.Dispatch) error {
	switch {
	case s.submit != nil:
		return s.submit(s.Device, list)
	case !s.lazy:
		return s.Device.Submit(list)
	}
	if err := s.flush("submit"); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, list)
	return nil
}

func (s *sabotaged) Sync(ctx context.Context) error {
	if err := s.flush("sync"); err != nil {
		return err
	}
	return s.Device.Sync(ctx)
}

func (s *sabotaged) Close() error {
	if err := s.flush("close"); err != nil && !errors.Is(err, gpu.ErrClosed) {
		return err
	}
	if s.close != nil {
		return s.close(s.Device)
	}
	return s.Device.Close()
}

func (s *sabotaged) StartTrace(now func() time.Duration, sink func(gpu.Span)) error {
	if s.span == nil || sink == nil {
		return gpu.StartTrace(s.Device, now, sink)
	}
	return gpu.StartTrace(s.Device, now, func(x gpu.Span) {
		for _, x := range s.span(x) {
			sink(x)
		}
	})
}

// edit returns a submit function that changes a copy of each dispatch first.
func edit(f func(*gpu.Dispatch)) func(gpu.Device, []gpu.Dispatch) error {
	return func(d gpu.Device, list []gpu.Dispatch) error {
		own := slices.Clone(list)
		for i := range own {
			own[i].Bindings = slices.Clone(own[i].Bindings)
			f(&own[i])
		}
		return d.Submit(own)
	}
}

// sabotage has the faults, each with the part of the suite that must find it.
var sabotage = map[string]struct {
	noticed string
	device  func() *sabotaged
}{
	"fresh buffers are not zero": {"AllocZero", func() *sabotaged {
		return &sabotaged{alloc: func(d gpu.Device, size int64) (gpu.Handle, error) {
			h, err := d.Alloc(size)
			if err != nil || size == 0 {
				return h, err
			}
			return h, d.Write(context.Background(), h, size-1, []byte{1})
		}}
	}},
	"any size is granted": {"AllocErrors", func() *sabotaged {
		return &sabotaged{alloc: func(d gpu.Device, size int64) (gpu.Handle, error) {
			return d.Alloc(min(max(size, 0), 1<<20))
		}}
	}},
	"free forgets the memory": {"MemoryReturned", func() *sabotaged {
		return &sabotaged{free: func(gpu.Device, gpu.Handle) error { return nil }}
	}},
	"stale handles are forgiven": {"InvalidHandles", func() *sabotaged {
		return &sabotaged{free: func(d gpu.Device, h gpu.Handle) error {
			if err := d.Free(h); !errors.Is(err, gpu.ErrInvalidHandle) {
				return err
			}
			return nil
		}}
	}},
	"writes of words only": {"WriteReadRanges", func() *sabotaged {
		return &sabotaged{write: func(d gpu.Device, ctx context.Context, h gpu.Handle, off int64, b []byte) error {
			return d.Write(ctx, h, off&^3, b)
		}}
	}},
	"a bad write writes what fits": {"WriteReadErrors", func() *sabotaged {
		return &sabotaged{write: func(d gpu.Device, ctx context.Context, h gpu.Handle, off int64, b []byte) error {
			err := d.Write(ctx, h, off, b)
			if errors.Is(err, gpu.ErrInvalidArgument) && off == 0 {
				return errors.Join(err, d.Write(ctx, h, 0, b[:1]))
			}
			return err
		}}
	}},
	"writes keep the caller's slice": {"WriteTakesItsCopy", func() *sabotaged {
		var last func() error
		var mu sync.Mutex
		return &sabotaged{write: func(d gpu.Device, ctx context.Context, h gpu.Handle, off int64, b []byte) error {
			mu.Lock()
			defer mu.Unlock()
			if last != nil {
				_ = last() // The buffer may have been freed.
			}
			last = func() error { return d.Write(ctx, h, off, b) }
			return d.Write(ctx, h, off, b)
		}}
	}},
	"contexts are ignored": {"Cancelled", func() *sabotaged {
		return &sabotaged{write: func(d gpu.Device, _ context.Context, h gpu.Handle, off int64, b []byte) error {
			return d.Write(context.Background(), h, off, b)
		}}
	}},
	"lists run backwards": {"RandomChain", func() *sabotaged {
		return &sabotaged{submit: func(d gpu.Device, list []gpu.Dispatch) error {
			own := slices.Clone(list)
			slices.Reverse(own)
			return d.Submit(own)
		}}
	}},
	"long lists are cut": {"LongList", func() *sabotaged {
		return &sabotaged{submit: func(d gpu.Device, list []gpu.Dispatch) error { return d.Submit(list[:min(len(list), 4096)]) }}
	}},
	"dispatches run as they are checked": {"BadDispatchRunsNone", func() *sabotaged {
		return &sabotaged{submit: func(d gpu.Device, list []gpu.Dispatch) error {
			for i := range list {
				if err := d.Submit(list[i : i+1]); err != nil {
					return err
				}
			}
			return d.Submit(nil)
		}}
	}},
	"submit keeps the list": {"KeepsNothing", func() *sabotaged { return &sabotaged{lazy: true, skip: []string{"submit"}} }},
	"writes overtake dispatches": {"Order", func() *sabotaged {
		return &sabotaged{lazy: true, skip: []string{"write"}}
	}},
	"free overtakes dispatches": {"FreePending", func() *sabotaged {
		return &sabotaged{lazy: true, skip: []string{"free"}}
	}},
	"binding offsets are ignored": {"BindingRanges", func() *sabotaged {
		return &sabotaged{submit: edit(func(d *gpu.Dispatch) {
			for i := range d.Bindings {
				d.Bindings[i].Offset = 0
			}
		})}
	}},
	"grids are flat": {"Grid", func() *sabotaged {
		return &sabotaged{submit: edit(func(d *gpu.Dispatch) { d.Groups[2] = min(d.Groups[2], 1) })}
	}},
	"no groups become one": {"NoGroups", func() *sabotaged {
		return &sabotaged{submit: edit(func(d *gpu.Dispatch) {
			for i := range d.Groups {
				d.Groups[i] = max(d.Groups[i], 1)
			}
		})}
	}},
	"push constants are cut": {"PushConstants", func() *sabotaged {
		return &sabotaged{submit: edit(func(d *gpu.Dispatch) {
			if len(d.Params) == 128 {
				d.Params = append(bytes.Clone(d.Params[:64]), make([]byte, 64)...)
			}
		})}
	}},
	"times are in microseconds": {"Trace", func() *sabotaged {
		return &sabotaged{span: func(s gpu.Span) []gpu.Span {
			s.Begin, s.End = s.Begin*1000, s.End*1000
			return []gpu.Span{s}
		}}
	}},
	"spans lose their tags": {"Trace", func() *sabotaged {
		return &sabotaged{span: func(s gpu.Span) []gpu.Span {
			s.Tag = 0
			return []gpu.Span{s}
		}}
	}},
	"launches are reported twice": {"TraceConcurrent", func() *sabotaged {
		return &sabotaged{span: func(s gpu.Span) []gpu.Span {
			if s.Kind != gpu.Launch {
				return []gpu.Span{s}
			}
			first := s
			first.End = s.Begin
			return []gpu.Span{first, s}
		}}
	}},
	"limits are left to the driver": {"Limits", func() *sabotaged {
		return &sabotaged{submit: func(d gpu.Device, list []gpu.Dispatch) error {
			if err := d.Submit(list); !errors.Is(err, gpu.ErrLimit) {
				return err
			}
			return nil
		}}
	}},
	"no device is opened": {"Info", func() *sabotaged { return nil }},
	"nothing opens":       {"Info", nil},
	"close does nothing": {"Close", func() *sabotaged {
		return &sabotaged{close: func(gpu.Device) error { return nil }}
	}},
}

const sabotageEnv = "LATHE_TEST_SABOTAGE"

// TestSabotage runs the suite, in another process, on devices that are broken on purpose.
// The part that checks for the fault must fail.
func TestSabotage(t *testing.T) {
	if fault := os.Getenv(sabotageEnv); fault != "" {
		device := sabotage[fault].device
		if device == nil {
			gputest.Run(t, nil)
			return
		}
		gputest.Run(t, func(t testing.TB) gpu.Device {
			s := device()
			if s != nil {
				s.Device = open(t, small())
			}
			return s
		})
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for fault, c := range sabotage {
		t.Run(strings.ReplaceAll(fault, " ", "_"), func(t *testing.T) {
			cmd := exec.Command(self, "-test.run=^TestSabotage$/^"+c.noticed+"$", "-test.timeout=60s")
			cmd.Env = append(os.Environ(), sabotageEnv+"="+fault)
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			if err == nil || !bytes.Contains(out, []byte("--- FAIL: TestSabotage/"+c.noticed+" ")) || bytes.Contains(out, []byte("panic:")) {
				t.Errorf("%s did not notice, or not in its own words: %v\n%s", c.noticed, err, out)
			}
		})
	}
}
