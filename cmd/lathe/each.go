package main

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// each calls f with the numbers below n, several at a time, so that reading pictures and computing
// overlap. After ctx ends it begins no more of them.
func each(ctx context.Context, n int, f func(i int)) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0)+1, n) {
		workers.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				f(i)
			}
		})
	}
	workers.Wait()
}
