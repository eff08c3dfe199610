package device

import (
	"sync"
	"time"
)

// closer bounds a close. Calls of a driver cannot be interrupted, so the close runs
// on a goroutine of its own, and its caller waits no longer than asked. The zero
// closer is ready for use.
type closer struct {
	start   sync.Once
	done    chan struct{} // closed when shut has returned
	deliver sync.Once
	err     error // of shut; valid once done is closed
}

// close starts shut the first time it is called, and waits until shut has returned,
// but no longer than timeout. A negative timeout is no bound. The first close that
// sees the end of shut returns the error of shut, later ones return nil. When the
// time is over before, close returns what late returns, and a later call waits again.
func (c *closer) close(timeout time.Duration, shut, late func() error) error {
	c.start.Do(func() {
		c.done = make(chan struct{})
		go func() {
			defer close(c.done)
			c.err = shut()
		}()
	})
	if timeout < 0 {
		<-c.done
		return c.result()
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-c.done:
		return c.result()
	case <-timer.C:
		return late()
	}
}

// result is the error of shut the first time, and nil after that.
func (c *closer) result() (err error) {
	c.deliver.Do(func() { err = c.err })
	return err
}
