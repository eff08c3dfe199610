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
	key := fmt.Sprint(f.loads, f.slot, f.used)
	if f.known != nil {
		key = fmt.Sprint(f.loads, f.slot, *f.known)
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
	begin, name := spv.NewEpilogue, f.module.Name+"+"+f.forms[0].name()
	if f.loads {
		begin, name = spv.NewPrologue, f.forms[0].name()+"+"+f.module.Name
	}
	l := &linker{Linker: begin(f.module, uint32(f.slot), words), known: f.known}
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
		values := map[int][]spv.Value{0: l.taken(f.loads)}
		l.compute([]spv.Value{l.Param(1)}, values)
		l.Return(values[r.outs[0].value]...)
	}
	if l.err != nil {
		return nil, l.err
	}
	return l.Module(name)
}

// taken returns the elements that the kernel loads or would store. What it stores is veiled, because the last operation of that is one of the kernel,
// which a compiler could join with the first one that comes.
func (l *linker) taken(loads bool) []spv.Value {
	list := l.split(l.Param(0))
	if l.r.plain || loads {
		return list
	}
	for i, v := range list {
		list[i] = l.Call(l.part("fused/veil.f32"), v, l.zero())
	}
	return list
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
			elements, times = 4, uses.Quads
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
