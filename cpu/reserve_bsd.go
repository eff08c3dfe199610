//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package cpu

// noReserve is not needed: addresses without access take no memory.
const noReserve = 0

// discard keeps the pages. Nothing that these systems offer for private memory promises
// zeros in their place.
func discard([]byte) bool { return false }
