package fusion

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// mostInlined is how many instructions the functions of a kernel may have, where drivers inline them at each load or store. Compilers take
// longer than a launch saves otherwise. The device cpu refuses kernels in which many values are needed behind many branches, which grows with the
// square.
const (
	mostInlined     = 8000
	mostInlinedHost = 2500
)

// rewriter puts elementwise operations into kernels that load or store an operand.
type rewriter struct {
	fused  *Fused        // its value 0 is what is loaded or stored
	in     []tensor.Desc // its inputs, of which all but the first are bound too
	inputs int           // of the operation, behind which these inputs come
	ref    spec.Ref      // the operand
	loads  bool
	link   bool // make the modules
}

// plan rewrites the launches of a plan.
func (r *rewriter) plan(t *spec.Target, p *spec.Plan) (*spec.Plan, error) {
	made := *p
	made.Steps = nil
	for _, s := range p.Steps {
		s, err := r.step(t, s)
		if err != nil {
			return nil, err
		}
		made.Steps = append(made.Steps, s)
	}
	return &made, nil
}

// step rewrites a launch, if it binds the operand.
func (r *rewriter) step(t *spec.Target, s spec.Step) (spec.Step, error) {
	slot := -1
	for i, b := range s.Bind {
		switch {
		case b.Buf != r.ref:
		case slot >= 0:
			return s, planner.Unsupported("%s binds it twice", s.Module.Name)
		default:
			slot = i
		}
	}
	if slot < 0 {
		return s, nil
	}
	form, size := formOf(r.in[0].DType), int64(r.in[0].DType.Size())
	if r.loads {
		form, size = spv.Words, 4
	}
	uses, err := usesOf(s.Module, slot, r.loads, form)
	if err != nil {
		return s, err
	}
	bound, own := s.Bind[slot], r.in[0]
	made, err := r.made()
	if err != nil {
		return s, err
	}
	puts := !r.loads && made.DType.Size() != own.DType.Size()
	if puts && made.DType.Size() == 2 && uses.Lanes > 0 && !t.F16 { // The halves of a word may be stored by two invocations.
		return s, planner.Unsupported("%s stores elements one by one, and the device stores no 16 bits", s.Module.Name)
	}
	if r.loads && uses.Sizes > 0 && own.DType != tensor.F32 {
		return s, planner.Unsupported("%s asks for the size of its input", s.Module.Name)
	}
	own.DType = r.stored()
	if bound.Offset%16 != 0 {
		return s, planner.Unsupported("%s works from byte %d on", s.Module.Name, bound.Offset)
	}
	w := &words{}
	w.Words[startWord] = uint32(bound.Offset / (4 * size))
	if puts && made.DType.Size() == 2 && uses.Lanes > 0 && (t.HostVectors || t.CPU && uses.Quads > 0) {
		return s, planner.Unsupported("%s stores elements one by one, and single stores of 16 bits take longer on a processor than a launch", s.Module.Name)
	}
	f := kernel{module: s.Module, slot: slot, loads: r.loads, form: form, puts: puts, used: fixedWords - 1, most: len(w.Words)}
	bind := slices.Clone(s.Bind)
	for _, one := range []bool{false, true} {
		if one && uses.Lanes == 0 || !one && uses.Quads == 0 {
			continue
		}
		l, err := r.layOut(t, one, &f, w, len(bind))
		if err != nil {
			return s, err
		}
		if f.puts {
			l.put = putOf(made.DType, one, one || uses.Lanes > 0)
		}
		for _, o := range l.operands {
			b, err := beside(t, o, bound, own, l.texel, one)
			if err != nil {
				return s, err
			}
			if have := packed(r.in[o.ref.Index].Bytes()); b.Offset < 0 || b.Size <= 0 || b.Offset > have-b.Size {
				return s, planner.Unsupported("%s would take the range %d+%d of an operand of %d bytes", s.Module.Name, b.Offset, b.Size, have)
			}
			if b.Buf.Index == 0 { // the first input itself, of other elements than the kernel loads, which then loads nothing
				b.Buf = r.ref
				bind[slot] = b
			} else {
				b.Buf.Index += r.inputs - 1
			}
			bind = append(bind, b)
		}
		f.forms = append(f.forms, l.recipe)
	}
	if puts {
		if bind[slot], err = resized(t, bound, own, made); err != nil {
			return s, err
		}
	}
	if len(bind) > int(t.MaxBindings) {
		return s, &errs.LimitError{Name: "MaxBindings", Want: int64(len(bind)), Have: int64(t.MaxBindings)}
	}
	most := mostInlined
	if t.HostVectors {
		most = mostInlinedHost
	}
	if n, err := f.inlined(uses); err != nil || n > most {
		if err == nil {
			err = planner.Unsupported("%s would have %d more instructions, which take long to compile", s.Module.Name, n)
		}
		return s, err
	}
	s.Bind = bind
	if int(s.Module.ParamSize)+4*f.used <= spec.MaxParams && !isMore(s.Params) {
		s.Params = spec.MoreParams{Params: s.Params, Words: w.Words[:f.used]}
	} else if f.known, err = knownOf(s, w.Words[:f.used]); err != nil {
		return s, err
	}
	if r.link {
		s.Module, err = f.linked()
	}
	return s, err
}

// made describes what the elementwise operations make.
func (r *rewriter) made() (tensor.Desc, error) {
	values, err := r.fused.values(r.in)
	if err != nil {
		return tensor.Desc{}, err
	}
	return values[r.fused.Outs[0]], nil
}

// putOf is the part that stores elements of d for a kernel that stores one word, or four. lanes says that the kernel does store single words.
func putOf(d tensor.DType, one, lanes bool) string {
	name := "fused/put." + d.String()
	switch {
	case one && d.Size() == 4:
		return name + ".word"
	case one:
		return name + ".lanes"
	case lanes:
		return name + ".beside"
	}
	return name
}

// resized is what a launch binds of elements as in made, if it binds b of those of own.
func resized(t *spec.Target, b spec.Bind, own, made tensor.Desc) (spec.Bind, error) {
	from, to := int64(own.DType.Size()), int64(made.DType.Size())
	whole := packed(made.Bytes())
	size := b.Size
	if b.Offset = b.Offset / from * to; size == 0 {
		size = whole - b.Offset
	} else {
		size = min(packed(planner.CeilDiv(size, from)*to), whole-b.Offset)
		b.Size = size
	}
	if align := max(t.OffsetAlign, 1); b.Offset%align != 0 {
		return b, planner.Unsupported("a result bound from byte %d on", b.Offset)
	}
	if size > t.MaxBinding {
		return b, &errs.LimitError{Name: "MaxBinding", Want: size, Have: t.MaxBinding}
	}
	return b, nil
}

// stored is the dtype of what the kernel itself loads or stores.
func (r *rewriter) stored() tensor.DType {
	if r.loads {
		return tensor.F32
	}
	return r.in[0].DType
}

func isMore(params any) bool {
	_, ok := params.(spec.MoreParams)
	return ok
}

// beside returns what a launch binds of an operand, if it binds that of the result d. A launch that does not take single words takes whole packs of the
// result, of which the last one may go on behind its elements. Wider elements of the operand may end before: a texel buffer has zeros there, and from other
// buffers nothing is loaded behind the end.
func beside(t *spec.Target, o operand, result spec.Bind, d tensor.Desc, texel, one bool) (spec.Bind, error) {
	if o.whole != nil {
		return *o.whole, nil
	}
	size, own := int64(o.dtype.Size()), int64(d.DType.Size())
	b := spec.Bind{Buf: o.ref, Offset: result.Offset / own * size, Size: result.Size}
	if b.Size == 0 {
		b.Size = d.Bytes() - result.Offset
	}
	if !one {
		b.Size = packed(b.Size)
	}
	b.Size = packed(planner.CeilDiv(b.Size, own) * size)
	if have := packed(int64(d.Elems())*size) - b.Offset; b.Size > have {
		if !one && (!texel || size >= 8) {
			return b, planner.Unsupported("the last pack of %d elements of %v takes more of %v than there is", d.Elems(), d.DType, o.dtype)
		}
		b.Size = have
	}
	if have := planner.MaxSpan(t, texel && size < 8); b.Size > have {
		return b, &errs.LimitError{Name: "MaxBinding", Want: b.Size, Have: have}
	}
	if align := max(t.OffsetAlign, t.TexelAlign, 1); b.Offset%align != 0 {
		return b, planner.Unsupported("an operand bound from byte %d on", b.Offset)
	}
	return b, nil
}

// packed rounds a number of bytes up to whole packs, as memory is allocated.
func packed(n int64) int64 { return planner.CeilDiv(n, planner.Pack) * planner.Pack }

// layOut decides how the elementwise operations are computed, for what a kernel loads or stores as one word, or as four. slot is the binding of their first input.
func (r *rewriter) layOut(t *spec.Target, one bool, f *kernel, w *words, slot int) (*layout, error) {
	in := r.in
	lanes := one && f.form == spv.Words // Two elements of a word are computed as a half of four.
	l := &layout{used: f.used, most: f.most, n: in[0].Elems(), words: *w, goesOn: r.loads}
	l.kernel, l.lanes, l.slot, l.plain = f.module, lanes, slot, t.HostVectors
	l.texel = !lanes && planner.UsesTexels(t, planner.TexelGroup)
	_, taken, err := l.addCalls(r.fused, t, in)
	if err != nil {
		return nil, err
	}
	if l.lanes != lanes {
		return nil, planner.Unsupported("%s takes elements one by one, and only those of f32 are loaded so", f.module.Name)
	}
	l.reads = in[0].DType != r.stored()
	taken[0] = l.reads
	if err := l.addInputs(t, in, in[0].Shape, taken); err != nil {
		return nil, err
	}
	l.outs = []output{{value: r.fused.Outs[0]}}
	if l.one = one; f.form == spv.Pairs {
		out, err := r.made()
		if err != nil {
			return nil, err
		}
		if l.split = "fused/split." + in[0].DType.String(); !f.puts {
			l.join = "fused/join." + out.DType.String()
		}
	}
	f.used, *w = l.used, l.words
	return l, nil
}
