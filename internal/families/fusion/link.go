package fusion

import (
	"path"
	"strings"
	"sync"

	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/spirv"
)

// modules keeps the modules that were linked last. Calls that differ in sizes, strides or numbers only
// share one, and so do devices.
var modules = cache{made: map[string]*spv.Module{}}

// mostModules is how many modules are kept.
const mostModules = 256

// cache keeps modules in the order in which they were made.
type cache struct {
	mu    sync.Mutex
	made  map[string]*spv.Module
	order []string
}

// module returns the module of a recipe.
func (r *recipe) module() (*spv.Module, error) { return modules.get(r.key(), r.link) }

// get returns the module of a key. It is linked if it is not known.
// Errors: ErrABIMismatch for parts that are damaged.
func (c *cache) get(key string, link func() (*spv.Module, error)) (*spv.Module, error) {
	c.mu.Lock()
	m := c.made[key]
	c.mu.Unlock()
	if m != nil {
		return m, nil
	}
	m, err := link()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if other := c.made[key]; other != nil {
		return other, nil // Another goroutine was faster.
	}
	if len(c.order) >= mostModules {
		delete(c.made, c.order[0])
		c.order = c.order[1:]
	}
	c.made[key], c.order = m, append(c.order, key)
	return m, nil
}

// linker links a recipe. The first error stays.
type linker struct {
	*spv.Linker
	r     *recipe
	err   error
	words map[int]spv.Value
	known *known // or nil
}

// link links the module.
func (r *recipe) link() (*spv.Module, error) {
	template, err := spirv.Part(r.template)
	if err != nil {
		return nil, err
	}
	l := &linker{Linker: spv.NewLinker(template), r: r, words: map[int]spv.Value{}}
	values := map[int][]spv.Value{}
	l.compute(l.places(), values)
	for i, o := range r.outs {
		store := l.part(o.store, uint32(len(r.inputs)+i))
		if !r.lanes {
			l.Call(store, l.Param(0), l.Param(1), l.Compose(store, 2, values[o.value]...))
			continue
		}
		for k, v := range values[o.value] {
			l.Call(store, l.Param(0), l.Param(1), l.Number(uint32(k)), v)
		}
	}
	if l.err != nil {
		return nil, l.err
	}
	return l.Module(r.name())
}

// compute loads the inputs and computes the values of all steps. All are loaded before the first one is used, and computed
// before the first one is stored, so that a processor can compute them at the same time.
func (l *linker) compute(ats []spv.Value, values map[int][]spv.Value) {
	for i, x := range l.r.inputs {
		load := l.part(x.load, uint32(l.r.slot+i))
		for k, at := range ats {
			values[x.value] = append(values[x.value], l.split(l.Call(load, l.index(x, at, k)))...)
		}
	}
	for i, s := range l.r.steps {
		values[l.r.first+i] = l.step(s, values)
	}
}

// name is a name for the module: the operations, as far as a short text has them.
func (r *recipe) name() string {
	name := "fused"
	for i, s := range r.steps {
		if i == 8 {
			return name + "..."
		}
		op, _, _ := strings.Cut(path.Base(s.part), ".")
		name += "." + op
	}
	return name
}

// part returns the function of a part.
func (l *linker) part(name string, slots ...uint32) *spv.Func {
	m, err := spirv.Part(name)
	if err != nil && l.err == nil {
		l.err = err
	}
	return l.Part(m, slots...)
}

// word returns a word of the launch. It is loaded once.
func (l *linker) word(k int) spv.Value {
	v, ok := l.words[k]
	if !ok {
		switch {
		case l.known != nil && k == zeroWord:
			v = l.Xor(l.Parameter(l.known.at), l.Number(l.known.value))
		case l.known != nil:
			v = l.Number(l.known.words[k])
		case l.r.kernel != nil:
			v = l.Word(k)
		default:
			v = l.Call(l.part("fused/word"), l.Number(uint32(k)))
		}
		l.words[k] = v
	}
	return v
}

// hidden returns a word of which no compiler knows what it is.
func (l *linker) hidden(k int) spv.Value {
	if l.known != nil {
		return l.Xor(l.word(k), l.zero())
	}
	return l.word(k)
}

// start returns the quad or the element of the output that a launch begins with.
func (l *linker) start() spv.Value {
	if l.r.kernel != nil && l.r.lanes {
		return l.Times(l.word(startWord), 4)
	}
	return l.word(startWord)
}

// zero returns a zero that no compiler knows.
func (l *linker) zero() spv.Value { return l.word(zeroWord) }

// places returns the quad, or the elements, that an invocation makes.
func (l *linker) places() []spv.Value {
	if !l.r.lanes {
		return []spv.Value{l.Param(0)}
	}
	list := make([]spv.Value, 4)
	for k := range list {
		list[k] = l.Call(l.part("fused/ahead"), l.Param(0), l.Param(1), l.Number(uint32(k)))
	}
	return list
}

// split returns the elements of what was loaded.
func (l *linker) split(v spv.Value) []spv.Value {
	if l.r.lanes {
		return []spv.Value{v}
	}
	list := make([]spv.Value, 4)
	for i := range list {
		list[i] = l.Extract(v, i)
	}
	return list
}

// index returns which quad or element of an input is loaded for that of the output, or which four elements. k is the element's number
// among those of an invocation.
func (l *linker) index(x input, i spv.Value, k int) spv.Value {
	switch x.index {
	case "first":
		return l.Number(0)
	case "":
		return i
	case "digits":
		digit, at := l.part("fused/digit.lanes"), l.word(x.words[0])
		if !l.r.lanes {
			digit = l.part("fused/digit.quads")
			at = l.Compose(digit, 0, at, at, at, at)
		}
		for w := x.words[1:]; len(w) >= 3; w = w[3:] {
			at = l.Call(digit, at, i, l.start(), l.word(w[0]), l.word(w[1]), l.word(w[2]))
		}
		return at
	}
	args := []spv.Value{i, l.start()}
	if x.row {
		args = []spv.Value{l.Param(0), l.start(), l.Param(2), l.Number(uint32(k))}
	}
	for _, at := range x.words {
		args = append(args, l.word(at))
	}
	return l.Call(l.part(x.index), args...)
}

// step computes the elements of a result.
func (l *linker) step(s step, values map[int][]spv.Value) []spv.Value {
	var numbers []spv.Value
	for _, at := range s.numbers {
		if s.raw {
			numbers = append(numbers, l.hidden(at))
			continue
		}
		part, high := "fused/number.f32", l.Number(0)
		if s.wide {
			part, high = "fused/number.f64", l.hidden(at+1)
		}
		numbers = append(numbers, l.Call(l.part(part), l.hidden(at), high))
	}
	f := l.part(s.part)
	var list []spv.Value
	for k := range values[s.args[0]] {
		var args []spv.Value
		for i, a := range s.args {
			v := values[a][k]
			if s.raw && s.bits[i] != "" {
				v = l.Call(l.part(s.bits[i]), v)
			}
			if s.apart && i > 0 {
				other := "fused/other.f32"
				if s.wide {
					other = "fused/other.f64"
				}
				v = l.Call(l.part(other), v, l.zero())
			}
			args = append(args, v)
		}
		v := l.Call(f, append(args, numbers...)...)
		if s.after != "" {
			v = l.Call(l.part(s.after), v)
		}
		if s.veil != "" {
			v = l.Call(l.part(s.veil), v, l.zero())
		}
		list = append(list, v)
	}
	return list
}
