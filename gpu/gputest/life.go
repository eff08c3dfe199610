package gputest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
)

// testCancelled checks that every call with a context refuses one that is done, and
// changes nothing.
func testCancelled(e *env) {
	cancelled, cancel := context.WithCancel(e.ctx)
	cancel()
	late, cancelLate := context.WithDeadline(e.ctx, time.Now().Add(-time.Hour))
	defer cancelLate()
	h := e.words(1, 2)
	for _, c := range []struct {
		ctx  context.Context
		want error
	}{{cancelled, context.Canceled}, {late, context.DeadlineExceeded}} {
		e.wantError("write", e.dev.Write(c.ctx, h, 0, encode([]uint32{9, 9})), c.want)
		e.wantError("read", e.dev.Read(c.ctx, h, 0, make([]byte, 8)), c.want)
		e.wantError("sync", e.dev.Sync(c.ctx), c.want)
		e.wantError("dispatch", gpu.DispatchCompute(c.ctx, e.dev, e.module(affineName).Code, []gpu.Handle{h, h}, encode([]uint32{2, 0, 0}), [3]uint32{1, 1, 1}), c.want)
	}
	e.compareWords("untouched", e.readWords(h, 2), []uint32{1, 2})
}

// testCancelledDuring checks that a cancelled wait returns early. The work and the device
// must go on.
func testCancelledDuring(e *env) {
	n := e.reach(1 << 16)
	h := e.words(pattern(n, 1)...)
	want := pattern(n, 1)
	const rounds = 100
	for range rounds {
		e.must(e.dev.Submit([]gpu.Dispatch{e.affine(h, h, n, 1, 1)}))
	}
	ctx, cancel := context.WithTimeout(e.ctx, time.Millisecond)
	defer cancel()
	if err := e.dev.Sync(ctx); err != nil { // The error is nil if the device was quicker.
		e.wantError("sync", err, context.DeadlineExceeded)
	}
	for i := range want {
		want[i] += rounds
	}
	part := make([]byte, 4)
	if err := e.dev.Read(ctx, h, 0, part); err != nil {
		e.wantError("read", err, context.DeadlineExceeded)
	}
	e.must(e.dev.Sync(e.ctx))
	e.compareWords("after all", e.readWords(h, n), want)
}

// testConcurrent checks that goroutines which share only the device do not affect one
// another.
func testConcurrent(e *env) {
	m := e.module(affineName)
	err := parallel(8, func(g int) error {
		for i := range 60 {
			n := 1 + (g*31+i*17)%500
			in := pattern(n, uint32(1000*g+i))
			src, err := e.dev.Alloc(int64(4 * n))
			if err != nil {
				return err
			}
			dst, err := e.dev.Alloc(int64(4 * n))
			if err != nil {
				return err
			}
			if err := e.dev.Write(e.ctx, src, 0, encode(in)); err != nil {
				return err
			}
			d := gpu.Dispatch{
				Module: m, Bindings: []gpu.Binding{{Buffer: src}, {Buffer: dst}},
				Params: encode([]uint32{uint32(n), 3, uint32(g)}), Groups: e.groups(n, 64),
			}
			if err := e.dev.Submit([]gpu.Dispatch{d}); err != nil {
				return err
			}
			if err := e.dev.Free(src); err != nil {
				return err
			}
			got := make([]byte, 4*n)
			if err := e.dev.Read(e.ctx, dst, 0, got); err != nil {
				return err
			}
			for j, v := range decode(got) {
				if want := in[j]*3 + uint32(g); v != want {
					return fmt.Errorf("goroutine %d, round %d, word %d: got %#x, want %#x", g, i, j, v, want)
				}
			}
			if err := e.dev.Free(dst); err != nil {
				return err
			}
			if i%20 == 0 {
				if err := e.dev.Sync(e.ctx); err != nil {
					return err
				}
			}
		}
		return nil
	})
	e.must(err)
}

// testConcurrentOneBuffer checks that dispatches of several goroutines on one buffer run
// one after the other.
func testConcurrentOneBuffer(e *env) {
	n := e.reach(1000)
	h := e.alloc(int64(4 * n))
	d := e.affine(h, h, n, 1, 1)
	e.must(parallel(8, func(int) error {
		for range 50 {
			if err := e.dev.Submit([]gpu.Dispatch{d}); err != nil {
				return err
			}
		}
		return nil
	}))
	got := e.readWords(h, n)
	want := make([]uint32, n)
	for i := range want {
		want[i] = 400
	}
	e.compareWords("after 400 increments", got, want)
}

func testClose(e *env) {
	n := e.reach(1 << 14)
	h := e.alloc(int64(4 * n))
	d := e.affine(h, h, n, 1, 1)
	for range 50 {
		e.must(e.dev.Submit([]gpu.Dispatch{d})) // Close waits for this work.
	}
	info := *e.dev.Info()
	e.must(e.dev.Close())
	e.must(e.dev.Close())
	if *e.dev.Info() != info {
		e.Error("Info changed at Close")
	}
	_, err := e.dev.Alloc(16)
	e.wantError("alloc", err, gpu.ErrClosed)
	e.wantError("free", e.dev.Free(h), gpu.ErrClosed)
	e.wantError("write", e.dev.Write(e.ctx, h, 0, []byte{1}), gpu.ErrClosed)
	e.wantError("read", e.dev.Read(e.ctx, h, 0, make([]byte, 1)), gpu.ErrClosed)
	e.wantError("submit", e.dev.Submit([]gpu.Dispatch{d}), gpu.ErrClosed)
	e.wantError("submit nothing", e.dev.Submit(nil), gpu.ErrClosed)
	e.wantError("sync", e.dev.Sync(e.ctx), gpu.ErrClosed)
}

// testCloseWhileBusy closes the device while other goroutines use it. Their calls must
// succeed or return ErrClosed.
func testCloseWhileBusy(e *env) {
	for range 5 {
		dev := e.openAnother()
		m := e.module(affineName)
		e.must(parallel(4, func(g int) error {
			for i := 0; e.ctx.Err() == nil; i++ {
				if g == 0 && i == 20 {
					if err := dev.Close(); err != nil {
						return err
					}
				}
				if err := useOnce(e.ctx, dev, gpu.Dispatch{
					Module: m, Params: encode([]uint32{16, 1, 1}), Groups: [3]uint32{1, 1, 1},
				}); err != nil {
					if errors.Is(err, gpu.ErrClosed) {
						return nil
					}
					return err
				}
			}
			return errors.New("a closed device still works")
		}))
	}
}

// useOnce makes each call of a Device once.
func useOnce(ctx context.Context, dev gpu.Device, d gpu.Dispatch) error {
	h, err := dev.Alloc(64)
	if err != nil {
		return err
	}
	d.Bindings = []gpu.Binding{{Buffer: h}, {Buffer: h}}
	if err := dev.Write(ctx, h, 0, make([]byte, 64)); err != nil {
		return err
	}
	if err := dev.Submit([]gpu.Dispatch{d}); err != nil {
		return err
	}
	if err := dev.Read(ctx, h, 0, make([]byte, 64)); err != nil {
		return err
	}
	if err := dev.Sync(ctx); err != nil {
		return err
	}
	return dev.Free(h)
}

// parallel runs f in n goroutines and returns their errors.
func parallel(n int, f func(g int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for g := range n {
		wg.Go(func() { errs[g] = f(g) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
