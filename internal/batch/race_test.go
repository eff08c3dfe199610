//go:build race

package batch

// raced says that the race detector is on, whose own memory a process takes too.
const raced = true
