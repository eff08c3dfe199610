package record

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
)

// Range is the memory of a tensor.
type Range struct {
	// Buffer is the buffer that it lies in, and Size the bytes of that.
	Buffer gpu.Handle
	Size   int64
	// Offset is where it begins, and Bytes how long it is.
	Offset, Bytes int64
}

// Move says that a replay uses To in place of From. Both have the same Bytes.
type Move struct{ From, To Range }

// toEnd reports whether the range reaches the end of its buffer.
func (r *Range) toEnd() bool { return r.Offset+r.Bytes == r.Size }

// end is where the units of memory end that the range lies in.
func (r *Range) end() int64 { return gpu.RoundUp(r.Offset + r.Bytes) }

// overlaps reports whether two ranges share a byte, in whole units.
func (r *Range) overlaps(o *Range) bool {
	return r.Buffer == o.Buffer && r.Bytes > 0 && o.Bytes > 0 && r.Offset < o.end() && o.Offset < r.end()
}

// aligned reports whether the range shares no unit of memory with what lies beside it, as far as bindings can tell.
func (r *Range) aligned(align int64) bool {
	return r.Offset%align == 0 && (r.toEnd() || r.end() == r.Offset+r.Bytes)
}

// movable is what a recording needs for replays on other memory, and with other params.
type movable struct {
	list     []gpu.Dispatch // with the params of the last Patch
	declared []Range
	number   map[Range]int // of each declared range
	replaced []uint64      // by number of a declared range: the last replay that replaced it
	replays  uint64        // counts those that replace some
	sites    []site
	written  []bool  // by number of a declared range: a launch may write it
	fixed    []fixed // all other memory of the launches
	patched  []patched
	version  uint64 // counts calls of Patch
}

// site is a binding that lies in a declared range.
type site struct{ dispatch, binding, declared int }

// fixed is memory that no replay replaces.
type fixed struct {
	Range
	written bool
}

// patched is a dispatch whose params were replaced, and when.
type patched struct {
	dispatch int
	version  uint64
}

// variant is a recording as a device has prepared it, with its declared ranges at these places.
type variant struct {
	at      []Range
	list    gpu.Prepared
	version uint64 // of movable, that the params are of
}

// mostVariants is how many variants of a recording are kept. A replay with one of them allocates nothing.
const mostVariants = 8

// Declare says that replays may use other memory in place of r. It comes between Begin and End.
// Errors: ErrCapture (nothing is recorded), ErrInvalidArgument (it overlaps another declared range, or shares a unit of memory with what lies beside it).
func (d *Device) Declare(r Range) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.rec == nil {
		return fmt.Errorf("record: bindable: %w: no capture has begun", errs.ErrCapture)
	}
	if !r.aligned(d.align) {
		return fmt.Errorf("record: bindable: %w: a view of %d bytes from byte %d on (want it to begin at a multiple of %d, and to end at one of %d or with its buffer)", errs.ErrInvalidArgument, r.Bytes, r.Offset, d.align, gpu.Unit)
	}
	for i := range d.rec.declared {
		if o := &d.rec.declared[i]; *o == r {
			return nil
		} else if o.overlaps(&r) {
			return fmt.Errorf("record: bindable: %w: it overlaps another tensor that is bindable", errs.ErrInvalidArgument)
		}
	}
	d.rec.declared = append(d.rec.declared, r)
	return nil
}

// Call is a dispatch of a recording, whose params can be replaced.
type Call struct {
	rec    *recording
	at     int
	module *gpu.Module
}

// Module is the shader of the dispatch.
func (c Call) Module() *gpu.Module { return c.module }

// Patchable returns the dispatch that f records, which must be one.
// Errors: ErrCapture (nothing is recorded), those of f, ErrInvalidArgument (it records no dispatch, or several).
func (d *Device) Patchable(f func() error) (Call, error) {
	d.mu.Lock()
	rec := d.rec
	if rec == nil {
		d.mu.Unlock()
		return Call{}, fmt.Errorf("record: patchable: %w: no capture has begun", errs.ErrCapture)
	}
	c := Call{rec: rec, at: len(rec.list)}
	d.mu.Unlock()
	if err := f(); err != nil {
		return Call{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.rec != rec || len(rec.list) != c.at+1 {
		return Call{}, fmt.Errorf("record: patchable: %w: the function has not recorded one dispatch", errs.ErrInvalidArgument)
	}
	rec.patchable, c.module = true, rec.list[c.at].Module // the list goes when another goroutine ends the recording
	return c, nil
}

// Patch replaces the params of a dispatch from the next replay on. It copies them.
// Errors: ErrCapture (its recording has not ended), ErrInvalidHandle (its graph was forgotten), ErrInvalidArgument (length).
func (d *Device) Patch(c Call, params []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c.rec != nil && !c.rec.ended {
		return fmt.Errorf("record: patch: %w: its capture has not ended", errs.ErrCapture)
	}
	if !slices.ContainsFunc(d.graphs, func(g *graph) bool { return g.rec == c.rec }) {
		return fmt.Errorf("record: patch: %w: its graph was forgotten", errs.ErrInvalidHandle)
	}
	m := c.rec.movable
	x := &m.list[c.at]
	if least, most := int(x.Module.ParamSize), (int(x.Module.ParamSize)+3)&^3; len(params) < least || len(params) > most {
		return fmt.Errorf("record: patch: %s: push constants: %w (got %d bytes, want %d)", gpu.Label(x.Module), errs.ErrInvalidArgument, len(params), most)
	}
	x.Params = append(x.Params[:0], params...)
	m.version++
	for i := range m.patched {
		if m.patched[i].dispatch == c.at {
			m.patched[i].version = m.version
			return nil
		}
	}
	m.patched = append(m.patched, patched{c.at, m.version})
	return nil
}

// settle finds the bindings of declared ranges in what was recorded.
// Errors: ErrInvalidArgument (a binding reaches across the border of a declared range).
func (r *recording) settle() error {
	if len(r.declared) == 0 && !r.patchable {
		return nil
	}
	m := &movable{list: r.list, declared: r.declared, number: map[Range]int{}, replaced: make([]uint64, len(r.declared)), written: make([]bool, len(r.declared))}
	for k, d := range r.declared {
		m.number[d] = k
	}
	seen := map[Range]int{}
	for i := range r.list {
		x := &r.list[i]
		for k := range x.Module.Bindings {
			decl := &x.Module.Bindings[k]
			if int(decl.Slot) >= len(x.Bindings) { // a device that only copies the list has not checked it
				continue
			}
			b := &x.Bindings[decl.Slot]
			writes := decl.Access.Writes()
			k, err := m.find(x.Module, b)
			if err != nil {
				return err
			}
			if k >= 0 {
				m.sites = append(m.sites, site{i, int(decl.Slot), k})
				m.written[k] = m.written[k] || writes
				continue
			}
			own := Range{Buffer: b.Buffer, Offset: b.Offset, Bytes: b.Size}
			if b.Size == 0 {
				own.Bytes = 1<<62 - b.Offset // up to the end of the buffer, wherever that is
			}
			at, ok := seen[own]
			if !ok {
				at, seen[own] = len(m.fixed), len(m.fixed)
				m.fixed = append(m.fixed, fixed{Range: own})
			}
			m.fixed[at].written = m.fixed[at].written || writes
		}
	}
	r.movable = m
	return nil
}

// find returns the number of the declared range that a binding lies in, or -1.
func (m *movable) find(module *gpu.Module, b *gpu.Binding) (int, error) {
	for k := range m.declared {
		r := &m.declared[k]
		if r.Buffer != b.Buffer {
			continue
		}
		end := b.Offset + b.Size
		if b.Size == 0 {
			end = gpu.RoundUp(r.Size)
		}
		switch {
		case b.Offset >= r.Offset && end <= r.end():
			return k, nil
		case b.Offset < r.end() && end > r.Offset:
			return -1, fmt.Errorf("record: end: %s: %w: a call uses a tensor that is bindable together with memory beside it", gpu.Label(module), errs.ErrInvalidArgument)
		}
	}
	return -1, nil
}

// place appends to at where a replay has the declared ranges. Its time grows with the number of those, and not with its square.
func (m *movable) place(at []Range, moves []Move, align int64) ([]Range, error) {
	if m == nil {
		m = &movable{}
	}
	at = append(at, m.declared...)
	m.replays++
	for i := range moves {
		v := &moves[i]
		k, ok := m.number[v.From]
		switch {
		case !ok:
			return at, fmt.Errorf("record: replay: replacement %d: %w: the tensor was not declared bindable when the graph was recorded", i, errs.ErrInvalidArgument)
		case m.replaced[k] == m.replays:
			return at, fmt.Errorf("record: replay: replacement %d: %w: a second one of the same tensor", i, errs.ErrInvalidArgument)
		case v.To.Bytes != v.From.Bytes:
			return at, fmt.Errorf("record: replay: replacement %d: %w: bytes (got %d, want %d)", i, errs.ErrInvalidArgument, v.To.Bytes, v.From.Bytes)
		case v.To.Offset%align != 0:
			return at, fmt.Errorf("record: replay: replacement %d: %w: a view that begins %d bytes into its buffer (want a multiple of %d)", i, errs.ErrInvalidArgument, v.To.Offset, align)
		case v.To.Bytes == 0 && v.To.Size > 0:
			return at, fmt.Errorf("record: replay: replacement %d: %w: an empty view (want an empty tensor)", i, errs.ErrInvalidArgument)
		}
		at[k], m.replaced[k] = v.To, m.replays
	}
	return at, nil
}

// disjoint returns an error if memory that a launch may write is also other memory of the recording.
func (m *movable) disjoint(at []Range) error {
	for k := range at {
		for j := range k {
			if at[k].overlaps(&at[j]) && (m.written[k] || m.written[j]) {
				return fmt.Errorf("record: replay: %w: two of the tensors overlap, and the graph writes one of them", errs.ErrInvalidArgument)
			}
		}
		if at[k] == m.declared[k] {
			continue
		}
		for j := range m.fixed {
			if f := &m.fixed[j]; at[k].overlaps(&f.Range) && (m.written[k] || f.written) {
				return fmt.Errorf("record: replay: %w: a tensor overlaps another one of the graph, and the graph writes one of them", errs.ErrInvalidArgument)
			}
		}
	}
	return nil
}

// moved returns the list with the declared ranges at other places.
func (m *movable) moved(at []Range) []gpu.Dispatch {
	list := slices.Clone(m.list)
	last := -1
	for _, s := range m.sites {
		if s.dispatch != last { // sites of a dispatch follow one another
			list[s.dispatch].Bindings = slices.Clone(list[s.dispatch].Bindings)
			last = s.dispatch
		}
		m.move(&list[s.dispatch].Bindings[s.binding], s.declared, at)
	}
	return list
}

// move moves a binding along with a declared range.
func (m *movable) move(b *gpu.Binding, declared int, at []Range) {
	from, to := &m.declared[declared], &at[declared]
	b.Buffer = to.Buffer
	b.Offset += to.Offset - from.Offset
	if b.Size == 0 && !to.toEnd() {
		b.Size = to.Offset + to.Bytes - b.Offset
	}
}

// variant returns the graph prepared for declared ranges at these places, with the params of the last Patch. It is the first
// of the variants then.
// Errors: ErrInvalidArgument (overlap), those of gpu.Prepare.
func (g *graph) variant(dev gpu.Device, at []Range) (*variant, error) {
	m := g.rec.movable
	i := slices.IndexFunc(g.variants, func(v *variant) bool { return slices.Equal(v.at, at) })
	if i < 0 {
		if err := m.disjoint(at); err != nil {
			return nil, err
		}
		list, err := gpu.Prepare(dev, m.moved(at))
		if err != nil {
			return nil, err
		}
		if i = len(g.variants); i < mostVariants {
			g.variants = append(g.variants, nil)
		} else {
			i--
			_ = g.variants[i].list.Free() // it fails on a device that is closed or lost, which the next call says
		}
		g.variants[i] = &variant{slices.Clone(at), list, m.version}
	}
	v := g.variants[i]
	copy(g.variants[1:], g.variants[:i])
	g.variants[0] = v
	if m == nil || v.version == m.version {
		return v, nil
	}
	for _, p := range m.patched {
		if p.version <= v.version {
			continue
		}
		x := gpu.CloneList(m.list[p.dispatch : p.dispatch+1])[0]
		for _, s := range m.sites {
			if s.dispatch == p.dispatch {
				m.move(&x.Bindings[s.binding], s.declared, at)
			}
		}
		if err := v.list.Set(p.dispatch, x); err != nil {
			return nil, err
		}
	}
	v.version = m.version
	return v, nil
}

// free frees the lists of all variants.
func (g *graph) free() error {
	var all []error
	for _, v := range g.variants {
		all = append(all, v.list.Free())
	}
	return errors.Join(all...)
}
