package bench

import (
	"fmt"
	"runtime"
	"slices"
	"time"
)

// Sample is the time of one thing, measured several times.
type Sample []time.Duration

// Median is the middle of the measurements, 0 if there are none.
func (s Sample) Median() time.Duration { return s.At(0.5) }

// At is the quantile q, in 0..1, of the measurements.
func (s Sample) At(q float64) time.Duration {
	if len(s) == 0 {
		return 0
	}
	t := slices.Sorted(slices.Values(s))
	return t[int(q*float64(len(t)-1)+0.5)]
}

// Spread is half the interquartile range.
func (s Sample) Spread() time.Duration { return (s.At(0.75) - s.At(0.25)) / 2 }

// Over divides the times by n, the number of things that each measurement did.
func (s Sample) Over(n int) Sample {
	out := make(Sample, len(s))
	for i, d := range s {
		out[i] = d / time.Duration(n)
	}
	return out
}

// times multiplies the times by a/b.
func (s Sample) times(a, b int64) Sample {
	out := make(Sample, len(s))
	for i, d := range s {
		out[i] = time.Duration(float64(d) * float64(a) / float64(b))
	}
	return out
}

// String is the median and the spread, such as "1.52 ms ±43.1 µs".
func (s Sample) String() string {
	return fmt.Sprintf("%s ±%s", Format(s.Median()), Format(s.Spread()))
}

// Format writes a duration with three digits, such as "1.52 ms".
func Format(d time.Duration) string {
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

// Interleave times the functions in turns, so that other work on the machine slows all of
// them alike. The first round is not timed. Then it makes rounds until the budget is spent,
// at least three and at most limit. It collects the garbage of one function before the next
// one starts.
// Errors: those of the functions.
func Interleave(budget time.Duration, limit int, fs ...func() error) ([]Sample, error) {
	out := make([]Sample, len(fs))
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

// Repeats returns how often a measurement should repeat something. The measurement then takes
// about the time want, so that the wait at its end hardly counts. f(times) returns a function
// that repeats it that often. The first call may compile, and does not count.
// Errors: those of f.
func Repeats(f func(times int) func() error, want time.Duration) (int, error) {
	if err := f(1)(); err != nil {
		return 0, err
	}
	for times := 1; ; times *= 2 {
		t := time.Now()
		if err := f(times)(); err != nil {
			return 0, err
		}
		if took := time.Since(t); took > want/2 || times >= 4096 {
			return max(1, int(float64(times)*float64(want)/float64(took))), nil
		}
	}
}
