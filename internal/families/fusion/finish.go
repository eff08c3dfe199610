package fusion

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// mostInlined is how many instructions the epilogues of a kernel may have, where drivers inline them at each store. Compilers take
// longer than a launch saves otherwise.
const mostInlined = 8000

// plan plans a call: the launches of the operation, of which those that store its result have the epilogue. Without link their modules
// are those of the operation.
// Errors: those of the operation's plan; ErrUnsupported, ErrStrides, *LimitError.
func (e *Epilogue) plan(t *spec.Target, in, out []tensor.Desc, link bool) (*spec.Plan, error) {
	result, err := e.result(in)
	if err != nil {
		return nil, err
	}
	op := e.op()
	own, err := op.Shape(e.Call, in[:e.Inputs])
	if err != nil {
		return nil, err
	}
	p, err := op.Plan(e.Call, t, in[:e.Inputs], own)
	if err != nil || result.Elems() == 0 {
		return p, err
	}
	if err := storedOnce(p, own[0].Bytes()); err != nil {
		return nil, err
	}
	made := *p
	made.Steps = nil
	for _, s := range p.Steps {
		if s, err = e.finish(t, s, e.then(in, result), link); err != nil {
			return nil, err
		}
		made.Steps = append(made.Steps, s)
	}
	return &made, nil
}

// storedOnce returns an error unless each element of the result is stored by one launch, or no launch can read it: what a launch reads would have
// gone through the epilogue.
func storedOnce(p *spec.Plan, bytes int64) error {
	var windows [][2]int64
	overlap, reads := false, ""
	for _, s := range p.Steps {
		for i, b := range s.Bind {
			if b.Buf != spec.Out(0) {
				continue
			}
			how, err := storesOf(s.Module, i)
			if err != nil {
				return planner.Unsupported("%v", err)
			}
			if how.Reads {
				reads = s.Module.Name
			}
			w := [2]int64{b.Offset, b.Offset + b.Size}
			if b.Size == 0 {
				w[1] = bytes
			}
			for _, other := range windows {
				overlap = overlap || w[0] < other[1] && other[0] < w[1]
			}
			windows = append(windows, w)
		}
	}
	if overlap && reads != "" {
		return planner.Unsupported("%s can read what another launch has stored", reads)
	}
	return nil
}

// finish gives a launch the epilogue, if it stores the result.
func (e *Epilogue) finish(t *spec.Target, s spec.Step, in []tensor.Desc, link bool) (spec.Step, error) {
	slot := -1
	for i, b := range s.Bind {
		switch {
		case b.Buf != spec.Out(0):
		case slot >= 0:
			return s, planner.Unsupported("%s binds its result twice", s.Module.Name)
		default:
			slot = i
		}
	}
	if slot < 0 {
		return s, nil
	}
	stores, err := storesOf(s.Module, slot)
	if err != nil {
		return s, planner.Unsupported("%v", err)
	}
	bound := s.Bind[slot]
	if bound.Offset%16 != 0 {
		return s, planner.Unsupported("%s stores from byte %d on", s.Module.Name, bound.Offset)
	}
	w := &words{}
	w.Words[startWord] = uint32(bound.Offset / 16)
	f := finisher{module: s.Module, slot: slot, used: fixedWords - 1, most: len(w.Words)}
	bind := append([]spec.Bind{}, s.Bind...)
	for _, lanes := range []bool{false, true} {
		if lanes && stores.Lanes == 0 || !lanes && stores.Quads == 0 {
			continue
		}
		l, err := e.layOut(t, in, lanes, &f, w, len(bind))
		if err != nil {
			return s, err
		}
		for _, o := range l.operands {
			b, err := beside(t, o, bound, in[0].Bytes(), l.texel)
			if err != nil {
				return s, err
			}
			b.Buf.Index += e.Inputs - 1 // Value 0 is the result.
			bind = append(bind, b)
		}
		f.forms = append(f.forms, l.recipe)
	}
	if len(bind) > int(t.MaxBindings) {
		return s, &errs.LimitError{Name: "MaxBindings", Want: int64(len(bind)), Have: int64(t.MaxBindings)}
	}
	if n, err := f.inlined(stores); err != nil || n > mostInlined {
		if err == nil {
			err = planner.Unsupported("%s would have %d more instructions, which take long to compile", s.Module.Name, n)
		}
		return s, err
	}
	s.Bind = bind
	if int(s.Module.ParamSize)+4*f.used <= spec.MaxParams {
		s.Params = spec.MoreParams{Params: s.Params, Words: w.Words[:f.used]}
	} else if f.known, err = knownOf(s, w.Words[:f.used]); err != nil {
		return s, err
	}
	if link {
		s.Module, err = f.linked()
	}
	return s, err
}

// beside returns what a launch binds of an operand, if it binds that of the result, which has so many bytes.
func beside(t *spec.Target, o operand, result spec.Bind, bytes int64, texel bool) (spec.Bind, error) {
	if o.whole != nil {
		return *o.whole, nil
	}
	size := int64(o.dtype.Size())
	b := spec.Bind{Buf: o.ref, Offset: result.Offset / 4 * size, Size: result.Size}
	if b.Size == 0 {
		b.Size = bytes - result.Offset
	}
	b.Size = planner.CeilDiv(b.Size/4*size, planner.Pack) * planner.Pack
	if have := planner.MaxSpan(t, texel && size < 8); b.Size > have {
		return b, &errs.LimitError{Name: "MaxBinding", Want: b.Size, Have: have}
	}
	if align := max(t.OffsetAlign, t.TexelAlign, 1); b.Offset%align != 0 {
		return b, planner.Unsupported("an operand bound from byte %d on", b.Offset)
	}
	return b, nil
}

// layOut decides how the elementwise operations are computed, for four elements or for one. slot is the binding of their first input.
func (e *Epilogue) layOut(t *spec.Target, in []tensor.Desc, lanes bool, f *finisher, w *words, slot int) (*layout, error) {
	l := &layout{used: f.used, most: f.most, n: in[0].Elems(), words: *w}
	l.kernel, l.lanes, l.slot, l.plain = f.module, lanes, slot, t.HostVectors
	l.texel = !lanes && planner.UsesTexels(t, planner.TexelGroup)
	_, taken, err := l.addCalls(&e.Then, t, in)
	if err != nil {
		return nil, err
	}
	if l.lanes != lanes {
		return nil, planner.Unsupported("%s stores elements one by one, and only those of f32 are loaded so", f.module.Name)
	}
	taken[0] = false
	if err := l.addInputs(t, in, in[0].Shape, taken); err != nil {
		return nil, err
	}
	l.outs = []output{{value: e.Then.Outs[0]}}
	f.used, *w = l.used, l.words
	return l, nil
}

// finisher links a kernel and an epilogue. There is a recipe for each form of store.
type finisher struct {
	module     *spv.Module
	slot       int
	forms      []recipe
	used, most int // words
	known      *known
}

// known are the words of an epilogue of a kernel that has no room for them in its parameters. They are constants of the module. That one of
// the kernel's parameters has a value which the module knows gives it a zero which no compiler knows.
type known struct {
	words     []uint32
	at, value uint32
}

// knownOf finds a parameter of a launch.
func knownOf(s spec.Step, words []uint32) (*known, error) {
	bytes, err := spec.Encode(s.Params)
	if err != nil {
		return nil, err
	}
	for _, m := range s.Module.Params {
		if m.Size == 4 && int(m.Offset)+4 <= len(bytes) {
			return &known{slices.Clone(words), m.Offset, binary.LittleEndian.Uint32(bytes[m.Offset:])}, nil
		}
	}
	return nil, planner.Unsupported("%s has no parameter", s.Module.Name)
}

// linked returns the module.
func (f *finisher) linked() (*spv.Module, error) {
	key := fmt.Sprint(f.slot, f.used)
	if f.known != nil {
		key = fmt.Sprint(f.slot, *f.known)
	}
	for i := range f.forms {
		key += " " + f.forms[i].key()
	}
	return modules.get(key, f.link)
}

func (f *finisher) link() (*spv.Module, error) {
	words := f.used
	if f.known != nil {
		words = 0
	}
	l := &linker{Linker: spv.NewEpilogue(f.module, uint32(f.slot), words), known: f.known}
	name := f.module.Name
	for i := range f.forms {
		r := &f.forms[i]
		form := "fused/finish.quads"
		if r.lanes {
			form = "fused/finish.lanes"
		}
		part, err := spirv.Part(form)
		if err != nil {
			return nil, err
		}
		l.Begin(part)
		l.r, l.words = r, map[int]spv.Value{}
		values := map[int][]spv.Value{0: l.stored()}
		l.compute([]spv.Value{l.Param(1)}, values)
		l.Return(values[r.outs[0].value]...)
		if i == 0 {
			name += "+" + r.name()
		}
	}
	if l.err != nil {
		return nil, l.err
	}
	return l.Module(name)
}

// stored returns the elements that the kernel would store. They are veiled, because their last operation is one of the kernel, which a compiler
// could join with the first one of the epilogue.
func (l *linker) stored() []spv.Value {
	list := l.split(l.Param(0))
	if l.r.plain {
		return list
	}
	for i, v := range list {
		list[i] = l.Call(l.part("fused/veil.f32"), v, l.zero())
	}
	return list
}

// inlined is about how many instructions the kernel has more when a driver has inlined the epilogue at each store.
func (f *finisher) inlined(stores spv.Stores) (int, error) {
	sum := 0
	for i := range f.forms {
		r := &f.forms[i]
		n, times := 0, stores.Lanes
		var parts []string
		for _, x := range r.inputs {
			parts = append(parts, x.load)
		}
		elements := 1
		if !r.lanes {
			elements, times = 4, stores.Quads
		}
		for _, s := range r.steps {
			for range elements {
				parts = append(parts, s.part)
			}
		}
		for _, name := range parts {
			m, err := spirv.Part(name)
			if err != nil {
				return 0, err
			}
			n += spv.PartSize(m)
		}
		sum += n * times
	}
	return sum, nil
}

// kernels remembers how kernels store.
var kernels sync.Map // stored → spv.Stores or error

type stored struct {
	hash [32]byte
	slot int
}

// storesOf is spv.StoresOf, which is asked once for a kernel.
func storesOf(m *spv.Module, slot int) (spv.Stores, error) {
	key := stored{m.Hash, slot}
	v, ok := kernels.Load(key)
	if !ok {
		how, err := spv.StoresOf(m, uint32(slot))
		if v = how; err != nil {
			v = err
		}
		if !m.Foreign { // Programs may make any number.
			kernels.Store(key, v)
		}
	}
	if err, ok := v.(error); ok {
		return spv.Stores{}, err
	}
	return v.(spv.Stores), nil
}
