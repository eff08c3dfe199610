package chrome

import (
	"fmt"
	"math"
	"time"
)

// kind is a kind of track.
type kind struct {
	name string
	// first is the number of the first thread.
	first int
}

var (
	program     = kind{"program", 100} // of the host
	operations  = kind{"operations", 200}
	transfers   = kind{"transfers", 300}
	compiler    = kind{"compiler", 400}
	queue       = kind{"queue", 100} // of a device
	submissions = kind{"submissions", 200}
)

type trackKey struct {
	pid  int
	kind kind
}

// track is the threads that show spans of one kind. The spans of one thread must not
// overlap, so a track has as many threads as there are spans at the same time.
type track struct {
	trackKey
	// ends are the ends of the last spans of each thread.
	ends []time.Duration
}

// tid returns the number of the thread with an index in the track.
func (tr *track) tid(thread int) int { return tr.kind.first + thread }

// reserve reserves a thread until its end is known.
func (tr *track) reserve(thread int) { tr.ends[thread] = math.MaxInt64 }

// freeThread returns the index of the first thread of a track that is free from begin on.
// It names a new thread. The caller holds mu, and sets the end of the thread.
func (t *Trace) freeThread(pid int, k kind, begin time.Duration) (*track, int) {
	tr := t.tracks[trackKey{pid, k}]
	if tr == nil {
		tr = &track{trackKey: trackKey{pid, k}}
		t.tracks[tr.trackKey] = tr
	}
	for i, end := range tr.ends {
		if end <= begin {
			return tr, i
		}
	}
	tr.ends = append(tr.ends, 0)
	i := len(tr.ends) - 1
	name := k.name
	if i > 0 {
		name = fmt.Sprintf("%s %d", name, i+1)
	}
	t.write(event{Name: "thread_name", Phase: "M", PID: pid, TID: tr.tid(i), Args: map[string]any{"name": name}})
	t.write(event{Name: "thread_sort_index", Phase: "M", PID: pid, TID: tr.tid(i), Args: map[string]any{"sort_index": tr.tid(i)}})
	return tr, i
}

// writeSpan writes a span to the first free thread of a track.
func (t *Trace) writeSpan(pid int, k kind, name, cat string, begin, end time.Duration, args map[string]any) {
	tr, thread := t.freeThread(pid, k, begin)
	tr.ends[thread] = end
	t.complete(pid, tr.tid(thread), name, cat, begin, end, args)
}
