package gputest

import (
	"errors"
	"fmt"

	"github.com/lathe-gpu/lathe/gpu"
)

// prepare prepares a list on the device.
func (e *env) prepare(list ...gpu.Dispatch) gpu.Prepared {
	e.Helper()
	p, err := gpu.Prepare(e.dev, list)
	e.must(err)
	return p
}

// testPrepared checks that submissions of a prepared list are those of the list, in order with
// all other calls.
func testPrepared(e *env) {
	const n = 97
	a, b := e.words(pattern(n, 1)...), e.alloc(4*n)
	list := []gpu.Dispatch{e.affine(a, b, n, 3, 1), e.affine(b, a, n, 1, 5), e.affine(a, a, n, 7, 0)}
	p := e.prepare(list...)
	want := pattern(n, 1)
	e.compareWords("prepare runs nothing", e.readWords(a, n), want)
	for i := range list { // the device has a copy
		clear(list[i].Params)
		clear(list[i].Bindings)
		list[i].Groups = [3]uint32{}
	}
	step := func() {
		for i := range want {
			want[i] = (want[i]*3 + 1 + 5) * 7
		}
	}
	for range 40 { // more than a device has in flight
		e.must(p.Submit())
		step()
	}
	e.compareWords("many submissions", e.readWords(a, n), want)
	e.must(e.dev.Write(e.ctx, a, 0, encode(pattern(n, 2))))
	want = pattern(n, 2)
	e.must(p.Submit())
	step()
	e.must(e.dev.Submit([]gpu.Dispatch{e.affine(a, a, n, 1, 9)})) // between two submissions
	for i := range want {
		want[i] += 9
	}
	e.must(p.Submit())
	step()
	e.compareWords("among other work", e.readWords(a, n), want)
	e.must(p.Submit())
	e.must(p.Free()) // while it may run
	step()
	e.compareWords("freed", e.readWords(a, n), want)
	e.wantError("submit after free", p.Submit(), gpu.ErrClosed)
	e.wantError("set after free", p.Set(0, e.affine(a, a, n, 1, 1)), gpu.ErrClosed)
	e.must(p.Free())
	empty := e.prepare()
	e.must(empty.Submit())
	e.must(empty.Free())
	none := e.affine(a, a, n, 2, 2)
	none.Groups[1] = 0
	p = e.prepare(none)
	e.must(p.Submit())
	e.compareWords("no groups", e.readWords(a, n), want)
	e.must(p.Free())
}

// testPreparedLong prepares a list that is longer than what a device takes at once, on new
// buffers, which count as zero.
func testPreparedLong(e *env) {
	n, length := e.reach(300), 3000
	a, b := e.alloc(int64(4*n)), e.alloc(int64(4*n))
	var list []gpu.Dispatch
	for i := range length {
		from, to := a, b
		if i%2 == 1 {
			from, to = b, a
		}
		list = append(list, e.affine(from, to, n, 1, uint32(i%7)))
	}
	p := e.prepare(list...)
	sum := uint32(0)
	for i := range length {
		sum += uint32(i % 7)
	}
	want := make([]uint32, n)
	for range 3 {
		e.must(p.Submit())
		for i := range want {
			want[i] += sum
		}
	}
	e.compareWords("long", e.readWords(a, n), want)
	e.must(p.Free())
}

// testPreparedSet replaces dispatches between submissions: other parameters, and other buffers.
func testPreparedSet(e *env) {
	const n = 61
	a, b, c := e.words(pattern(n, 1)...), e.alloc(4*n), e.alloc(4*n)
	p := e.prepare(e.affine(a, b, n, 2, 0), e.affine(b, c, n, 1, 1))
	check := func(what string, h gpu.Handle, scale, shift uint32) {
		e.Helper()
		want := pattern(n, 1)
		for i := range want {
			want[i] = want[i]*scale + shift
		}
		e.compareWords(what, e.readWords(h, n), want)
	}
	e.must(p.Submit())
	for k := range uint32(20) { // while earlier submissions may run
		e.must(p.Set(0, e.affine(a, b, n, k, 3)))
		e.must(p.Submit())
	}
	check("params", c, 19, 4)
	d := e.alloc(4 * n)
	e.must(p.Set(1, e.affine(b, d, n, 1, 2)))
	e.must(p.Submit())
	check("buffer", d, 19, 5)
	check("the old buffer", c, 19, 4)

	bad := e.affine(a, b, n, 9, 9)
	bad.Params = bad.Params[:4]
	e.wantError("short params", p.Set(0, bad), gpu.ErrInvalidArgument)
	e.wantError("number", p.Set(2, e.affine(a, b, n, 9, 9)), gpu.ErrInvalidArgument)
	e.wantError("number", p.Set(-1, e.affine(a, b, n, 9, 9)), gpu.ErrInvalidArgument)
	e.must(p.Submit())
	check("after errors", d, 19, 5)
	e.must(p.Free())
}

// testPreparedStale frees a buffer of a list. Its handle is never that of a later buffer, so the
// list does not run.
func testPreparedStale(e *env) {
	const n = 64
	a, b := e.words(pattern(n, 1)...), e.alloc(4*n)
	p := e.prepare(e.affine(a, b, n, 2, 0), e.affine(b, a, n, 1, 1))
	e.must(p.Submit())
	e.must(p.Submit())
	e.must(e.dev.Free(b)) // the work still finishes
	want := pattern(n, 1)
	for i := range want {
		want[i] = (want[i]*2+1)*2 + 1
	}
	c := e.words(pattern(n, 5)...) // it may get the memory of b
	e.wantError("freed buffer", p.Submit(), gpu.ErrInvalidHandle)
	e.compareWords("nothing has run", e.readWords(a, n), want)
	e.compareWords("the new buffer", e.readWords(c, n), pattern(n, 5))
	e.must(p.Set(0, e.affine(a, c, n, 2, 0)))
	e.must(p.Set(1, e.affine(c, a, n, 1, 1)))
	e.must(p.Submit())
	for i := range want {
		want[i] = want[i]*2 + 1
	}
	e.compareWords("with the new buffer", e.readWords(a, n), want)
	e.must(p.Free())
	if _, err := gpu.Prepare(nil, nil); !errors.Is(err, gpu.ErrInvalidArgument) {
		e.Errorf("no device: got error %v", err)
	}
}

// testPreparedConcurrent submits prepared lists from several goroutines, next to other work.
func testPreparedConcurrent(e *env) {
	n := e.reach(500)
	h := e.alloc(int64(4 * n))
	shared := e.prepare(e.affine(h, h, n, 1, 1), e.affine(h, h, n, 1, 1))
	m := e.module(affineName)
	e.must(parallel(6, func(g int) error {
		own, err := e.dev.Alloc(int64(4 * n))
		if err != nil {
			return err
		}
		d := gpu.Dispatch{Module: m, Bindings: []gpu.Binding{{Buffer: own}, {Buffer: own}}, Params: encode([]uint32{uint32(n), 1, 1}), Groups: e.groups(n, 64)}
		p, err := gpu.Prepare(e.dev, []gpu.Dispatch{d, d, d})
		if err != nil {
			return err
		}
		for i := range 30 {
			if err := errors.Join(p.Submit(), shared.Submit()); err != nil {
				return err
			}
			if i%5 == 0 {
				if err := e.dev.Submit([]gpu.Dispatch{d}); err != nil {
					return err
				}
			}
		}
		got := make([]byte, 4*n)
		if err := e.dev.Read(e.ctx, own, 0, got); err != nil {
			return err
		}
		for i, v := range decode(got) {
			if v != 96 {
				return fmt.Errorf("goroutine %d, word %d: got %d, want 96", g, i, v)
			}
		}
		return errors.Join(p.Free(), e.dev.Free(own))
	}))
	want := make([]uint32, n)
	for i := range want {
		want[i] = 360
	}
	e.compareWords("shared list", e.readWords(h, n), want)
}

// testPreparedClose closes a device that has prepared lists, some of which run.
func testPreparedClose(e *env) {
	dev := e.openAnother()
	h, err := dev.Alloc(256)
	e.must(err)
	p, err := gpu.Prepare(dev, []gpu.Dispatch{e.affine(h, h, 64, 1, 1)})
	e.must(err)
	for range 5 {
		e.must(p.Submit())
	}
	e.must(dev.Close())
	e.wantError("submit", p.Submit(), gpu.ErrClosed)
	_, err = gpu.Prepare(dev, nil)
	e.wantError("prepare", err, gpu.ErrClosed)
	if err := p.Free(); err != nil {
		e.wantError("free", err, gpu.ErrClosed)
	}
}
