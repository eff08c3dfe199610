package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// showsColours reports whether a terminal knows ANSI escape sequences, and turns them on.
func showsColours(f *os.File) bool {
	var mode uint32
	h := windows.Handle(f.Fd())
	return windows.GetConsoleMode(h, &mode) == nil &&
		windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
