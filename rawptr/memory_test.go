package rawptr_test

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/rawptr"
)

func TestCopies(t *testing.T) {
	d := open(t)
	p := alloc(t, d, 100)
	zeros := make([]byte, 100)
	if err := d.CopyDtoH(t.Context(), zeros, p); err != nil || !bytes.Equal(zeros, make([]byte, 100)) {
		t.Fatalf("a new allocation has %v, %v; want zeros", zeros, err)
	}
	// At any byte, up to the last one.
	for _, at := range []uint64{0, 1, 3, 50, 97} {
		want := []byte{byte(at) + 1, 2, 3}
		got := make([]byte, 3)
		if err := d.CopyHtoD(t.Context(), p+at, want); err != nil {
			t.Fatal(err)
		}
		if err := d.CopyDtoH(t.Context(), got, p+at); err != nil || !bytes.Equal(got, want) {
			t.Errorf("at %d: got %v, %v; want %v", at, got, err, want)
		}
	}
	q := alloc(t, d, 64)
	if err := d.CopyDtoD(q+1, p+97, 3); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 5)
	if err := d.CopyDtoH(t.Context(), got, q); err != nil || !bytes.Equal(got, []byte{0, 98, 2, 3, 0}) {
		t.Errorf("copied on the device: %v, %v", got, err)
	}
	wantInvalid(t, "an overlapping copy", d.CopyDtoD(p+1, p, 3))
	wantInvalid(t, "a copy of less than nothing", d.CopyDtoD(q, p, -1))
	wantInvalid(t, "a copy past the end", d.CopyDtoD(q, p+98, 3))
	if err := d.CopyDtoD(0, 1, 0); err != nil {
		t.Errorf("a copy of nothing: %v", err)
	}
	free(t, d, p, q)
}

// What is in no allocation is an error, and nothing is an argument of no operation.
func TestForeignAddresses(t *testing.T) {
	d, other := nowhere(t), nowhere(t)
	p, foreign := alloc(t, d, 64), alloc(t, other, 64)
	old := alloc(t, d, 64)
	free(t, d, old)
	b := make([]byte, 1)
	for name, bad := range map[string]rawptr.Ptr{
		"0": 0, "1": 1, "one past the end": p + 64, "below the start": p - 1, "freed": old, "inside a freed one": old + 8,
		"of another device": foreign, "the last address": math.MaxUint64,
	} {
		wantInvalid(t, "read at "+name, d.CopyDtoH(t.Context(), b, bad))
		wantInvalid(t, "write at "+name, d.CopyHtoD(t.Context(), bad, b))
		wantInvalid(t, "free of "+name, d.Free(bad))
		wantInvalid(t, "input "+name, d.Unary(rawptr.Exp, bad, p, 1))
		wantInvalid(t, "output "+name, d.Unary(rawptr.Exp, p, bad, 1))
		if err := d.CopyDtoH(t.Context(), nil, bad); err != nil {
			t.Errorf("nothing read at %s: %v", name, err)
		}
		if err := d.CopyHtoD(t.Context(), bad, nil); err != nil {
			t.Errorf("nothing written at %s: %v", name, err)
		}
	}
	wantInvalid(t, "free inside an allocation", d.Free(p+4))
	wantInvalid(t, "a range past the end", d.CopyHtoD(t.Context(), p+60, make([]byte, 5)))
	wantInvalid(t, "elements between elements", d.Unary(rawptr.Exp, p+2, p+32, 1))
	for _, n := range []int64{0, -1, math.MinInt64} {
		_, err := d.Alloc(n)
		wantInvalid(t, "a wrong size", err)
	}
	_, err := d.Alloc(1 << 40)
	wantError(t, "a size beyond the limit", err, errs.ErrLimit)
	_, err = d.Alloc(4 << 30)
	if err != nil {
		t.Error(err)
	}
	_, err = d.Alloc(4 << 30)
	wantError(t, "more than there is", err, errs.ErrOutOfMemory)
	if _, err := d.Alloc(1); err != nil {
		t.Errorf("after that: %v", err)
	}
}

// Addresses are not used again, and there is room between them.
func TestAddresses(t *testing.T) {
	d := nowhere(t)
	last := rawptr.Ptr(0)
	for i := range 1000 {
		size := 1 + i*37
		p := alloc(t, d, size)
		if p < last || p%256 != 0 {
			t.Fatalf("allocation %d is at %#x, below %#x", i, p, last)
		}
		last = p + uint64(size) + uint64(max(size, 1<<16))
		if i%3 > 0 {
			free(t, d, p)
		}
	}
}

// Of a million random addresses near some allocations, each names the byte that a plain list of the
// allocations says, or none.
func TestRandomAddresses(t *testing.T) {
	d := nowhere(t)
	r := rand.New(rand.NewPCG(1, 2))
	type area struct {
		at   rawptr.Ptr
		data []byte
	}
	var live, freed []area
	for i := range 64 {
		a := area{data: make([]byte, 1+r.IntN(3000))}
		for k := range a.data {
			a.data[k] = byte(r.Uint32())
		}
		a.at = alloc(t, d, len(a.data))
		if err := d.CopyHtoD(t.Context(), a.at, a.data); err != nil {
			t.Fatal(err)
		}
		if i%4 == 3 {
			free(t, d, a.at)
			freed = append(freed, a)
			continue
		}
		live = append(live, a)
	}
	first, end := live[0].at-1<<17, live[len(live)-1].at+1<<17
	all := append(append([]area(nil), live...), freed...)
	got := make([]byte, 1)
	for range 1_000_000 {
		var p rawptr.Ptr
		switch near := all[r.IntN(len(all))]; r.IntN(4) {
		case 0:
			p = first + r.Uint64N(end-first)
		case 1:
			p = r.Uint64()
		default:
			p = near.at + r.Uint64N(2*uint64(len(near.data))) - uint64(len(near.data))/2
		}
		var want []byte
		for _, a := range live {
			if p >= a.at && p-a.at < uint64(len(a.data)) {
				want = a.data[p-a.at:][:1]
			}
		}
		got[0] = 0
		err := d.CopyDtoH(context.Background(), got, p)
		switch {
		case want == nil && err == nil:
			t.Fatalf("%#x is in no allocation, and %d was read there", p, got[0])
		case want != nil && (err != nil || got[0] != want[0]):
			t.Fatalf("%#x: got %d, %v; want %d", p, got[0], err, want[0])
		}
	}
}

// slow holds up a Submit until it is told to go on.
type slow struct {
	*null.Device
	begun, goOn chan struct{}
	once        sync.Once
}

func (s *slow) pause() {
	s.once.Do(func() {
		close(s.begun)
		<-s.goOn
	})
}

// Write waits as a device does that has no room.
func (s *slow) Write(ctx context.Context, h gpu.Handle, offset int64, data []byte) error {
	s.pause()
	return s.Device.Write(ctx, h, offset, data)
}

// Free during a call leaves the call its memory. The address is invalid at once, and the memory is
// released when the call ends.
func TestFreeDuringCall(t *testing.T) {
	dev := &slow{Device: null.NewRecorder(nil), begun: make(chan struct{}), goOn: make(chan struct{})}
	d := over(t, dev)
	before := dev.Allocated()
	p := alloc(t, d, 1<<20)
	done := make(chan error)
	go func() { done <- d.CopyHtoD(context.Background(), p+5, []byte{1, 2, 3}) }()
	<-dev.begun
	free(t, d, p)
	wantInvalid(t, "a second free", d.Free(p))
	wantInvalid(t, "a call after Free", d.CopyHtoD(t.Context(), p, []byte{1}))
	if got := dev.Allocated() - before; got != 1<<20 {
		t.Errorf("%d bytes are allocated while the call runs (want %d)", got, 1<<20)
	}
	// Other memory can be had meanwhile.
	free(t, d, alloc(t, d, 16))
	close(dev.goOn)
	if err := <-done; err != nil {
		t.Errorf("the call: %v", err)
	}
	if got := dev.Allocated() - before; got != 0 {
		t.Errorf("%d bytes are left after the call", got)
	}
}

// A new allocation is zero beside what was written to it, also where freed memory is used again.
func TestZerosBesideOutput(t *testing.T) {
	d := open(t)
	const n = 29
	x := put(t, d, make([]float32, n))
	for round := range 100 {
		old := put(t, d, random(rand.New(rand.NewPCG(21, 22)), n+2, 3, 4))
		free(t, d, old)
		y := alloc(t, d, 4*(n+2))
		if err := d.Unary(rawptr.Exp, x, y+4, n); err != nil {
			t.Fatal(err)
		}
		got := get[float32](t, d, y, n+2)
		if got[0] != 0 || got[n+1] != 0 || got[1] != 1 || got[n] != 1 {
			t.Fatalf("round %d: %v (want zeros around ones)", round, got)
		}
		free(t, d, y)
	}
}
