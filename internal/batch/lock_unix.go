//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package batch

import (
	"errors"
	"os"
	"syscall"
)

// hasLocks says that lock can lock a file.
const hasLocks = true

// lock locks a file until it is closed, or the process ends. The error is errTaken if another process has the
// lock, or another file of this process. Any other error means that there are no locks.
func lock(f *os.File) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var locked error
	if err := conn.Control(func(fd uintptr) { locked = syscall.Flock(int(fd), syscall.LOCK_EX|syscall.LOCK_NB) }); err != nil {
		return err
	}
	if errors.Is(locked, syscall.EWOULDBLOCK) || errors.Is(locked, syscall.EINTR) {
		return errTaken
	}
	return locked
}
