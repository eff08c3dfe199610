package handles

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/lathe-gpu/lathe/internal/errs"
)

func add[T any](t testing.TB, table *Table[T], v T) Handle {
	t.Helper()
	h, err := table.Add(v)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// refuses reports an error unless every use of h is ErrInvalidHandle.
func refuses[T any](t testing.TB, what string, table *Table[T], h Handle) {
	t.Helper()
	_, get := table.Get(h)
	_, pin := table.Pin(h)
	for use, err := range map[string]error{"get": get, "pin": pin, "free": table.Free(h)} {
		if !errors.Is(err, errs.ErrInvalidHandle) {
			t.Errorf("%s of a handle that is %s: got %v, want ErrInvalidHandle", use, what, err)
		}
	}
}

func TestTable(t *testing.T) {
	var released []string
	table := New(func(s string) { released = append(released, s) })
	a, b := add(t, table, "a"), add(t, table, "b")
	if v, err := table.Get(a); v != "a" || err != nil {
		t.Errorf("got %q, %v", v, err)
	}
	if table.Len() != 2 {
		t.Errorf("length %d, want 2", table.Len())
	}
	if err := table.Free(a); err != nil {
		t.Fatal(err)
	}
	refuses(t, "freed", table, a)
	c := add(t, table, "c") // in the slot of a
	if c.slot() != a.slot() || c == a {
		t.Errorf("%v after %v: want the same slot, another handle", c, a)
	}
	refuses(t, "freed, its slot in use", table, a)
	if v, err := table.Get(c); v != "c" || err != nil {
		t.Errorf("got %q, %v", v, err)
	}
	live := table.Live()
	slices.Sort(live)
	want := []Handle{b, c}
	slices.Sort(want)
	if !slices.Equal(live, want) || table.Len() != 2 {
		t.Errorf("live %v, length %d; want %v", live, table.Len(), want)
	}
	if !slices.Equal(released, []string{"a"}) {
		t.Errorf("released %v, want a", released)
	}
}

func TestInventedHandles(t *testing.T) {
	table := New[int](nil)
	refuses(t, "of an empty table", table, 1<<slotBits)
	h := add(t, table, 1)
	for _, bad := range []Handle{0, 1, math.MaxUint64, h + 1, h - 1, h + maxSlots, h - maxSlots, h &^ (1<<slotBits - 1) >> 1} {
		refuses(t, "invented", table, bad)
		if err := table.Unpin(bad); !errors.Is(err, errs.ErrInvalidHandle) {
			t.Errorf("unpin of %v: got %v, want ErrInvalidHandle", bad, err)
		}
	}
	if v, err := table.Get(h); v != 1 || err != nil {
		t.Errorf("the real handle: %v, %v", v, err)
	}
}

// A vacant slot holds the zero handle: it must not answer to it.
func TestZeroHandleOfVacantSlot(t *testing.T) {
	table := New[int](nil)
	if err := table.Free(add(t, table, 1)); err != nil {
		t.Fatal(err)
	}
	refuses(t, "zero", table, 0)
}

// Two tables fill the same slots, and neither knows the other's handles.
func TestForeignHandles(t *testing.T) {
	a, b := New[int](nil), New[int](nil)
	if a.ID() == b.ID() {
		t.Error("two tables with one identity")
	}
	for i := range 100 {
		ha, hb := add(t, a, i), add(t, b, i)
		if ha.slot() != hb.slot() {
			t.Fatalf("slots %d and %d: the test wants them equal", ha.slot(), hb.slot())
		}
		refuses(t, "foreign", a, hb)
		refuses(t, "foreign", b, ha)
	}
	if a.Len() != 100 || b.Len() != 100 {
		t.Errorf("lengths %d and %d, want 100", a.Len(), b.Len())
	}
}

func TestPinDefersRelease(t *testing.T) {
	released := 0
	table := New(func(int) { released++ })
	h := add(t, table, 7)
	for range 2 {
		if v, err := table.Pin(h); v != 7 || err != nil {
			t.Fatalf("pin: %v, %v", v, err)
		}
	}
	if err := table.Free(h); err != nil {
		t.Fatal(err)
	}
	refuses(t, "freed while pinned", table, h)
	if table.Len() != 0 || len(table.Live()) != 0 {
		t.Errorf("length %d, live %v; want none", table.Len(), table.Live())
	}
	other := add(t, table, 8)
	if other.slot() == h.slot() {
		t.Error("a pinned slot was given away")
	}
	for i := range 2 {
		if released != 0 {
			t.Fatalf("released with %d pins left", 2-i)
		}
		if err := table.Unpin(h); err != nil {
			t.Fatal(err)
		}
	}
	if released != 1 {
		t.Errorf("released %d times, want once", released)
	}
	if err := table.Unpin(h); !errors.Is(err, errs.ErrInvalidHandle) {
		t.Errorf("one unpin too many: %v", err)
	}
	if err := table.Unpin(other); !errors.Is(err, errs.ErrInvalidHandle) {
		t.Errorf("unpin of what was not pinned: %v", err)
	}
	if next := add(t, table, 9); next.slot() != h.slot() {
		t.Errorf("slot %d, want the freed %d", next.slot(), h.slot())
	}
}

// release may use the table: it is called without its lock.
func TestReleaseMayCallTable(t *testing.T) {
	var table *Table[int]
	var inner Handle
	table = New(func(v int) {
		if v > 0 {
			inner, _ = table.Add(v - 1)
		}
	})
	if err := table.Free(add(t, table, 1)); err != nil {
		t.Fatal(err)
	}
	if v, err := table.Get(inner); v != 0 || err != nil {
		t.Errorf("got %v, %v; want 0", v, err)
	}
}

// A handle is issued once in the life of the process.
func TestNeverReused(t *testing.T) {
	seen := map[Handle]bool{}
	tables := []*Table[int]{New[int](nil), New[int](nil)}
	for i := range 50000 {
		table := tables[i%2]
		h := add(t, table, i)
		if seen[h] {
			t.Fatalf("%v was issued twice", h)
		}
		seen[h] = true
		if err := table.Free(h); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFull(t *testing.T) {
	table := New[struct{}](nil)
	table.entries = make([]entry[struct{}], maxSlots-1, maxSlots) // as if that many were live; never touched, so no memory
	h := add(t, table, struct{}{})
	if h.slot() != maxSlots-1 {
		t.Errorf("slot %d, want the last", h.slot())
	}
	if _, err := table.Add(struct{}{}); !errors.Is(err, errs.ErrOutOfMemory) {
		t.Errorf("got %v, want ErrOutOfMemory", err)
	}
	if err := table.Free(h); err != nil {
		t.Fatal(err)
	}
	if again := add(t, table, struct{}{}); again == h {
		t.Error("the same handle again")
	}
}

func TestString(t *testing.T) {
	if s := Handle(7<<slotBits | 12).String(); s != "h12.7" {
		t.Errorf("got %s", s)
	}
}

// Any sequence of calls gives what a plain map gives.
func TestModel(t *testing.T) {
	type state struct {
		value int
		pins  int
		freed bool
	}
	rapid.Check(t, func(t *rapid.T) {
		released := map[int]int{}
		table := New(func(v int) { released[v]++ })
		model := map[Handle]*state{}
		var all []Handle // every handle ever issued
		next := 0
		pick := func(t *rapid.T) Handle {
			if len(all) == 0 || rapid.IntRange(0, 19).Draw(t, "invent") == 0 {
				return Handle(rapid.Uint64().Draw(t, "handle"))
			}
			return rapid.SampledFrom(all).Draw(t, "handle")
		}
		expect := func(t *rapid.T, op string, h Handle, err error, ok bool) {
			if ok && err != nil || !ok && !errors.Is(err, errs.ErrInvalidHandle) {
				t.Fatalf("%s %v: got %v, want success %v", op, h, err, ok)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				next++
				h, err := table.Add(next)
				if err != nil || model[h] != nil {
					t.Fatalf("add: %v, %v", h, err)
				}
				model[h] = &state{value: next}
				all = append(all, h)
			},
			"get": func(t *rapid.T) {
				h := pick(t)
				v, err := table.Get(h)
				s := model[h]
				ok := s != nil && !s.freed
				expect(t, "get", h, err, ok)
				if ok && v != s.value {
					t.Fatalf("get %v: got %d, want %d", h, v, s.value)
				}
			},
			"pin": func(t *rapid.T) {
				h := pick(t)
				v, err := table.Pin(h)
				s := model[h]
				ok := s != nil && !s.freed
				expect(t, "pin", h, err, ok)
				if ok {
					s.pins++
					if v != s.value {
						t.Fatalf("pin %v: got %d, want %d", h, v, s.value)
					}
				}
			},
			"unpin": func(t *rapid.T) {
				h := pick(t)
				s := model[h]
				ok := s != nil && s.pins > 0
				expect(t, "unpin", h, table.Unpin(h), ok)
				if ok {
					s.pins--
				}
			},
			"free": func(t *rapid.T) {
				h := pick(t)
				s := model[h]
				ok := s != nil && !s.freed
				expect(t, "free", h, table.Free(h), ok)
				if ok {
					s.freed = true
				}
			},
			"": func(t *rapid.T) {
				live := 0
				for h, s := range model {
					if !s.freed {
						live++
					}
					want := 0
					if s.freed && s.pins == 0 {
						want = 1
					}
					if released[s.value] != want {
						t.Fatalf("%v was released %d times, want %d", h, released[s.value], want)
					}
				}
				if table.Len() != live || len(table.Live()) != live {
					t.Fatalf("length %d, %d live handles, want %d", table.Len(), len(table.Live()), live)
				}
			},
		})
	})
}

// Goroutines that add, pin, free and use one another's handles: a handle gives
// its own value or an error, and every value is released once.
func TestConcurrent(t *testing.T) {
	const goroutines, rounds = 8, 3000
	type value struct {
		handle   atomic.Uint64
		released atomic.Int32
	}
	var made sync.Map
	table := New(func(v *value) { v.released.Add(1) })
	var shared [64]atomic.Uint64 // handles, many of them stale
	fail := make([]error, goroutines)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 1))
			for range rounds {
				v := &value{}
				h, err := table.Add(v)
				if err != nil {
					fail[g] = err
					return
				}
				v.handle.Store(uint64(h))
				made.Store(h, v)
				shared[rng.IntN(len(shared))].Store(uint64(h))

				other := Handle(shared[rng.IntN(len(shared))].Load())
				if got, err := table.Pin(other); err == nil {
					if Handle(got.handle.Load()) != other || got.released.Load() != 0 {
						fail[g] = fmt.Errorf("%v gave the value of %v, released %d times", other, Handle(got.handle.Load()), got.released.Load())
						return
					}
					if rng.IntN(2) == 0 {
						// Another goroutine may have freed it; only one can.
						if err := table.Free(other); err != nil && !errors.Is(err, errs.ErrInvalidHandle) {
							fail[g] = err
							return
						}
					}
					if got.released.Load() != 0 {
						fail[g] = fmt.Errorf("%v was released while pinned", other)
						return
					}
					if err := table.Unpin(other); err != nil {
						fail[g] = err
						return
					}
				} else if !errors.Is(err, errs.ErrInvalidHandle) {
					fail[g] = err
					return
				}
				if rng.IntN(3) == 0 {
					if err := table.Free(h); err != nil && !errors.Is(err, errs.ErrInvalidHandle) {
						fail[g] = err
						return
					}
				}
			}
		})
	}
	wg.Wait()
	if err := errors.Join(fail...); err != nil {
		t.Fatal(err)
	}
	for _, h := range table.Live() {
		if err := table.Free(h); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	made.Range(func(h, v any) bool {
		n++
		if got := v.(*value).released.Load(); got != 1 {
			t.Errorf("%v was released %d times, want once", h, got)
		}
		return true
	})
	if n != goroutines*rounds || table.Len() != 0 {
		t.Errorf("%d values, %d live; want %d, 0", n, table.Len(), goroutines*rounds)
	}
}

// Of many goroutines that free one handle, one succeeds.
func TestConcurrentFree(t *testing.T) {
	table := New[int](nil)
	for range 500 {
		h := add(t, table, 1)
		var ok atomic.Int32
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if table.Free(h) == nil {
					ok.Add(1)
				}
			})
		}
		wg.Wait()
		if ok.Load() != 1 {
			t.Fatalf("%d goroutines freed %v, want one", ok.Load(), h)
		}
	}
}

// Lookups on the hot path allocate nothing.
func TestNoAllocations(t *testing.T) {
	table := New[int](nil)
	h := add(t, table, 1)
	n := testing.AllocsPerRun(100, func() {
		_, _ = table.Get(h)
		_, _ = table.Pin(h)
		_ = table.Unpin(h)
	})
	if n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}
