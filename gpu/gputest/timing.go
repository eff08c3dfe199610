package gputest

import (
	"errors"
	"sync"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
)

// log keeps the spans that a device reports, and has the clock for their times.
type log struct {
	start time.Time
	mu    sync.Mutex
	spans []gpu.Span
}

// now is the clock.
func (l *log) now() time.Duration { return time.Since(l.start) }

// sink keeps a span.
func (l *log) sink(s gpu.Span) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spans = append(l.spans, s)
}

// drain returns the spans so far and drops them.
func (l *log) drain() []gpu.Span {
	l.mu.Lock()
	defer l.mu.Unlock()
	spans := l.spans
	l.spans = nil
	return spans
}

// startTrace starts a trace, or skips the subtest if the device cannot trace.
func (e *env) startTrace() *log {
	e.Helper()
	l := &log{start: time.Now()}
	err := gpu.StartTrace(e.dev, l.now, l.sink)
	if errors.Is(err, gpu.ErrUnsupported) {
		e.Skipf("needs a device that tells times: %v", err)
	}
	e.must(err)
	return l
}

// checkTimes checks the rules for the spans of every trace. now is the time of the clock
// after the last span.
func (e *env) checkTimes(spans []gpu.Span, now time.Duration) {
	e.Helper()
	last := time.Duration(0)
	begun := map[uint64]time.Duration{} // begun is the begin of the first command of each batch.
	ended := map[uint64]time.Duration{} // ended is the end of the last command of each batch.
	for i, s := range spans {
		if s.Begin < 0 || s.End < s.Begin || s.End > now {
			e.Errorf("span %d: %+v at %v", i, s, now)
		}
		switch {
		case s.Kind == gpu.Submission:
			if first, ok := begun[s.Batch]; ok && (s.Begin > first || s.End < ended[s.Batch]) {
				e.Errorf("span %d: %+v; its commands ran from %v to %v", i, s, first, ended[s.Batch])
			}
		case s.Kind < gpu.Submission:
			if !e.dev.Info().Features.Timestamps {
				e.Errorf("span %d: %+v from a device without timestamps", i, s)
			}
			if s.Begin < last || s.Batch == 0 {
				e.Errorf("span %d: %+v begins before %v, the end of the one before, or is of no batch", i, s, last)
			}
			last = s.End
			if _, ok := begun[s.Batch]; !ok {
				begun[s.Batch] = s.Begin
			}
			ended[s.Batch] = s.End
		}
	}
}

// spansOf returns the spans of one kind.
func spansOf(spans []gpu.Span, kind gpu.SpanKind) []gpu.Span {
	var found []gpu.Span
	for _, s := range spans {
		if s.Kind == kind {
			found = append(found, s)
		}
	}
	return found
}

// testTrace checks that a gpu.Timer reports the work that it was given, in the same order
// and at possible times. It must report nothing before StartTrace, and nothing after the
// trace has ended.
func testTrace(e *env) {
	h := e.words(pattern(64, 1)...)
	e.must(e.dev.Submit([]gpu.Dispatch{e.affine(h, h, 64, 1, 1)}))
	wrong := gpu.StartTrace(e.dev, nil, func(gpu.Span) {})
	e.wantError("no clock", wrong, gpu.ErrInvalidArgument)
	l := e.startTrace()
	e.must(e.dev.Sync(e.ctx))
	l.drain()

	const rounds = 3
	for i := range rounds {
		e.must(e.dev.Write(e.ctx, h, 0, encode(pattern(64, 2))))
		list := []gpu.Dispatch{e.affine(h, h, 64, 3, 1), e.affine(h, h, 1, 2, 0), e.affine(h, h, 64, 1, 1)}
		for j := range list {
			list[j].Tag = uint64(10*i + j)
		}
		list[1].Groups = [3]uint32{1, 0, 1} // This launch has no workgroups, so it is not reported.
		e.must(e.dev.Submit(list))
		e.must(e.dev.Sync(e.ctx))
	}
	e.read(h, 256)
	spans := l.drain()
	e.checkTimes(spans, l.now())
	if e.dev.Info().Features.Timestamps {
		launches := spansOf(spans, gpu.Launch)
		if len(launches) != 2*rounds {
			e.Fatalf("%d launches reported, want %d", len(launches), 2*rounds)
		}
		for i, s := range launches {
			want := gpu.Span{Kind: gpu.Launch, Name: affineName, Groups: e.groups(64, 64), Tag: uint64(10*(i/2) + 2*(i%2)), Batch: s.Batch, Begin: s.Begin, End: s.End}
			if s != want {
				e.Errorf("launch %d: got %+v, want %+v", i, s, want)
			}
		}
	}
	if n := len(spansOf(spans, gpu.Submission)); n < rounds {
		e.Errorf("%d submissions reported, want %d or more", n, rounds)
	}
	for kind, want := range map[gpu.SpanKind]int64{gpu.Write: 256 * rounds, gpu.Read: 256} {
		sum := int64(0)
		for _, s := range spansOf(spans, kind) {
			sum += s.Bytes
		}
		if sum < want { // A device that wraps another may move more bytes.
			e.Errorf("%v: %d bytes reported, want %d", kind, sum, want)
		}
	}

	e.must(gpu.StartTrace(e.dev, nil, nil))
	e.must(e.dev.Submit([]gpu.Dispatch{e.affine(h, h, 64, 1, 1)}))
	e.must(e.dev.Sync(e.ctx))
	if spans := l.drain(); len(spans) > 0 {
		e.Errorf("reported after the end: %+v", spans)
	}
}

// testTraceConcurrent checks that every launch of several goroutines is reported once, by
// Close at the latest.
func testTraceConcurrent(e *env) {
	l := e.startTrace()
	const workers, turns = 4, 200
	err := parallel(workers, func(g int) error {
		h, err := e.dev.Alloc(256)
		for i := 0; i < turns && err == nil; i++ {
			d := e.affine(h, h, 64, 1, 1)
			d.Tag = uint64(1 + g*turns + i)
			err = e.dev.Submit([]gpu.Dispatch{d, d})
		}
		return err
	})
	e.must(err)
	timed := e.dev.Info().Features.Timestamps
	e.must(e.dev.Close())
	spans := l.drain()
	e.checkTimes(spans, l.now())
	seen := map[uint64]int{}
	next := make([]uint64, workers)
	for _, s := range spansOf(spans, gpu.Launch) {
		seen[s.Tag]++
		g := (s.Tag - 1) / turns
		if s.Tag < next[g] {
			e.Errorf("launch %d came after %d", s.Tag, next[g])
		}
		next[g] = s.Tag
	}
	for tag := uint64(1); timed && tag <= workers*turns; tag++ {
		if seen[tag] != 2 {
			e.Fatalf("launch %d was reported %d times, want twice", tag, seen[tag])
		}
	}
}
