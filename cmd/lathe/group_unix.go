//go:build unix

package main

import (
	"fmt"
	"os"
	"os/user"
	"syscall"
)

// groupOf is the group that owns a file: its name, or its number where this
// system does not know a name.
func groupOf(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	id := fmt.Sprint(st.Gid)
	if g, err := user.LookupGroupId(id); err == nil {
		return g.Name
	}
	return id
}
