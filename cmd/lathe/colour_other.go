//go:build !windows

package main

import "os"

// showsColours reports whether a terminal knows ANSI escape sequences.
func showsColours(*os.File) bool { return true }
