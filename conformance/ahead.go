package conformance

import (
	"context"
	"runtime"
)

// inOrder calls run for the jobs 0 to n-1, one after the other, with what prepare has made of
// each. It prepares jobs ahead, several at the same time, but at most one heavy job until run
// has returned for it. It ends with the error of run, or that of ctx.
//
// Heavy jobs take their place in the order of the jobs. Otherwise a later one could hold the
// place that an earlier one waits for, and run would wait for the earlier one for ever.
func inOrder[T any](ctx context.Context, n int, heavy func(i int) bool, prepare func(i int) T, run func(i int, p T) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	queue := make(chan chan T, runtime.GOMAXPROCS(0))
	place := make(chan struct{}, 1)
	go func() {
		for i := range n {
			if heavy(i) {
				select {
				case place <- struct{}{}:
				case <-ctx.Done():
					return
				}
			}
			made := make(chan T, 1)
			select {
			case queue <- made:
			case <-ctx.Done():
				return
			}
			go func() { made <- prepare(i) }()
		}
	}()
	for i := range n {
		var made chan T
		select {
		case made = <-queue:
		case <-ctx.Done():
			return ctx.Err()
		}
		select {
		case p := <-made:
			if err := run(i, p); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
		if heavy(i) {
			<-place
		}
	}
	return nil
}
