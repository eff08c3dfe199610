package device

import (
	"context"
	"sync"
)

// wait waits until c is signalled or ctx ends. The caller holds c.L, which is
// released during the wait.
// Errors: ctx.Err().
func wait(ctx context.Context, c *sync.Cond) error {
	if ctx.Done() == nil { // it never ends
		c.Wait()
		return nil
	}
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
