package cpu

import "golang.org/x/sys/unix"

// noReserve keeps the system from setting swap space aside for all addresses.
const noReserve = unix.MAP_NORESERVE

// discard keeps the pages. Nothing that the system offers for private memory promises zeros
// in their place.
func discard([]byte) bool { return false }
