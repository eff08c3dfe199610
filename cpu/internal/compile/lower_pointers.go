package compile

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/spv/ir"
	"github.com/lathe-gpu/lathe/internal/wasm"
)

// lowerPointers replaces each choice of pointers by a choice of offsets in bytes, and an
// address of the variable that all of them point into. The address is a PtrAccessChain with
// a literal: its second operand counts bytes.
func lowerPointers(f *ir.Func) {
	chosen := map[*ir.Value]*ir.Value{} // by choice: the variable
	var list []*ir.Value
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			if v.Op == ir.PtrEqual || v.Op == ir.PtrNotEqual || v.Op == ir.PtrDiff {
				v.Args = slices.Clone(v.Args)
				for i, p := range v.Args {
					if p.Op == ir.Const {
						v.Args[i] = nullPointer
					}
				}
			}
			if (v.Op == ir.Select || v.Op == ir.Phi) && v.Type.Kind == ir.Pointer {
				chosen[v] = nil
				list = append(list, v)
			}
		}
	}
	if len(list) == 0 {
		return
	}
	for changed := true; changed; {
		changed = false
		for _, v := range list {
			for _, p := range choices(v) {
				from := rootOf(p)
				if base := baseOf(p); from == nil {
					from = chosen[base]
				}
				switch {
				case from == nil || from == chosen[v]:
				case chosen[v] == nil:
					chosen[v], changed = from, true
				default:
					unsupportedf("a pointer to a choice of variables")
				}
			}
		}
	}
	// All places are looked at before any choice changes.
	for _, v := range list {
		for _, p := range choices(v) {
			if at := placeOf(p); at.stride != 0 || at.row {
				unsupportedf("a choice of pointers to matrices")
			}
		}
	}
	for _, v := range list {
		lowerChoice(v, chosen[v])
	}
}

// choices are the pointers of which a choice takes one.
func choices(v *ir.Value) []*ir.Value {
	if v.Op == ir.Select {
		return v.Args[1:]
	}
	return v.Args
}

// baseOf follows a pointer to where it comes from.
func baseOf(p *ir.Value) *ir.Value {
	for p.Op == ir.AccessChain || p.Op == ir.PtrAccessChain || p.Op == ir.CopyObject {
		p = p.Args[0]
	}
	return p
}

// nullPointer is the offset of a null pointer, which is in no buffer.
var nullPointer = &ir.Value{Op: ir.Const, Type: &ir.Type{Kind: ir.Int, Bits: 32}, Bits: 0xffffffff}

func lowerChoice(v, root *ir.Value) {
	u32 := &ir.Type{Kind: ir.Int, Bits: 32}
	b := v.Block
	offset := &ir.Value{Op: v.Op, Type: u32, Args: slices.Clone(v.Args), Block: b}
	list := choices(offset)
	for i, p := range list {
		if p.Op == ir.Const || p.Op == ir.Undef || root == nil {
			list[i] = nullPointer
			continue
		}
		from := b
		if v.Op == ir.Phi {
			from = b.Preds[i]
		}
		list[i] = &ir.Value{Op: ir.CopyObject, Type: u32, Args: []*ir.Value{p}, Block: from}
		if v.Op == ir.Phi {
			from.Values = append(slices.Clip(from.Values), list[i])
		} else {
			at := slices.Index(b.Values, v)
			b.Values = slices.Insert(b.Values, at, list[i])
		}
	}
	at := slices.Index(b.Values, v)
	if b.Values[at] = offset; v.Op == ir.Phi {
		for at++; at < len(b.Values) && b.Values[at].Op == ir.Phi; at++ {
		}
	} else {
		at++
	}
	b.Values = slices.Insert(b.Values, at, v)
	if root == nil { // It is null on all paths.
		v.Op, v.Args, v.Block = ir.Undef, nil, nil
		b.Values = slices.Delete(b.Values, at, at+1)
		return
	}
	v.Op, v.Args, v.Literals = ir.PtrAccessChain, []*ir.Value{root, offset}, []uint32{1}
}

// comparePointers writes PtrEqual, PtrNotEqual and PtrDiff.
func (e *emitter) comparePointers(v *ir.Value) {
	p, q := v.Args[0], v.Args[1]
	if a, b := rootOf(p), rootOf(q); a != nil && b != nil && a != b {
		unsupportedf("the comparison of pointers into different variables")
	}
	u32 := &ir.Type{Kind: ir.Int, Bits: 32}
	if v.Op != ir.PtrDiff {
		e.expression(v, 0, func(m mode) {
			m.get(p, 0)
			m.get(q, 0)
			m.compare(map[ir.Op]ir.Op{ir.PtrEqual: ir.IEqual, ir.PtrNotEqual: ir.INotEqual}[v.Op], u32)
		})
		return
	}
	stride := p.Type.Stride
	if stride == 0 {
		unsupportedf("the distance of pointers without a stride")
	}
	distance := func(push func(p *ir.Value)) {
		push(p)
		push(q)
		e.Op(wasm.I32Sub)
		e.I32Const(int32(stride))
		if e.Op(wasm.I32DivS); isWide(v.Type) {
			e.Op(wasm.I64ExtendI32S)
		}
		e.normalise(v.Type)
	}
	e.set(v, 0, func() { distance(func(p *ir.Value) { e.push(p, 0) }) }, func(half int) {
		e.lanewise(v.Type, half, func(lane int) { distance(func(p *ir.Value) { e.pushLane(p, 0, lane) }) })
	})
}
