package gputest

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/lathe-gpu/lathe/gpu"
)

// testPreparedFree frees lists that another goroutine changes and submits. Each call works, or is
// ErrClosed, and what was submitted runs.
func testPreparedFree(e *env) {
	const n = 64
	h := e.alloc(4 * n)
	x := e.affine(h, h, n, 1, 1)
	var runs uint32
	for k := range 300 {
		p := e.prepare(x, x, x)
		done := make(chan error, 1)
		go func() {
			for range 40 {
				if err := p.Set(0, x); err != nil {
					done <- err
					return
				}
				if err := p.Submit(); err != nil {
					done <- err
					return
				}
				runs++
			}
			done <- nil
		}()
		for range k % 23 {
			runtime.Gosched()
		}
		e.must(p.Free())
		if err := <-done; err != nil {
			e.wantError("after free", err, gpu.ErrClosed)
		}
		e.wantError("submit", p.Submit(), gpu.ErrClosed)
	}
	want := make([]uint32, n)
	for i := range want {
		want[i] = 3 * runs
	}
	e.compareWords("what was submitted", e.readWords(h, n), want)
}

// testPreparedSets replaces all dispatches of a list at the same time, from several goroutines,
// while another one submits it. No change is lost.
func testPreparedSets(e *env) {
	const n, count, rounds = 64, 6, 30
	var hs []gpu.Handle
	var list []gpu.Dispatch
	zero := e.alloc(4 * n)
	for range count {
		h := e.alloc(4 * n)
		hs = append(hs, h)
		list = append(list, e.affine(zero, h, n, 1, 0))
	}
	p := e.prepare(list...)
	for round := range uint32(rounds) {
		next := make([]gpu.Dispatch, count)
		for i := range next {
			next[i] = e.affine(zero, hs[i], n, 1, round*100+uint32(i)+1)
		}
		e.must(parallel(count+1, func(g int) error {
			if g == count {
				return p.Submit()
			}
			return errors.Join(p.Set(g, list[g]), p.Set(g, next[g]))
		}))
		e.must(p.Submit())
		for i, h := range hs {
			want := make([]uint32, n)
			for j := range want {
				want[j] = round*100 + uint32(i) + 1
			}
			e.compareWords(fmt.Sprintf("round %d, dispatch %d", round, i), e.readWords(h, n), want)
		}
	}
	e.must(p.Free())
}
