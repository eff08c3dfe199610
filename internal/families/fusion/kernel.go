package fusion

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
)

// kernel links a kernel and functions for its loads or stores. There is a recipe for each form of these.
type kernel struct {
	module     *spv.Module
	slot       int
	loads      bool
	form       spv.Form
	puts       bool // the functions store by themselves, elements of another size
	forms      []recipe
	used, most int // words
	known      *known
}

// known are the words of a kernel that has no room for them in its parameters. They are constants of the module. That one of
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
func (f *kernel) linked() (*spv.Module, error) {
	key := fmt.Sprint(f.loads, f.slot, f.form, f.used)
	if f.known != nil {
		key = fmt.Sprint(f.loads, f.slot, f.form, *f.known)
	}
	for i := range f.forms {
		key += " " + f.forms[i].key()
	}
	return modules.get(key, f.link)
}

func (f *kernel) link() (*spv.Module, error) {
	words := f.used
	if f.known != nil {
		words = 0
	}
	l, name := &linker{known: f.known}, f.module.Name+"+"+f.forms[0].name()
	switch {
	case f.loads:
		l.Linker, name = spv.NewPrologue(f.module, uint32(f.slot), words), f.forms[0].name()+"+"+f.module.Name
	case f.puts:
		l.Linker = spv.NewStoring(f.module, uint32(f.slot), f.form, words)
	default:
		l.Linker = spv.NewEpilogue(f.module, uint32(f.slot), f.form, words)
	}
	for i := range f.forms {
		r := &f.forms[i]
		part, err := spirv.Part(r.finish())
		if err != nil {
			return nil, err
		}
		l.Begin(part)
		l.r, l.words = r, map[int]spv.Value{}
		ats, elements := l.taken(f.loads)
		values := map[int][]spv.Value{}
		if !r.reads {
			values[0] = elements
		}
		l.compute(ats, values)
		if made := values[r.outs[0].value]; f.puts {
			l.put(made, uint32(f.slot))
			l.End()
		} else {
			l.Return(l.stored(made)...)
		}
	}
	if l.err != nil {
		return nil, l.err
	}
	return l.Module(name)
}

// finish is the part that has the type of the function.
func (r *recipe) finish() string {
	name := "fused/finish.quads"
	switch {
	case r.split != "" && r.one:
		name = "fused/finish_words.one"
	case r.split != "":
		name = "fused/finish_words.packs"
	case r.one:
		name = "fused/finish.lanes"
	}
	if r.put != "" {
		name += ".put"
	}
	return name
}

// taken returns the elements that the kernel loads or would store, and which quads or element they are. A word of two elements stands for
// two words of a quad. What it stores is veiled, because the last operation of that is one of the kernel,
// which a compiler could join with the first one that comes.
func (l *linker) taken(loads bool) (ats, list []spv.Value) {
	switch given, at := l.Param(0), l.Param(1); {
	case l.r.split == "":
		ats, list = []spv.Value{at}, l.split(given)
	case l.r.one:
		split := l.part(l.r.split)
		ats, list = []spv.Value{l.Call(l.part("fused/index.half"), at)}, l.split(l.Call(split, l.Compose(split, 0, given, given)))
	default:
		split, first := l.part(l.r.split), l.Times(at, 2)
		ats = []spv.Value{first, l.Xor(first, l.Number(1))}
		for i := range ats {
			list = append(list, l.split(l.Call(split, l.Compose(split, 0, l.Extract(given, 2*i), l.Extract(given, 2*i+1))))...)
		}
	}
	if l.r.plain || loads {
		return ats, list
	}
	for i, v := range list {
		list[i] = l.Call(l.part("fused/veil.f32"), v, l.zero())
	}
	return ats, list
}

// stored returns what the kernel stores of elements.
func (l *linker) stored(elements []spv.Value) []spv.Value {
	switch {
	case l.r.join == "":
		return elements
	case l.r.one:
		join := l.part(l.r.join + ".word")
		return []spv.Value{l.Call(join, l.Compose(join, 0, elements...), l.Param(1))}
	}
	var list []spv.Value
	for ; len(elements) >= 4; elements = elements[4:] {
		join := l.part(l.r.join)
		v := l.Call(join, l.Compose(join, 0, elements[:4]...))
		list = append(list, l.Extract(v, 0), l.Extract(v, 1))
	}
	return list
}

// put stores elements in place of the kernel.
func (l *linker) put(elements []spv.Value, slot uint32) {
	put, at := l.part(l.r.put, slot), l.Param(1)
	switch {
	case l.r.split != "" && l.r.one: // of four, those of the word
		l.Call(put, at, l.Param(2), l.Compose(put, 2, elements...))
	case l.r.split != "":
		l.Call(put, at, l.Compose(put, 1, elements[:4]...), l.Compose(put, 2, elements[4:]...))
	case l.r.one:
		l.Call(put, at, elements[0])
	default:
		l.Call(put, at, l.Compose(put, 1, elements...))
	}
}

// inlined is about how many instructions the kernel has more when a driver has inlined the functions.
func (f *kernel) inlined(uses spv.Uses) (int, error) {
	sum := 0
	for i := range f.forms {
		r := &f.forms[i]
		n, times := 0, uses.Lanes
		var parts []string
		for _, x := range r.inputs {
			parts = append(parts, x.load)
		}
		elements := 1
		if !r.lanes {
			elements = 4
		}
		if !r.one {
			times = uses.Quads
		}
		if r.split != "" {
			parts = append(parts, r.split)
		}
		if r.join != "" {
			parts = append(parts, r.join)
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
		if r.split != "" && !r.one {
			n *= 2
		}
		if r.put != "" {
			m, err := spirv.Part(r.put)
			if err != nil {
				return 0, err
			}
			n += spv.PartSize(m)
		}
		sum += n * times
	}
	return sum, nil
}
