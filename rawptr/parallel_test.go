package rawptr_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/lathe-gpu/lathe/rawptr"
)

// Goroutines that allocate, compute and free at the same time see their own memory only.
func TestParallel(t *testing.T) {
	d := open(t)
	ctx := context.Background()
	var all sync.WaitGroup
	for g := range 16 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 17))
			for round := range 12 {
				n := 1 + r.IntN(500)
				xs := random(r, n, -2, 2)
				x, err := d.Alloc(int64(4 * n))
				if err != nil {
					t.Error(err)
					return
				}
				y, err := d.Alloc(int64(4*n) + 8)
				if err != nil {
					t.Error(err)
					return
				}
				for _, err := range []error{
					d.CopyHtoD(ctx, x, bytesOf(xs)), d.Unary(rawptr.Neg, x, y+4, n), d.Binary(rawptr.Add, x, y+4, x, n), d.Binary(rawptr.LessEqual, x, y+4, y+4, n),
					d.Free(x), // before the work is done
				} {
					if err != nil {
						t.Errorf("goroutine %d, round %d: %v", g, round, err)
						return
					}
				}
				want := make([]float32, n+2)
				for i, v := range xs {
					want[i+1] = float32(truth(0 <= -v))
				}
				got := make([]byte, 4*n+8)
				if err := d.CopyDtoH(ctx, got, y); err != nil {
					t.Error(err)
					return
				}
				for i, v := range bytesOf(want) {
					if got[i] != v {
						t.Errorf("goroutine %d, round %d: byte %d of %d is %d (want %d)", g, round, i, len(got), got[i], v)
						return
					}
				}
				if err := d.CopyDtoH(ctx, got[:1], x); err == nil {
					t.Errorf("goroutine %d read what it had freed", g)
				}
				if err := d.Free(y); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// Goroutines that free one address at the same time: one of them succeeds, and a call that runs meanwhile
// succeeds or finds no allocation. It never finds another one's.
func TestFreeAtOnce(t *testing.T) {
	d := open(t)
	ctx := context.Background()
	for range 50 {
		p, next := put(t, d, []float32{1, 2}), put(t, d, []float32{7, 7})
		var freed sync.Map
		var all sync.WaitGroup
		for g := range 4 {
			all.Go(func() {
				if err := d.Free(p); err == nil {
					freed.Store(g, true)
				} else {
					wantInvalid(t, "Free", err)
				}
			})
			all.Go(func() {
				if err := d.Unary(rawptr.Neg, p, p, 2); err != nil {
					wantInvalid(t, "Neg", err)
				}
			})
		}
		all.Wait()
		count := 0
		freed.Range(func(any, any) bool { count++; return true })
		if count != 1 {
			t.Errorf("%d calls have freed one address", count)
		}
		got := make([]byte, 8)
		if err := d.CopyDtoH(ctx, got, next); err != nil || !bytes.Equal(got, bytesOf([]float32{7, 7})) {
			t.Errorf("the next allocation: %v, %v", got, err)
		}
		free(t, d, next)
	}
}

// Goroutines that change the same memory: calls of several steps take effect as a whole.
func TestSharedOutputs(t *testing.T) {
	d := open(t)
	const goroutines, rounds = 8, 25
	one, two, index := put(t, d, []float32{1}), put(t, d, []float32{1, 1}), put(t, d, []int32{0})
	table, sum, turned := put(t, d, []float32{0}), put(t, d, []float32{0, 0}), put(t, d, []float32{0, 0})
	x, y := put(t, d, []float32{1, 1}), put(t, d, []float32{2, 2})
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for range rounds {
				for _, err := range []error{
					d.ScatterAdd(table, index, one, 1, 1, 1),
					d.Saxpy(2, 1, two, 1, sum, 1),
					d.Sgemv(rawptr.NoTrans, 2, 1, 1, two, 2, one, 1, 1, turned, -1),
					d.Sswap(2, x, 1, y, 1),
				} {
					if err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	all.Wait()
	for name, got := range map[string][]float32{"ScatterAdd": get[float32](t, d, table, 1), "Saxpy": get[float32](t, d, sum, 2), "Sgemv": get[float32](t, d, turned, 2)} {
		for _, v := range got {
			if v != goroutines*rounds {
				t.Errorf("%s made %v (want %d)", name, got, goroutines*rounds)
			}
		}
	}
	if a, b := get[float32](t, d, x, 2), get[float32](t, d, y, 2); a[0]+b[0] != 3 || a[0] != a[1] || b[0] != b[1] {
		t.Errorf("Sswap left %v and %v (want 1 and 2)", a, b)
	}
}
