// Package guard wraps a gpu.Device and finds mistakes in the work that runs on it. New
// puts guard zones around every buffer and reports writes to them. Restrict gives a
// device smaller limits, so that plans for smaller devices can be tested on it.
package guard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/spv"
)

// ErrViolated says that something wrote outside a buffer. The text of the error names the
// buffer, the bytes, and the dispatches since the last check.
var ErrViolated = errors.New("guard zone violated")

// pattern fills guard zones. As a float of any width, it is an unlikely number. Its bytes
// differ, so that a zone that was copied to a wrong offset is found.
var pattern = []byte{0xC5, 0x3A, 0xD7, 0x5C, 0xA9, 0x35, 0xE2, 0x96}

const (
	// minZone is the least size of a guard zone in bytes.
	minZone = 1024
	// atOnce is the size in bytes up to which a buffer is read in one call with both its
	// zones. A second call would cost more than the bytes.
	atOnce = 64 << 10
	// maxLabels is how many dispatches since a check are remembered by name.
	maxLabels = 16
)

// Device is a gpu.Device whose buffers are between guard zones in the buffers of another
// device. Read checks the zones of the buffer that it reads. Free checks the zones of the
// buffer, and frees the buffer even if it finds something. Sync and Close check the zones
// of every buffer. A call returns an error for each zone that was written to. Each error
// is returned once. New makes a Device. Methods of any other Device return ErrNotInitialized.
type Device struct {
	inner gpu.Device // nil: no method can work
	none  error      // why inner is nil. It is nil too if New did not make the Device
	info  gpu.Info
	zone  int64
	align int64

	// mu is held for reading while a call uses buffers. It is held for writing while a
	// buffer is freed or zones are checked.
	mu      sync.RWMutex
	buffers map[gpu.Handle]*buffer

	labels struct {
		sync.Mutex
		// since are the labels of the dispatches since the last check of all zones.
		since []string
		// more is the number of dispatches beyond maxLabels.
		more int
	}
}

// buffer is a buffer between guard zones.
type buffer struct {
	// size is the size of the buffer in bytes, without zones.
	size int64
	// total is the size of the inner buffer in bytes.
	total int64
	mu    sync.Mutex
	// texels says that the buffer was bound as a storage texel buffer. All of its last
	// texel may then be written.
	texels bool
}

// New wraps inner. Close closes inner too. If inner is nil, the methods return
// ErrInvalidArgument.
func New(inner gpu.Device) *Device {
	if errs.Nil(inner) {
		return &Device{none: fmt.Errorf("guard: %w: no device", gpu.ErrInvalidArgument)}
	}
	d := &Device{inner: inner, info: *inner.Info(), buffers: map[gpu.Handle]*buffer{}}
	l := &d.info.Limits
	d.align = max(l.OffsetAlign, l.TexelAlign, 16)
	d.zone = (minZone + d.align - 1) / d.align * d.align
	l.MaxBuffer = max(l.MaxBuffer-2*d.zone-d.align, 0)
	return d
}

// ready returns an error if there is no inner device.
func (d *Device) ready() error {
	switch {
	case d != nil && d.inner != nil:
		return nil
	case d != nil && d.none != nil:
		return d.none
	}
	return fmt.Errorf("guard: %w: a Device that New did not make", gpu.ErrNotInitialized)
}

// Info describes the inner device. MaxBuffer is smaller by the size of the zones. Without an
// inner device the Info is empty.
func (d *Device) Info() *gpu.Info {
	if d.ready() != nil {
		return &gpu.Info{}
	}
	return &d.info
}

// Alloc makes a zero-filled buffer between guard zones.
func (d *Device) Alloc(size int64) (gpu.Handle, error) {
	if err := d.ready(); err != nil {
		return 0, err
	}
	if err := gpu.CheckSize(&d.info, size); err != nil {
		return 0, err
	}
	b := &buffer{size: size, total: d.zone + (size+d.align-1)/d.align*d.align + d.zone}
	h, err := d.inner.Alloc(b.total)
	if err != nil {
		return 0, err
	}
	for _, z := range d.zones(b) {
		// The padding is zero already, and a write from the middle of a word is slow on
		// some devices.
		z.from, z.zeros = z.from+z.zeros, 0
		if err := d.restore(h, z); err != nil {
			return 0, errors.Join(err, d.inner.Free(h))
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.buffers[h] = b
	return h, nil
}

// zone is the range of bytes from..to-1 of an inner buffer. Nobody may write there,
// except zeros into the first zeros bytes.
type zone struct{ from, to, zeros int64 }

// zones are the two guard zones of b. The second begins with the padding of the
// buffer. The padding is the rest of the last word that holds a byte of the buffer. If
// the buffer was bound as a storage texel buffer, it is the rest of the last texel.
// Shaders write words and texels, so they may write zeros into the padding.
func (d *Device) zones(b *buffer) [2]zone {
	b.mu.Lock()
	defer b.mu.Unlock()
	unit := int64(4)
	if b.texels {
		unit = 16
	}
	return [2]zone{{from: 0, to: d.zone}, {from: d.zone + b.size, to: b.total, zeros: (b.size+unit-1)/unit*unit - b.size}}
}

// fill returns the bytes of a zone that nobody has written to.
func (z zone) fill() []byte {
	p := make([]byte, z.to-z.from)
	for i := range min(len(p), len(pattern)) {
		p[i] = pattern[(z.from+int64(i))%int64(len(pattern))]
	}
	for n := len(pattern); n < len(p); n *= 2 { // each round doubles the number of patterns
		copy(p[n:], p[:n])
	}
	clear(p[:z.zeros])
	return p
}

// padding reports whether byte i of the zone may hold v because it is padding. It may
// hold zero, or what was there before all of a texel was written.
func (z zone) padding(i int, v byte) bool {
	return int64(i) < z.zeros && (v == 0 || v == pattern[(z.from+int64(i))%int64(len(pattern))])
}

// restore fills a zone of an inner buffer.
func (d *Device) restore(h gpu.Handle, z zone) error {
	return d.inner.Write(context.Background(), h, z.from, z.fill())
}

// find returns the buffer of h. The caller holds mu. For an unknown handle it returns the
// error of the inner device, because that may be ErrClosed or ErrDeviceLost.
func (d *Device) find(h gpu.Handle) (*buffer, error) {
	if b := d.buffers[h]; b != nil {
		return b, nil
	}
	if err := d.inner.Write(context.Background(), h, 0, nil); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("guard: %w: %v was not allocated here", gpu.ErrInvalidHandle, h)
}

// Free checks the buffer's zones and then frees the buffer, even if the check finds
// something.
func (d *Device) Free(h gpu.Handle) error {
	if err := d.ready(); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	b, err := d.find(h)
	if err != nil {
		return err
	}
	violated := d.check(context.Background(), h, b)
	if err := d.inner.Free(h); err != nil {
		return errors.Join(err, violated)
	}
	delete(d.buffers, h)
	return violated
}

// Write copies data into the buffer.
func (d *Device) Write(ctx context.Context, h gpu.Handle, offset int64, data []byte) error {
	if err := d.ready(); err != nil {
		return err
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	b, err := d.find(h)
	if err != nil {
		return err
	}
	if err := gpu.CheckRange("write", b.size, offset, len(data)); err != nil {
		return err
	}
	return d.inner.Write(ctx, h, d.zone+offset, data)
}

// Read copies from the buffer, then checks its zones.
func (d *Device) Read(ctx context.Context, h gpu.Handle, offset int64, dst []byte) error {
	if err := d.ready(); err != nil {
		return err
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	b, err := d.find(h)
	if err != nil {
		return err
	}
	if err := gpu.CheckRange("read", b.size, offset, len(dst)); err != nil {
		return err
	}
	if b.total <= atOnce {
		all := make([]byte, b.total)
		if err := d.inner.Read(ctx, h, 0, all); err != nil {
			return err
		}
		copy(dst, all[d.zone+offset:])
		return d.checkBytes(h, b, all)
	}
	if err := d.inner.Read(ctx, h, d.zone+offset, dst); err != nil {
		return err
	}
	return d.check(ctx, h, b)
}

// Poison fills the buffer with bytes 0xFF. They are NaN in every float type and −1 in
// every signed integer type. So a test can see which elements a kernel has not written.
func (d *Device) Poison(ctx context.Context, h gpu.Handle) error {
	if err := d.ready(); err != nil {
		return err
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	b, err := d.find(h)
	if err != nil {
		return err
	}
	const chunk = 1 << 20
	ones := bytes.Repeat([]byte{0xFF}, int(min(b.size, chunk)))
	for off := int64(0); off < b.size; off += chunk {
		if err := d.inner.Write(ctx, h, d.zone+off, ones[:min(b.size-off, chunk)]); err != nil {
			return err
		}
	}
	return nil
}

// Submit checks the dispatches with the sizes of the buffers without zones. It moves
// their ranges behind the first zone and submits them to the inner device.
func (d *Device) Submit(list []gpu.Dispatch) error {
	if err := d.ready(); err != nil {
		return err
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	moved, err := d.moved(list)
	if err != nil {
		return err
	}
	if err := d.inner.Submit(moved); err != nil {
		return err
	}
	var few [8]string
	labels := few[:0]
	for i := range list {
		labels = append(labels, gpu.Label(list[i].Module))
	}
	d.note(labels)
	return nil
}

// moveRange turns the range of binding slot into the same range of the inner buffer. The
// range has passed the checks.
func (d *Device) moveRange(m *gpu.Binding, mod *spv.Module, slot uint32) {
	b := d.buffers[m.Buffer]
	var span int64
	for i := range mod.Bindings {
		decl := &mod.Bindings[i]
		if decl.Slot != slot {
			continue
		}
		// As on every device, a shader may read the rest of the last unit, here in the zone.
		span = max(span, m.Span(decl, b.size))
		if decl.Kind == spv.StorageTexel {
			b.mu.Lock()
			b.texels = true
			b.mu.Unlock()
		}
	}
	m.Size = span
	if m.Size == 0 { // The range is empty. A size of 0 would include the zone.
		m.Offset = b.total
		return
	}
	m.Offset += d.zone
}

// size returns the size of a buffer without zones.
func (d *Device) size(h gpu.Handle) (int64, error) {
	if b := d.buffers[h]; b != nil {
		return b.size, nil
	}
	return 0, fmt.Errorf("guard: %w: %v", gpu.ErrInvalidHandle, h)
}

// Sync waits for all work, then checks every zone.
func (d *Device) Sync(ctx context.Context) error {
	if err := d.ready(); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.inner.Sync(ctx); err != nil {
		return err
	}
	return d.checkAll(ctx)
}

// StartTrace calls StartTrace of the inner device. Its spans include reads and writes of
// guard zones.
func (d *Device) StartTrace(now func() time.Duration, sink func(gpu.Span)) error {
	if err := d.ready(); err != nil {
		return err
	}
	return gpu.StartTrace(d.inner, now, sink)
}

// Close checks every zone and closes the inner device.
func (d *Device) Close() error {
	if err := d.ready(); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	var violated error
	if err := d.inner.Sync(context.Background()); err == nil {
		violated = d.checkAll(context.Background())
	}
	clear(d.buffers)
	return errors.Join(violated, d.inner.Close())
}

// checkAll checks the zones of all buffers.
func (d *Device) checkAll(ctx context.Context) error {
	var all []error
	hs := make([]gpu.Handle, 0, len(d.buffers))
	for h := range d.buffers {
		hs = append(hs, h)
	}
	slices.Sort(hs) // Handles sort by their generation, so this is the order of allocation.
	for _, h := range hs {
		if err := d.check(ctx, h, d.buffers[h]); err != nil {
			all = append(all, err)
		}
	}
	d.labels.Lock()
	d.labels.since, d.labels.more = nil, 0
	d.labels.Unlock()
	return errors.Join(all...)
}

// check reads the zones of a buffer and returns an error for those that were written to.
// It restores them.
func (d *Device) check(ctx context.Context, h gpu.Handle, b *buffer) error {
	if b.total <= atOnce {
		all := make([]byte, b.total)
		if err := d.inner.Read(ctx, h, 0, all); err != nil {
			return err
		}
		return d.checkBytes(h, b, all)
	}
	zones := d.zones(b)
	var got [2][]byte
	for i, z := range zones {
		got[i] = make([]byte, z.to-z.from)
		if err := d.inner.Read(ctx, h, z.from, got[i]); err != nil {
			return err
		}
	}
	return d.compareZones(h, b, zones, got)
}

// checkBytes is check for a buffer that has been read together with its zones.
func (d *Device) checkBytes(h gpu.Handle, b *buffer, all []byte) error {
	zones := d.zones(b)
	return d.compareZones(h, b, zones, [2][]byte{all[zones[0].from:zones[0].to], all[zones[1].from:zones[1].to]})
}

// compareZones returns an error for zones that were written to, and restores them.
func (d *Device) compareZones(h gpu.Handle, b *buffer, zones [2]zone, found [2][]byte) error {
	var all []error
	for i, z := range zones {
		want, got := z.fill(), found[i]
		if bytes.Equal(got, want) {
			continue
		}
		first, count := int64(-1), 0
		for k := range got {
			if got[k] != want[k] && !z.padding(k, got[k]) {
				if count++; first < 0 {
					first = z.from + int64(k)
				}
			}
		}
		if count == 0 {
			continue
		}
		where := fmt.Sprintf("%d bytes before its start", d.zone-first)
		if i == 1 {
			where = fmt.Sprintf("%d bytes past its end", first-d.zone-b.size)
		}
		all = append(all, fmt.Errorf("guard: buffer %v of %d bytes: %w: %d bytes changed, the first %s (got % x, want % x), by one of: %s",
			h, b.size, ErrViolated, count, where, clip(got, first-z.from), clip(want, first-z.from), d.suspects()))
		if err := d.restore(h, z); err != nil {
			return errors.Join(append(all, err)...)
		}
	}
	return errors.Join(all...)
}

// clip returns up to eight bytes from index i on.
func clip(b []byte, i int64) []byte { return b[i:min(i+8, int64(len(b)))] }

// suspects lists the dispatches since the last check of all zones.
func (d *Device) suspects() string {
	d.labels.Lock()
	defer d.labels.Unlock()
	if len(d.labels.since) == 0 {
		return "no dispatch since the last check"
	}
	s := strings.Join(d.labels.since, ", ")
	if d.labels.more > 0 {
		s += fmt.Sprintf(" and %d more dispatches", d.labels.more)
	}
	return s
}
