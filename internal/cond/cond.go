// Package cond waits with a bound: for a condition variable as long as a context lasts,
// and for a Close as long as it may take.
package cond

import (
	"context"
	"sync"
)

// Wait waits until c is signalled, or ctx ends. The caller holds c.L, and is
// without it meanwhile.
// Errors: ctx.Err().
func Wait(ctx context.Context, c *sync.Cond) error {
	stop := context.AfterFunc(ctx, func() {
		c.L.Lock()
		defer c.L.Unlock()
		c.Broadcast()
	})
	defer stop()
	if err := ctx.Err(); err != nil {
		return err
	}
	c.Wait()
	return ctx.Err()
}
