//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package batch

import (
	"errors"
	"os"
)

// hasLocks says that lock can lock a file.
const hasLocks = false

// lock returns an error: there are no locks.
func lock(*os.File) error { return errors.ErrUnsupported }
