package fusion

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// words is the push-constant block of lib/fused.glsl. The first ones are 0, the quad or element of the output that a
// launch begins with, and the number of elements.
type words struct{ Words [32]uint32 }

const (
	zeroWord = iota
	startWord
	countWord
	fixedWords
)

// recipe says how a module is linked. It has no sizes and no numbers of calls: these are in words.
type recipe struct {
	template string
	lanes    bool
	first    int         // the value that is the first result
	slot     int         // the binding of the first input
	kernel   *spv.Module // whose epilogue it is, or nil
	plain    bool        // compilers join nothing
	reads    bool        // the functions load value 0 themselves
	one      bool        // the kernel loads or stores one word, and not four
	split    string      // the parts that make four elements of two words, and the words of elements, or ""
	join     string
	put      string // the part that stores elements of another size than the kernel has, or ""
	inputs   []input
	steps    []step
	outs     []output
}

// input is an input that some operation takes.
type input struct {
	value int
	load  string // the part
	// index says which quad or element is loaded: "" that of the output, "first" the first one, "digits", or
	// a part that finds it. words are the words that it needs.
	index string
	words []int
	row   bool // the part finds it for an element of a workgroup
}

// step is an operation.
type step struct {
	part    string
	args    []int
	numbers []int    // the first word of each number of the call
	wide    bool     // numbers are doubles
	raw     bool     // the function takes bits and words
	apart   bool     // operands after the first are veiled, because compilers make 0 of x - x
	bits    []string // the parts that give the bits of the operands, "" where they are bits already
	after   string   // the part that rounds the result or makes a number of its bits, or ""
	veil    string   // the part that hides from compilers what the result is, or ""
}

// output is an output.
type output struct {
	value int
	store string
}

// layout is a recipe and what its launches need.
type layout struct {
	recipe
	local, packs int
	goesOn       bool // a kernel computes with the results
	texel        bool
	words        words
	used, most   int // words
	// same are the operands that are divided among launches, and whole those that each launch reads.
	operands []operand
	n        int
}

// operand is an operand of the launches, in the order of the bindings.
type operand struct {
	ref   spec.Ref
	dtype tensor.DType
	whole *spec.Bind // what each launch binds, or nil
}

// memory names the loads and stores for elements of d. There are none if it is empty.
func memory(d tensor.DType) string {
	switch d {
	case tensor.F32, tensor.F16, tensor.BF16, tensor.F64, tensor.I32, tensor.I64:
		return d.String()
	case tensor.U32:
		return tensor.I32.String()
	case tensor.U64:
		return tensor.I64.String()
	case tensor.I16, tensor.U16:
		return tensor.U16.String()
	case tensor.Bool, tensor.U8, tensor.I8:
		return tensor.U8.String()
	}
	return ""
}

// isFloat reports whether functions compute with elements of d as floats of 32 or 64 bits. Of the other types, those of 32 bits
// are ints, and the others bits.
func isFloat(d tensor.DType) bool { return slices.Contains(planner.Floats, d) }

// isBits reports whether elements of d are loaded as bits.
func isBits(d tensor.DType) bool { return !isFloat(d) && d.Size() != 4 }

// layOut decides how a call is computed.
// Errors: ErrUnsupported, ErrStrides, *LimitError.
func layOut(f *Fused, t *spec.Target, in, out []tensor.Desc) (*layout, error) {
	l := &layout{local: planner.SmallGroup, packs: 1, used: fixedWords, most: len(words{}.Words), n: out[0].Elems()}
	l.template, l.lanes = "fused/map.quads", t.HostVectors
	values, taken, err := l.addCalls(f, t, in)
	if err != nil {
		return nil, err
	}
	switch {
	case l.lanes:
		l.template, l.packs = "fused/map.lanes", 4
	case planner.UsesTexels(t, planner.TexelGroup):
		l.template, l.texel, l.local, l.packs = "fused/map.texel", true, planner.TexelGroup, 4
	}
	if err := l.addInputs(t, in, out[0].Shape, taken); err != nil {
		return nil, err
	}
	for i, v := range f.Outs {
		store := "fused/store." + memory(values[v].DType)
		if l.lanes {
			store += ".lanes"
		}
		l.outs = append(l.outs, output{v, store})
		l.operands = append(l.operands, operand{ref: spec.Out(i), dtype: values[v].DType})
	}
	if len(l.operands) > int(t.MaxBindings) {
		return nil, &errs.LimitError{Name: "MaxBindings", Want: int64(len(l.operands)), Have: int64(t.MaxBindings)}
	}
	return l, nil
}

// addCalls adds the operations. It returns the values, and which of them an operation takes. lanes stays set if there is a form
// for that.
func (l *layout) addCalls(f *Fused, t *spec.Target, in []tensor.Desc) (values []tensor.Desc, taken []bool, err error) {
	if values, err = f.values(in); err != nil {
		return nil, nil, err
	}
	if err := planner.CheckTarget(t, values...); err != nil {
		return nil, nil, err
	}
	l.first = len(in)
	taken = f.taken(len(values))
	for i, c := range f.Calls {
		if err := l.addStep(f, t, c, f.Args[i], values, len(in)+i); err != nil {
			return nil, nil, err
		}
	}
	for i := range l.steps {
		if !taken[len(in)+i] && !l.goesOn {
			l.steps[i].veil = ""
		}
		if !taken[len(in)+i] && !l.steps[i].raw && !l.goesOn {
			l.steps[i].after = "" // A store rounds by itself.
			if strings.HasPrefix(l.steps[i].part, "fused/round.") {
				l.steps[i].part = "fused/same"
			}
		}
	}
	for i, d := range values {
		if memory(d.DType) == "" {
			return nil, nil, planner.Unsupported("fused operations have no elements of %v", d.DType)
		}
		l.lanes = l.lanes && (d.DType == tensor.F32 || i < len(in) && !taken[i] || i >= len(in) && l.kernel != nil) // A kernel stores by itself, or by put.
	}
	return values, taken, nil
}

// addStep adds the operation whose result is a value.
func (l *layout) addStep(f *Fused, t *spec.Target, c spec.Call, args []int, values []tensor.Desc, value int) error {
	op := c.Spec()
	var types []tensor.DType
	for _, a := range args {
		types = append(types, values[a].DType)
	}
	p, ok := op.Part(c, t, types)
	if !ok {
		return planner.Unsupported("%s of %v is no function of single elements", op.Name, types)
	}
	d := values[value].DType
	s := step{part: p.Name, args: args, wide: types[0] == tensor.F64, raw: p.Bits, apart: isFloat(types[0]) && !p.Bits && !t.HostVectors}
	if p.Twice {
		s.args = []int{args[0], args[0]}
	}
	if p.Bits {
		return l.addBits(s, p, t, values, d)
	}
	if p.Lanes && t.HostVectors {
		s.part += ".lanes"
	}
	for _, x := range p.Numbers {
		bits := elementwise.Words(x, types[0])
		size := 1
		if s.wide {
			size = 2
		}
		at, err := l.add(bits[:size]...)
		if err != nil {
			return err
		}
		s.numbers = append(s.numbers, at)
	}
	if f.Strict && d.Size() == 2 {
		s.after = "fused/round." + d.String()
	} else {
		s.veil = veil(d, t)
	}
	l.steps = append(l.steps, s)
	return nil
}

// veil is the part that hides a result of type d from compilers, or "".
func veil(d tensor.DType, t *spec.Target) string {
	switch {
	case t.HostVectors || !isFloat(d): // The device cpu joins nothing.
		return ""
	case d == tensor.F64:
		return "fused/veil.f64"
	default:
		return "fused/veil.f32"
	}
}

// addBits adds an operation on bits. Its result is of type d.
func (l *layout) addBits(s step, p spec.Part, t *spec.Target, values []tensor.Desc, d tensor.DType) error {
	for _, a := range s.args {
		part := ""
		if from := values[a].DType; !isBits(from) {
			part = "fused/bits." + memory(from)
		}
		s.bits = append(s.bits, part)
	}
	at, err := l.add(p.Words[:]...)
	if err != nil {
		return err
	}
	s.numbers = []int{at, at + 1, at + 2}
	switch {
	case !isBits(d):
		s.after = "fused/value." + memory(d)
		// Drivers know that i - i is 0. They take 0 + x for x then, and 0 * x for 0, which is wrong for -0 and for NaN.
		s.veil = veil(d, t)
	case d.Size() < 4:
		s.after = "fused/low." + memory(d) // A function may leave bits above those of the element.
	}
	l.steps = append(l.steps, s)
	return nil
}

// add sets the next words, and returns the number of the first one. Words of a map that are there already serve again: there is room for few, and
// compilers see that what is computed of them is the same. Kernels that are joined with epilogues have their functions in many places, and many branches
// between these: there it is better that each place has words of its own, or constants.
func (l *layout) add(list ...uint32) (int, error) {
	for at := fixedWords; l.kernel == nil && at+len(list) <= l.used; at++ {
		if slices.Equal(l.words.Words[at:at+len(list)], list) {
			return at, nil
		}
	}
	at := l.used
	if at+len(list) > l.most {
		return 0, planner.Unsupported("fused operations with sizes, strides and numbers of more than %d words", l.most)
	}
	l.used += copy(l.words.Words[at:], list)
	return at, nil
}

// addInputs adds the inputs that operations take.
func (l *layout) addInputs(t *spec.Target, in []tensor.Desc, shape []int, taken []bool) error {
	var operands []planner.Operand
	for i, d := range in {
		operands = append(operands, planner.Operand{Ref: spec.In(i), DType: d.DType, Strides: planner.BroadcastStrides(d, shape)})
	}
	contiguous := planner.OperandOf(spec.Out(0), tensor.Contiguous(tensor.F32, shape...))
	dims, operands := planner.Collapse(shape, append(operands, contiguous))
	var digits [][2]int // the words with the divisor and the size of each dimension
	for i, d := range in {
		if !taken[i] {
			continue
		}
		x := input{value: i, load: "fused/load." + memory(d.DType)}
		o := operand{ref: spec.In(i), dtype: d.DType}
		pack := 4
		if l.lanes {
			pack = 1
		}
		r, ok := planner.RepeatOf(dims, operands[i].Strides, pack)
		var err error
		switch {
		case !ok && l.n > 0:
			x.index, x.load = "digits", x.load+l.suffix(".gather")
			region := planner.RegionOf(dims)
			bind, base := operands[i].Window(t, region)
			if bind.Size > planner.MaxSpan(t, l.texel && d.DType.Size() < 8) {
				return &errs.LimitError{Name: "MaxBinding", Want: bind.Size, Have: planner.MaxSpan(t, l.texel)}
			}
			if uint64(l.n) >= 1<<31 {
				return planner.Unsupported("%v is broadcast to more than 2^31 elements", d)
			}
			o.whole = &bind
			if x.words, digits, err = l.addDigits(dims, operands[i].Strides, base, digits); err != nil {
				if !d.IsContiguous() {
					return planner.Strides("%v", err)
				}
				return err
			}
		case !ok || r.Div == 0:
		default:
			if r.Splat != 0 {
				x.load += l.suffix(".splat")
			}
			o.whole = &spec.Bind{Buf: o.ref, Size: r.Bytes(d.DType)}
			if o.whole.Size > planner.MaxSpan(t, l.texel && d.DType.Size() < 8) {
				return &errs.LimitError{Name: "MaxBinding", Want: o.whole.Size, Have: planner.MaxSpan(t, l.texel)}
			}
			if x.index = "first"; r.Elems > 1 {
				if err = l.addIndex(&x, r, pack); err != nil {
					return err
				}
			}
		}
		switch {
		case l.lanes:
			x.load += ".lanes"
		case l.texel && d.DType.Size() < 8:
			x.load += ".texel"
		}
		l.inputs, l.operands = append(l.inputs, x), append(l.operands, o)
	}
	return nil
}

// suffix returns a suffix of a load. A load of one element has none.
func (l *layout) suffix(s string) string {
	if l.lanes {
		return ""
	}
	return s
}

// key is the text by which the module of a recipe is found.
func (r *recipe) key() string {
	c := *r
	c.kernel = nil
	text := fmt.Sprintf("%v", c)
	if r.kernel != nil {
		text += fmt.Sprintf(" %x", r.kernel.Hash)
	}
	return text
}
