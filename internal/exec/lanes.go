package exec

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/lathe-gpu/lathe/gpu"
)

// statusLanes is how many submissions of Sequences with device checks have words in buffers of their own. So the checks of the oldest of
// them can be read while the others run.
const statusLanes = 4

// mostMarks bounds the buffers whose last writers are known.
const mostMarks = 1024

// lanes are the status words of Sequences. Submissions take them by turns. They are numbered, and marks say after which of them a
// buffer was written last, so that a read of it needs no check of a later one.
type lanes struct {
	lane [statusLanes]struct {
		statusWords
		oldest atomic.Uint64 // the number of the oldest submission whose checks were not read; 0 for none
	}
	used atomic.Bool // a Sequence with checks was submitted

	mu    sync.Mutex
	last  uint64 // the number of the last submission
	marks map[gpu.Handle]uint64
	// replays is how many replays of captures had been counted when the marks were made. A replay may write any buffer, so later ones end them.
	replays uint64
}

// begin numbers a submission, and returns its lane.
func (l *lanes) begin() (number uint64, lane *statusWords, oldest *atomic.Uint64) {
	l.used.Store(true)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	at := &l.lane[l.last%statusLanes]
	return l.last, &at.statusWords, &at.oldest
}

// wrote marks buffers that a Sequence has written. replays is how many replays had been counted before.
func (l *lanes) wrote(slots []slot, numbers []int, replays uint64) {
	if !l.used.Load() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.marks == nil {
		l.marks = map[gpu.Handle]uint64{}
	}
	if len(l.marks) > mostMarks || replays > l.replays { // a read of a buffer without a mark waits for more
		clear(l.marks)
	}
	l.replays = max(l.replays, replays)
	for _, n := range numbers {
		if replays < l.replays {
			delete(l.marks, slots[n].h)
			continue
		}
		l.marks[slots[n].h] = l.last
	}
}

// forget drops the mark of a buffer that something else writes.
func (l *lanes) forget(h gpu.Handle) {
	if !l.used.Load() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.marks, h)
}

// collect waits for checks, and returns the errors that they have found: those of submissions up to the last one that wrote a buffer, and all if that is
// not known, which is so if there was a replay since then.
func (l *lanes) collect(ctx context.Context, h gpu.Handle, replays uint64) error {
	if !l.used.Load() {
		return nil
	}
	l.mu.Lock()
	mark, known := l.marks[h]
	known = known && replays == l.replays
	l.mu.Unlock()
	var found []error
	for i := range l.lane {
		at := &l.lane[i]
		if oldest := at.oldest.Load(); oldest == 0 || known && oldest > mark {
			continue
		}
		if err := at.collect(ctx, &at.oldest); err != nil {
			found = append(found, err)
		}
	}
	return errors.Join(found...)
}

// close frees the words.
func (l *lanes) close() error {
	var err error
	for i := range l.lane {
		err = errors.Join(err, l.lane[i].close())
	}
	return err
}

// Forget says that something other than the Runner writes a buffer. A later Read of it waits for all device checks.
func (r *Runner) Forget(h gpu.Handle) {
	if r.ready() == nil {
		r.work.Load().lanes.forget(h)
	}
}
