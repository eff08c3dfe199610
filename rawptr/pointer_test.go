package rawptr

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/session"
)

// The map of addresses agrees with a plain list, whatever is allocated and freed, and does not keep what was freed.
func TestAddressMap(t *testing.T) {
	var a addresses
	r := rand.New(rand.NewPCG(29, 30))
	live, was := map[Ptr]int64{}, map[Ptr]int64{}
	var all []Ptr
	for range 4000 {
		if r.IntN(2) == 0 || len(live) == 0 {
			size := 1 + r.Int64N(1<<20)
			p, err := a.add(size, session.Tensor{})
			if err != nil {
				t.Fatal(err)
			}
			live[p], was[p] = size, size
			all = append(all, p)
		} else if p := all[r.IntN(len(all))]; (a.remove(p) != nil) != (live[p] > 0) {
			t.Fatalf("remove of %#x, of %d bytes", p, live[p])
		} else {
			delete(live, p)
		}
		p := all[r.IntN(len(all))]
		at := p + r.Uint64N(2*uint64(was[p])) // in the block, or in the gap after it
		if b := a.find(at); (b != nil) != (at-p < uint64(live[p])) || b != nil && b.base != p {
			t.Fatalf("%#x: found %+v (%d bytes at %#x)", at, b, live[p], p)
		}
	}
	if have := len(a.blocks) - a.freed; have != len(live) || len(a.blocks) > 2*len(live)+2 {
		t.Errorf("%d blocks, %d of them freed (want %d)", len(a.blocks), a.freed, len(live))
	}
}

// When addresses are used up, that is an error, and none is given twice.
func TestAddressesUsedUp(t *testing.T) {
	before := nextAddress.Load()
	defer nextAddress.Store(before)
	const room = 1 << 20
	nextAddress.Store(math.MaxUint64 - room + 1)
	last := Ptr(0)
	for range 100 {
		p, err := reserve(1)
		if errors.Is(err, errs.ErrOutOfMemory) {
			if last == 0 {
				t.Error("no address was left")
			}
			return
		}
		if err != nil || p <= last {
			t.Fatalf("%#x, %v, after %#x", p, err, last)
		}
		last = p
		if _, err := reserve(math.MaxInt64); !errors.Is(err, errs.ErrOutOfMemory) {
			t.Errorf("an allocation of all addresses: %v", err)
		}
	}
	t.Error("addresses do not end")
}
