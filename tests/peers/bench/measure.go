package main

import (
	"fmt"
	"runtime"
	"slices"
	"time"
)

// sample is the time of one thing measured several times.
type sample []time.Duration

// median is the middle of the measurements.
func (s sample) median() time.Duration { return s.at(0.5) }

// at is the quantile q of the measurements.
func (s sample) at(q float64) time.Duration {
	if len(s) == 0 {
		return 0
	}
	t := slices.Sorted(slices.Values(s))
	return t[int(q*float64(len(t)-1)+0.5)]
}

// String is the median with the middle half of the measurements as a spread.
func (s sample) String() string {
	return fmt.Sprintf("%s ±%s", show(s.median()), show((s.at(0.75)-s.at(0.25))/2))
}

// show prints a duration with three digits.
func show(d time.Duration) string {
	switch v := float64(d); {
	case d >= 10*time.Second:
		return fmt.Sprintf("%.1f s", v/1e9)
	case d >= time.Second:
		return fmt.Sprintf("%.2f s", v/1e9)
	case d >= 100*time.Millisecond:
		return fmt.Sprintf("%.0f ms", v/1e6)
	case d >= time.Millisecond:
		return fmt.Sprintf("%.2f ms", v/1e6)
	case d >= time.Microsecond:
		return fmt.Sprintf("%.1f µs", v/1e3)
	}
	return fmt.Sprintf("%d ns", d.Nanoseconds())
}

// interleave times the functions in turns, so that whatever else the machine
// does falls on all of them alike: one untimed round, then rounds until the
// budget is spent, at least three and at most limit. The garbage of one
// function is collected before the next one starts.
func interleave(budget time.Duration, limit int, fs ...func() error) ([]sample, error) {
	out := make([]sample, len(fs))
	start := time.Now()
	for round := 0; round <= limit; round++ {
		for i, f := range fs {
			runtime.GC()
			t := time.Now()
			if err := f(); err != nil {
				return nil, err
			}
			if round > 0 {
				out[i] = append(out[i], time.Since(t))
			}
		}
		if round >= 3 && time.Since(start) > budget {
			break
		}
	}
	return out, nil
}

// ratio is how many times as long as a the sample b takes.
func ratio(b, a sample) float64 { return float64(b.median()) / float64(a.median()) }

// bestRatio is ratio by the fastest run of each: what is left when the machine
// is busy with other things.
func bestRatio(b, a sample) float64 { return float64(b.at(0)) / float64(a.at(0)) }

// over is the time of one of n things done in each measurement.
func (s sample) over(n int) sample {
	out := make(sample, len(s))
	for i, d := range s {
		out[i] = d / time.Duration(n)
	}
	return out
}
