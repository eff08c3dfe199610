//go:build race

package lathe_test

// raced says that the race detector is on, under which sync.Pool forgets.
const raced = true
