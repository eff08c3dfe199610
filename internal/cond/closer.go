package cond

import (
	"sync"
	"time"
)

// Closer closes what only calls that cannot be interrupted can close, such as those of
// a driver, and waits for them no longer than asked. The zero Closer is ready.
type Closer struct {
	begin sync.Once
	done  chan struct{} // closed once shut has returned
	once  sync.Once
	err   error // of shut, once done
}

// Close runs shut on a goroutine of its own, the first time it is called, and waits
// for it, but no longer than timeout unless that is negative. The error of shut is
// returned once; if time is over before shut is, what left returns is returned, and a
// later call waits again.
func (c *Closer) Close(timeout time.Duration, shut, left func() error) error {
	c.begin.Do(func() {
		c.done = make(chan struct{})
		go func() {
			defer close(c.done)
			c.err = shut()
		}()
	})
	if timeout < 0 {
		<-c.done
		return c.take()
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-c.done:
		return c.take()
	case <-timer.C:
		return left()
	}
}

func (c *Closer) take() (err error) {
	c.once.Do(func() { err = c.err })
	return err
}
