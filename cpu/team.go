package cpu

import (
	"math"
	"sync/atomic"
	"time"
)

// Times in nanoseconds that say how the workgroups of a dispatch are divided.
const (
	// callTime is about how long a call of a kernel may take. No goroutine can be
	// interrupted in a call.
	callTime = 200_000
	// leastTime is about how long a call should take at least, since a call costs time too.
	leastTime = 5_000
	// shareTime is from when on work is divided among workers. It takes some time until
	// another worker is awake.
	shareTime = 20_000
	// sampleTime is up to when not every call is measured.
	sampleTime = 2_000
)

// team are the workers of a device. Worker 0 is the goroutine that executes the queue. The
// others are goroutines that wait until there is work for them.
type team struct {
	workers int
	device  *Device
	epoch   time.Time
	calls   uint32          // of worker 0, to measure some of them
	awake   []chan struct{} // for each worker but 0
	quit    chan struct{}
	job     job
}

// job is the dispatch that runs.
type job struct {
	kernel *kernel
	header []byte // of the frames
	total  uint64 // workgroups
	next   atomic.Uint64
	failed atomic.Bool
	err    error // of the worker that set failed

	// state is the number of workers besides worker 0 that take part. closed is added to
	// it when no other can join. The last one to leave then sends to done.
	state atomic.Int64
	done  chan struct{}
}

const closed = math.MinInt64

// init prepares a team for a device. The other workers begin with the first work for them.
func (t *team) init(d *Device, workers int) {
	t.workers, t.device, t.epoch = workers, d, time.Now()
	t.job.state.Store(closed)
	t.job.done = make(chan struct{}, 1)
	t.quit = make(chan struct{})
}

// close ends the other workers. No work may be left.
func (t *team) close() { close(t.quit) }

// join lets a worker take part, unless the job is closed.
func (j *job) join() bool {
	for {
		s := j.state.Load()
		if s < 0 {
			return false
		}
		if j.state.CompareAndSwap(s, s+1) {
			return true
		}
	}
}

// leave ends what join began.
func (j *job) leave() {
	if j.state.Add(-1) == closed {
		j.done <- struct{}{}
	}
}

// close lets no other worker join, and waits for those that take part.
func (j *job) close() {
	if j.state.Or(closed) != 0 {
		<-j.done
	}
}

// dispatch runs all workgroups of a dispatch. The caller is worker 0.
// Errors: ErrUnsupported (a trap).
func (t *team) dispatch(k *kernel, header []byte, total uint64) error {
	j := &t.job
	j.kernel, j.header, j.total, j.err = k, header, total, nil
	j.next.Store(0)
	j.failed.Store(false)
	if t.work(0) {
		j.close()
	}
	return j.err
}

// share wakes workers for the rest of a job, which takes about so many nanoseconds. It
// reports whether it woke any.
func (t *team) share(groups uint64, nanoseconds float64) bool {
	n := int(min(float64(t.workers-1), float64(groups-1), 2*nanoseconds/shareTime))
	if n <= 0 {
		return false
	}
	for w := len(t.awake) + 1; w <= n; w++ {
		c := make(chan struct{}, 1)
		t.awake = append(t.awake, c)
		go t.help(w, c)
	}
	t.job.state.Store(0)
	for _, c := range t.awake[:n] {
		select {
		case c <- struct{}{}:
		default: // it is on its way
		}
	}
	return true
}

// help is what the workers other than worker 0 do.
func (t *team) help(worker int, awake <-chan struct{}) {
	for {
		select {
		case <-awake:
		case <-t.quit:
			return
		}
		if t.job.join() {
			t.work(worker)
			t.job.leave()
		}
	}
}

// work runs workgroups of the job until none is left. It reports whether it has woken other
// workers.
func (t *team) work(worker int) (shared bool) {
	j := &t.job
	k := j.kernel
	in, err := t.device.instance(k, worker)
	if err != nil {
		j.fail(err)
		return false
	}
	t.device.mem.write(int64(in.frame), j.header)
	for first := true; !j.failed.Load() && !t.device.stopping.Load(); first = false {
		at, cost := j.next.Load(), k.nanoseconds()
		if at >= j.total {
			return shared
		}
		rest := j.total - at
		if worker == 0 && !shared && rest > 1 && cost*float64(rest) > shareTime {
			shared = t.share(rest, cost*float64(rest))
		}
		n := t.chunk(rest, cost, first, shared || worker > 0)
		if worker > 0 || shared {
			at = j.next.Add(n) - n
			if at >= j.total {
				return shared
			}
			n = min(n, j.total-at)
		} else {
			j.next.Store(at + n)
		}
		if worker == 0 && n == j.total && cost > 0 && cost*float64(n) < sampleTime {
			if t.calls++; t.calls%8 != 0 {
				if err := in.call(at, n); err != nil {
					j.fail(k.trapped(err))
				}
				return false
			}
		}
		begin := time.Since(t.epoch)
		err := in.call(at, n)
		took := time.Since(t.epoch) - begin
		if err != nil {
			j.fail(k.trapped(err))
			return shared
		}
		k.observe(float64(took), n)
		if took > callTime/2 {
			giveWay() // all threads may be in kernels
		}
	}
	return shared
}

// chunk is the number of workgroups for the next call of a kernel, when rest are left.
func (t *team) chunk(rest uint64, cost float64, first, shared bool) uint64 {
	if cost == 0 {
		return 1
	}
	n := rest
	switch {
	case shared:
		n = max(rest/uint64(2*t.workers), uint64(leastTime/cost))
	case first && rest >= 64:
		n = rest / 4 // the cost may be another one this time
	}
	return max(1, min(n, uint64(callTime/cost), rest))
}

// fail ends a job with an error. The first one counts.
func (j *job) fail(err error) {
	if j.failed.CompareAndSwap(false, true) {
		j.err = err
	}
}
