//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// maxRSS is the high-water mark that getrusage reports, in bytes.
func maxRSS(p *os.ProcessState) int64 {
	ru, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(ru.Maxrss)
	}
	return int64(ru.Maxrss) << 10
}
