package guard_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/gpu/guard"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/internal/spv"
)

var ctx = context.Background()

// rogue is a device on which "test/rogue" writes one byte at an offset from a buffer's
// start. The offset may be outside the buffer. A faulty shader does the same. The null
// device only gives a kernel the range that is bound. So spy binds the whole inner
// buffer.
type rogue struct {
	*guard.Device
	spy *spy
}

// spy is between guard and null. It extends the bindings of test/rogue.
type spy struct {
	gpu.Device
	at int64 // the offset to write to, from the start of the range that guard bound
}

func (s *spy) Submit(list []gpu.Dispatch) error {
	for i := range list {
		b := &list[i].Bindings[0]
		list[i].Params[0] = byte(b.Offset + s.at)
		list[i].Params[1] = byte((b.Offset + s.at) >> 8)
		*b = gpu.Binding{Buffer: b.Buffer}
	}
	return s.Device.Submit(list)
}

func newRogue() *rogue {
	dev := null.New(nil)
	dev.Kernels = map[string]null.Kernel{"test/rogue": func(d gpu.Dispatch, bufs [][]byte) error {
		bufs[0][int(d.Params[0])|int(d.Params[1])<<8] ^= 0xFF
		return nil
	}}
	s := &spy{Device: dev}
	return &rogue{guard.New(s), s}
}

func (r *rogue) write(t *testing.T, h gpu.Handle, kind spv.Kind, at int64) {
	t.Helper()
	r.spy.at = at
	m := null.Module("test/rogue", 4, spv.Binding{Kind: kind, Access: spv.ReadWrite})
	err := r.Submit([]gpu.Dispatch{{Module: m, Bindings: []gpu.Binding{{Buffer: h}}, Params: make([]byte, 4), Groups: [3]uint32{1, 1, 1}}})
	if err != nil {
		t.Fatal(err)
	}
}

func TestViolations(t *testing.T) {
	for _, c := range []struct {
		name string
		kind spv.Kind
		at   int64
		text string // "" if it is none
	}{
		{"first byte", spv.StorageBuffer, 0, ""},
		{"last byte", spv.StorageBuffer, 100, ""},
		{"rest of the last word", spv.StorageBuffer, 101, "0 bytes past its end"},
		{"last byte of the last word", spv.StorageBuffer, 103, "2 bytes past its end"},
		{"next word", spv.StorageBuffer, 104, "3 bytes past its end"},
		{"far past the end", spv.StorageBuffer, 1100, "999 bytes past its end"},
		{"just before", spv.StorageBuffer, -1, "1 bytes before its start"},
		{"far before", spv.StorageBuffer, -1024, "1024 bytes before its start"},
		{"last byte of the last texel", spv.StorageTexel, 111, "10 bytes past its end"},
		{"next texel", spv.StorageTexel, 112, "11 bytes past its end"},
	} {
		for _, by := range []struct {
			name  string
			check func(*rogue, gpu.Handle) error
		}{
			{"read", func(r *rogue, h gpu.Handle) error { return r.Read(ctx, h, 0, make([]byte, 4)) }},
			{"sync", func(r *rogue, h gpu.Handle) error { return r.Sync(ctx) }},
			{"free", func(r *rogue, h gpu.Handle) error { return r.Free(h) }},
			{"close", func(r *rogue, h gpu.Handle) error { return r.Close() }},
		} {
			t.Run(c.name+"/"+by.name, func(t *testing.T) {
				r := newRogue()
				h, err := r.Alloc(101)
				if err != nil {
					t.Fatal(err)
				}
				r.write(t, h, c.kind, c.at)
				err = by.check(r, h)
				if c.text == "" {
					if err != nil {
						t.Errorf("false alarm: %v", err)
					}
					return
				}
				if !errors.Is(err, guard.ErrViolated) {
					t.Fatalf("got %v, want ErrViolated", err)
				}
				for _, want := range []string{c.text, h.String(), "101 bytes", "test/rogue", "1 bytes changed"} {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("%v does not say %q", err, want)
					}
				}
				if err := r.Close(); err != nil {
					t.Errorf("reported twice: %v", err)
				}
			})
		}
	}
}

// TestSyncNamesEveryBuffer checks that each buffer with a violated zone is named, in the
// order of allocation.
func TestSyncNamesEveryBuffer(t *testing.T) {
	r := newRogue()
	var hs []gpu.Handle
	for range 3 {
		h, err := r.Alloc(64)
		if err != nil {
			t.Fatal(err)
		}
		hs = append(hs, h)
	}
	r.write(t, hs[2], spv.StorageBuffer, 64)
	r.write(t, hs[0], spv.StorageBuffer, -5)
	err := r.Sync(ctx)
	if !errors.Is(err, guard.ErrViolated) {
		t.Fatalf("got %v, want ErrViolated", err)
	}
	first, last := strings.Index(err.Error(), hs[0].String()+" "), strings.Index(err.Error(), hs[2].String()+" ")
	if first < 0 || last < first || strings.Contains(err.Error(), hs[1].String()+" ") {
		t.Errorf("want %v then %v and not %v in: %v", hs[0], hs[2], hs[1], err)
	}
}

func TestPoison(t *testing.T) {
	dev := guard.New(null.New(nil))
	const size = 1<<20 + 7
	h, err := dev.Alloc(size)
	if err != nil {
		t.Fatal(err)
	}
	if err := dev.Poison(ctx, h); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, size)
	if err := dev.Read(ctx, h, 0, got); err != nil { // Read also checks the zones.
		t.Fatal(err)
	}
	if !bytes.Equal(got, bytes.Repeat([]byte{0xFF}, size)) {
		t.Error("not all bytes are 0xFF")
	}
	if err := dev.Free(h); err != nil {
		t.Fatal(err)
	}
	if err := dev.Poison(ctx, h); !errors.Is(err, gpu.ErrInvalidHandle) {
		t.Errorf("got %v, want ErrInvalidHandle", err)
	}
}

// TestRestrict checks that no limit becomes better, and no alignment smaller.
func TestRestrict(t *testing.T) {
	inner := null.New(nil)
	have := inner.Info().Limits
	l := have
	l.MaxBuffer, l.MaxBinding, l.MaxGroups[1], l.OffsetAlign, l.MaxIterations = 1<<40, 64, 3, 4, 500
	dev := guard.Restrict(inner, l)
	got := dev.Info().Limits
	want := have
	want.MaxBinding, want.MaxGroups[1], want.MaxIterations = 64, 3, 500
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if inner.Info().Limits != have {
		t.Error("the inner device's limits changed")
	}
	if got := guard.Restrict(inner, gpu.Limits{}).Info().Limits; got != (gpu.Limits{OffsetAlign: have.OffsetAlign, TexelAlign: have.TexelAlign}) {
		t.Errorf("no limits: got %+v", got)
	}
	inner.Kernels = map[string]null.Kernel{"test/k": func(gpu.Dispatch, [][]byte) error { return nil }}
	h, err := dev.Alloc(128)
	if err != nil {
		t.Fatal(err)
	}
	m := null.Module("test/k", 0, spv.Binding{})
	d := gpu.Dispatch{Module: m, Bindings: []gpu.Binding{{Buffer: h}}, Groups: [3]uint32{1, 1, 1}}
	if err := inner.Submit([]gpu.Dispatch{d}); err != nil {
		t.Errorf("on the inner device: %v", err)
	}
	var le *gpu.LimitError
	if err := dev.Submit([]gpu.Dispatch{d}); !errors.As(err, &le) || le.Name != "MaxBinding" {
		t.Errorf("got %v, want a LimitError of MaxBinding", err)
	}
	d.Bindings[0].Size = 64
	if err := dev.Submit([]gpu.Dispatch{d}); err != nil {
		t.Errorf("within the limit: %v", err)
	}
}
