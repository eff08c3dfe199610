package main

import (
	"github.com/lathe-gpu/lathe/imageio"
	_ "github.com/lathe-gpu/lathe/imageio/avif" // the command reads and writes AVIF
	"github.com/lathe-gpu/lathe/internal/avif"
)

// unwritten returns an error if an output shall be AVIF, by a flag, and this program has no codec for it.
func unwritten(flag, value, format string) error {
	if f, _ := imageio.ParseFormat(format); f != imageio.AVIF {
		return nil
	}
	if err := avif.Available(); err != nil {
		return usage("%s %s: %v", flag, value, err)
	}
	return nil
}

// parseQuality reads --quality. 0 means that each format has its own.
func parseQuality(q *int) (int, error) {
	if q == nil {
		return 0, nil
	}
	if *q < 1 || *q > 100 {
		return 0, usage("--quality is %d; it must be from 1 to 100", *q)
	}
	return *q, nil
}
