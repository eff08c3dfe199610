package rawptr_test

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/rawptr"
)

// open opens the device that is chosen on this machine.
func open(t testing.TB) *rawptr.Device {
	t.Helper()
	d := rawptr.New()
	err := d.Init(t.Context())
	testkit.Opened(t, err)
	return testkit.Device(t, d, err)
}

// nowhere is an open device without hardware, which computes nothing.
func nowhere(t testing.TB) *rawptr.Device {
	t.Helper()
	return over(t, null.NewRecorder(nil))
}

// over is an open device over one of package gpu.
func over(t testing.TB, dev gpu.Device) *rawptr.Device {
	t.Helper()
	d := rawptr.New(rawptr.WithGPU(dev))
	if err := d.Init(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// alloc allocates or fails.
func alloc(t testing.TB, d rawptr.Backend, bytes int) rawptr.Ptr {
	t.Helper()
	p, err := d.Alloc(int64(bytes))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// numbers are the types of elements in these tests.
type numbers interface{ ~float32 | ~float64 | ~int32 }

// bytesOf are the bytes of elements, little-endian.
func bytesOf[T numbers](xs []T) []byte {
	var b []byte
	for _, x := range xs {
		switch x := any(x).(type) {
		case float32:
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		case float64:
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		case int32:
			b = binary.LittleEndian.AppendUint32(b, uint32(x))
		}
	}
	return b
}

// put allocates memory for elements and copies them there. Without elements it allocates one byte.
func put[T numbers](t testing.TB, d rawptr.Backend, xs []T) rawptr.Ptr {
	t.Helper()
	b := bytesOf(xs)
	p := alloc(t, d, max(len(b), 1))
	if err := d.CopyHtoD(t.Context(), p, b); err != nil {
		t.Fatal(err)
	}
	return p
}

// get reads n elements.
func get[T numbers](t testing.TB, d rawptr.Backend, p rawptr.Ptr, n int) []T {
	t.Helper()
	var zero T
	b := make([]byte, n*binary.Size(zero))
	if err := d.CopyDtoH(t.Context(), b, p); err != nil {
		t.Fatal(err)
	}
	xs := make([]T, n)
	for i := range xs {
		switch x := any(&xs[i]).(type) {
		case *float32:
			*x = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		case *float64:
			*x = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
		case *int32:
			*x = int32(binary.LittleEndian.Uint32(b[4*i:]))
		}
	}
	return xs
}

// free frees allocations or fails.
func free(t testing.TB, d rawptr.Backend, ps ...rawptr.Ptr) {
	t.Helper()
	for _, p := range ps {
		if err := d.Free(p); err != nil {
			t.Error(err)
		}
	}
}

// wantError wants an error of a kind. what says what was called.
func wantError(t testing.TB, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: got %v, want %v", what, err, want)
	}
}

// wantInvalid wants ErrInvalidArgument.
func wantInvalid(t testing.TB, what string, err error) {
	t.Helper()
	wantError(t, what, err, errs.ErrInvalidArgument)
}

// near reports whether got is want but for the rounding of F32 with terms of a size.
func near(got float32, want, size float64) bool {
	switch {
	case math.IsNaN(want):
		return math.IsNaN(float64(got))
	case math.IsInf(want, 0):
		return float64(got) == want
	}
	return math.Abs(float64(got)-want) <= 1e-6+4e-6*size
}

// recording is a device that only records what it is asked to do.
type recording struct {
	*rawptr.Device
	dev *null.Device
}

func recorder(t testing.TB) recording {
	dev := null.NewRecorder(nil)
	return recording{over(t, dev), dev}
}

// quiet fails if f makes the device allocate or run anything.
func (r recording) quiet(t testing.TB, f func()) {
	t.Helper()
	before := r.dev.Allocated()
	r.dev.Forget()
	f()
	if now := r.dev.Allocated(); now != before {
		t.Errorf("%d bytes were allocated", now-before)
	}
	if list := r.dev.Recorded(); len(list) > 0 {
		t.Errorf("%d launches", len(list))
	}
}
