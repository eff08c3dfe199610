package errs

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// CallSite says where a program called packages of Lathe, as "main.go:12". The functions of these packages
// begin with one of the prefixes. It is empty if there is no such place.
func CallSite(prefixes ...string) string {
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		inside := f.Function == ""
		for _, p := range prefixes {
			inside = inside || strings.HasPrefix(f.Function, p)
		}
		if !inside {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
		if !more {
			return ""
		}
	}
}
