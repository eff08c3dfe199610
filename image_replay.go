package lathe

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"sync"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/session"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// mostReplayed is how many bytes all recorded chains have at most, and replayedStrips how many strips, if that is less. Larger pictures take so long
// that cheaper launches gain nothing.
const (
	mostReplayed   = 64 << 20
	replayedStrips = 4
)

// replays are the chains of strips that were recorded. A chain is recorded when the second strip of its calls and sizes comes, because
// most programs have one picture, and then the calls are compiled and tuned. It has memory of its own, so one
// picture at a time uses a recording. If two pictures come at the same time, there are two.
type replays struct {
	limit int   // of recordings
	room  int64 // bytes of all of them

	mu   sync.Mutex
	now  int       // how many strips have come
	list []*replay // the one that was used longest ago comes first
	held int64     // bytes of them
	seen []seen    // the one that came longest ago comes first
}

// seen is a chain that came before.
type seen struct {
	key   string
	never bool // It could not be recorded, or needs too much memory.
}

// replay is a recorded chain of calls on a strip.
type replay struct {
	key     string
	busy    bool
	used    int // when the last strip came that used it
	bytes   int64
	capture *session.Capture
	memory  []session.Tensor
	src     gpu.Handle
	made    gpu.Handle
	further [][]gpu.Handle // of each call
}

func newReplays(limit int, strip int64) *replays {
	return &replays{limit: limit, room: min(mostReplayed, replayedStrips*min(strip, mostReplayed))}
}

// replayKey is equal only for strips whose launches are the same. It reports false for chains that cannot be recorded.
func (j *imageJob) replayKey(s imageStrip) (string, bool) {
	ses := j.dev.session
	// A trace shows each call. Where calls are measured when they first run, another choice may come with any of them.
	if ses.Trace() != nil || ses.Measures() {
		return "", false
	}
	b := binary.LittleEndian.AppendUint64(nil, ses.Tuning().Version())
	for i, c := range s.calls {
		if !c.Spec().WritesAll { // It needs zeros, and there are the pixels of the picture before.
			return "", false
		}
		var ok bool
		from := len(b)
		if b, ok = spec.AppendKey(b, c); !ok {
			return "", false
		}
		b = binary.AppendUvarint(b, uint64(len(b)-from))
		b = appendDesc(b, j.part(s, i))
		for k := range j.further[i] {
			b = appendDesc(b, j.furtherDesc(s, i, k))
		}
	}
	return string(appendDesc(b, j.part(s, j.last()))), true
}

// appendDesc appends a description of a tensor to a key.
func appendDesc(b []byte, d tensor.Desc) []byte {
	b = append(b, byte(d.DType))
	for _, list := range [][]int{d.Shape, d.Strides} {
		b = binary.AppendUvarint(b, uint64(len(list)))
		for _, n := range list {
			b = binary.AppendVarint(b, int64(n))
		}
	}
	return b
}

// replay returns a recording of the chain for a strip, or nil if there is none. The caller gives it back with release, or drops it.
func (j *imageJob) replay(ctx context.Context, s imageStrip) *replay {
	p := j.dev.replays
	if p == nil || p.limit == 0 || len(s.calls) == 0 {
		return nil
	}
	n := int64(2)
	if j.inPlace() {
		n = 1
	}
	size := n * j.most(s)
	for i := range j.further {
		for k := range j.further[i] {
			size += j.furtherDesc(s, i, k).Bytes()
		}
	}
	if size > p.room {
		return nil
	}
	key, ok := j.replayKey(s)
	if !ok {
		return nil
	}
	r, old := p.borrow(key, size)
	for _, o := range old {
		o.close(j.dev.session)
	}
	if r == nil || r.capture != nil {
		return r
	}
	err := r.record(ctx, j, s, int(n))
	if err == nil && p.grow(r, r.capture.Bytes()) {
		return r
	}
	p.drop(j.dev.session, r, ctx.Err() == nil)
	return nil
}

// borrow returns an idle recording, or one that is to be recorded, or nil. It returns the recordings that have to go for it, too.
func (p *replays) borrow(key string, size int64) (r *replay, old []*replay) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now++
	if at := slices.IndexFunc(p.list, func(r *replay) bool { return r.key == key && !r.busy }); at >= 0 {
		r = p.list[at]
		r.busy, r.used = true, p.now
		p.list = append(slices.Delete(p.list, at, at+1), r)
		return r, nil
	}
	at := slices.IndexFunc(p.seen, func(s seen) bool { return s.key == key })
	if at < 0 {
		if p.seen = append(p.seen, seen{key: key}); len(p.seen) > 4*p.limit {
			p.seen = slices.Delete(p.seen, 0, 1)
		}
		return nil, nil
	}
	was := p.seen[at]
	p.seen = append(slices.Delete(p.seen, at, at+1), was)
	if was.never {
		return nil, nil
	}
	if old = p.evict(p.limit-1, p.room-size); len(p.list) >= p.limit || p.held+size > p.room {
		return nil, old
	}
	r = &replay{key: key, busy: true, used: p.now, bytes: size}
	p.list = append(p.list, r)
	p.held += size
	return r, old
}

// evict takes recordings out of the list until there are at most n, of so many bytes. Those in use stay, and so do those of the last strips: if there are more sizes
// than room, they would drive each other out, and to record takes longer than to make the calls. The caller holds mu.
func (p *replays) evict(n int, bytes int64) (old []*replay) {
	p.list = slices.DeleteFunc(p.list, func(r *replay) bool {
		if r.busy || p.now-r.used <= 4*p.limit || len(p.list)-len(old) <= n && p.held <= bytes {
			return false
		}
		p.held -= r.bytes
		old = append(old, r)
		return true
	})
	return old
}

// grow counts memory that a recording has besides its pictures. It reports false if that is too much.
func (p *replays) grow(r *replay, bytes int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held+bytes > p.room {
		return false
	}
	r.bytes += bytes
	p.held += bytes
	return true
}

// release says that the result of a recording was read.
func (p *replays) release(r *replay) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r.busy = false
}

// drop forgets a recording that could not be made or run. never says not to try again.
func (p *replays) drop(ses *session.Session, r *replay, never bool) {
	p.mu.Lock()
	p.list = slices.DeleteFunc(p.list, func(x *replay) bool { return x == r })
	p.held -= r.bytes
	for i := range p.seen {
		if p.seen[i].key == r.key {
			p.seen[i].never = p.seen[i].never || never
		}
	}
	p.mu.Unlock()
	r.close(ses)
}

// close frees the memory of a recording. Work that was submitted still finishes.
func (r *replay) close(ses *session.Session) {
	if r.capture != nil {
		_ = r.capture.Close() // it fails on a device that is closed or lost, which every later call says
	}
	for _, t := range r.memory {
		_ = ses.Free(t) // as above
	}
	r.capture, r.memory = nil, nil
}

// record records the chain for a strip, on memory for n pictures.
func (r *replay) record(ctx context.Context, j *imageJob, s imageStrip, n int) (err error) {
	ses := j.dev.session
	alloc := func(size int64) (h gpu.Handle, err error) {
		t, err := ses.NewTensor(tensor.Contiguous(tensor.U8, int(size)))
		if err == nil {
			r.memory, h = append(r.memory, t), t.Buffer.Handle()
		}
		return h, err
	}
	bufs := make([]gpu.Handle, n)
	for i := range bufs {
		if bufs[i], err = alloc(j.most(s)); err != nil {
			return err
		}
	}
	r.src, r.further = bufs[0], make([][]gpu.Handle, len(s.calls))
	for i := range j.further {
		for k := range j.further[i] {
			h, err := alloc(j.furtherDesc(s, i, k).Bytes())
			if err != nil {
				return err
			}
			r.further[i] = append(r.further[i], h)
		}
	}
	if r.capture, err = ses.NewCapture(1); err != nil {
		return err
	}
	if err := r.capture.Begin(ctx); err != nil {
		return err
	}
	r.made, err = j.chainOn(ctx, r.capture.Session, s, bufs[0], 0, bufs, func(i int) (list []exec.Operand, release func(), err error) {
		for k, h := range r.further[i] {
			list = append(list, exec.Operand{Buffer: h, Desc: j.furtherDesc(s, i, k)})
		}
		return list, func() {}, nil
	})
	if err != nil {
		return errors.Join(err, r.capture.Abort())
	}
	return r.capture.End(ctx, 0)
}

// errNotReplayed says that a recording could not run, so that the calls have to be made.
var errNotReplayed = errors.New("not replayed")

// run computes a strip by a recording.
// Errors: errNotReplayed, those of upload, of a further picture that cannot be read, and of the device.
func (r *replay) run(ctx context.Context, j *imageJob, s imageStrip, upload func(gpu.Handle) error) error {
	if err := upload(r.src); err != nil {
		return err
	}
	for i := range r.further {
		for k, h := range r.further[i] {
			rows, err := j.furtherRows(j.further[i][k], s.further[i][k])
			if err == nil {
				err = j.dev.GPU().Write(ctx, h, 0, rows)
			}
			if err != nil {
				return applyError(err)
			}
		}
	}
	ok, err := r.capture.Replay(ctx, 0, nil)
	if err == nil && ok {
		return nil
	}
	if end := errs.Context(ctx); end != nil {
		return applyError(end)
	}
	return errors.Join(errNotReplayed, err)
}
