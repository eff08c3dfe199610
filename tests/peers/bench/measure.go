package main

import measure "github.com/lathe-gpu/lathe/internal/bench"

// ratio is how many times as long as a the sample b takes.
func ratio(b, a measure.Sample) float64 { return float64(b.Median()) / float64(a.Median()) }

// bestRatio is ratio by the fastest run of each: what is left when the machine
// is busy with other things.
func bestRatio(b, a measure.Sample) float64 { return float64(b.At(0)) / float64(a.At(0)) }
