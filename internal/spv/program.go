package spv

import (
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/internal/spv/ir"
)

// decNoContraction is the decoration of what GLSL calls precise.
const decNoContraction = 42

// Program takes a validated module apart for a compiler. A module of ParseModule should go
// through Guard first.
// Errors: ErrUnsupported for types that no IR stands for.
func Program(m *Module) (*ir.Program, error) {
	if m == nil {
		return nil, noModule("program")
	}
	s, err := typed(m.Code)
	if err == nil {
		err = s.order()
	}
	if err == nil {
		err = s.link()
	}
	if err != nil {
		return nil, fmt.Errorf("spv: program %s: %w", m.label(), err)
	}
	r := &reader{s: s, types: map[uint32]*ir.Type{}, values: map[uint32]*ir.Value{}, blocks: map[*block]*ir.Block{}, funcs: map[uint32]*ir.Func{}}
	p, err := r.program(m)
	if err != nil {
		return nil, fmt.Errorf("spv: program %s: %w", m.label(), err)
	}
	return p, nil
}

// InstructionName returns the name of an instruction in the specification, for messages.
func InstructionName(op ir.Op) string { return opcode(op).String() }

// reader makes a Program of a shader.
type reader struct {
	s      *shader
	slots  map[uint32]uint32
	types  map[uint32]*ir.Type
	values map[uint32]*ir.Value
	blocks map[*block]*ir.Block
	funcs  map[uint32]*ir.Func
}

func (r *reader) program(m *Module) (*ir.Program, error) {
	p := &ir.Program{LocalSize: m.LocalSize}
	var err error
	if r.slots, err = r.s.slots(); err != nil {
		return nil, err
	}
	var main uint32
declarations:
	for i := range r.s.insts {
		in := &r.s.insts[i]
		switch {
		case in.op == opFunction:
			break declarations
		case in.op == opEntryPoint:
			main = in.args()[1]
		case isType(in.op):
			if _, err := r.typ(r.s.types[in.res]); err != nil {
				return nil, err
			}
		case isConstant(in.op) || in.op == opUndef:
			r.values[in.res] = r.constant(in)
		case in.op == opVariable:
			v := r.variable(in)
			p.Vars = append(p.Vars, v)
		}
	}
	for _, fn := range r.calledFirst() {
		p.Funcs = append(p.Funcs, r.function(fn))
	}
	if p.Entry = r.funcs[main]; p.Entry == nil {
		return nil, invalid("the entry point %%%d is no function", main)
	}
	return p, nil
}

// kinds are the kinds of types that have one instruction each.
var kinds = map[opcode]ir.Kind{
	opTypeVoid: ir.Void, opTypeBool: ir.Bool, opTypeInt: ir.Int, opTypeFloat: ir.Float, opTypeVector: ir.Vector, opTypeMatrix: ir.Matrix,
	opTypeArray: ir.Array, opTypeRuntimeArray: ir.RuntimeArray, opTypeStruct: ir.Struct, opTypePointer: ir.Pointer,
}

// typ returns the type for one of the module.
func (r *reader) typ(t *typ) (*ir.Type, error) {
	if t == nil {
		return nil, nil
	}
	if known := r.types[t.id]; known != nil {
		return known, nil
	}
	n := &ir.Type{N: t.n, Bits: t.width, Signed: t.signed, Class: ir.Class(t.class)}
	switch t.op {
	case opTypeFunction:
		return nil, nil // Func says it.
	case opTypeSampledImage:
		image, err := r.typ(t.elem) // A texel buffer has no sampler.
		r.types[t.id] = image
		return image, err
	case opTypeImage:
		if t.dim != dimBuffer {
			return nil, unsupported("images of dimension %d", t.dim)
		}
		n.Kind = ir.TexelBuffer
	default:
		kind, ok := kinds[t.op]
		if !ok {
			return nil, unsupported("%v", t)
		}
		n.Kind = kind
	}
	var err error
	if n.Elem, err = r.typ(t.elem); err != nil {
		return nil, err
	}
	n.Stride, _ = number(r.s.decor[t.id], decArrayStride)
	if t.op == opTypeStruct {
		for k, m := range t.members {
			decor := r.s.mdecor[member{t.id, uint32(k)}]
			part := ir.Member{RowMajor: has(decor, decRowMajor)}
			part.Offset, _ = number(decor, decOffset)
			part.MatrixStride, _ = number(decor, decMatrixStride)
			if part.Type, err = r.typ(m); err != nil {
				return nil, err
			}
			n.Members = append(n.Members, part)
		}
	}
	r.types[t.id] = n
	return n, nil
}

// constant returns a constant, or a value that may be anything.
func (r *reader) constant(in *inst) *ir.Value {
	v := &ir.Value{Op: ir.Const, Type: r.types[in.typ], ID: in.res}
	switch list, computed := r.s.vectors[in.res]; {
	case in.op == opUndef:
		v.Op = ir.Undef
	case in.op == opConstantComposite, in.op == opSpecConstantComposite:
		for _, id := range in.args() {
			v.Args = append(v.Args, r.values[id])
		}
	case computed:
		for _, bits := range list {
			v.Args = append(v.Args, &ir.Value{Op: ir.Const, Type: v.Type.Elem, Bits: bits})
		}
	default:
		v.Bits = r.s.scalars[in.res]
	}
	return v
}

// variable returns a variable, which may be of a function.
func (r *reader) variable(in *inst) *ir.Value {
	t := r.types[in.typ]
	v := &ir.Value{Op: ir.Variable, Type: t, ID: in.res, Var: &ir.Var{Class: t.Class, Type: t.Elem, Slot: r.slots[in.res], Name: r.s.names[in.res]}}
	v.Var.Builtin, v.Var.IsBuiltin = number(r.s.decor[in.res], decBuiltIn)
	if a := in.args(); len(a) > 1 {
		v.Var.Init = r.values[a[1]]
	}
	r.values[in.res] = v
	return v
}

// calledFirst returns the functions in an order in which each stands behind those that it
// calls. There is one, because the module has no recursion.
func (r *reader) calledFirst() []*function {
	byID := map[uint32]*function{}
	for _, fn := range r.s.fns {
		byID[fn.def.res] = fn
	}
	var list []*function
	done := map[*function]bool{}
	var visit func(fn *function)
	visit = func(fn *function) {
		if done[fn] {
			return
		}
		done[fn] = true
		for _, b := range fn.blocks {
			for _, in := range b.body {
				if in.op == opFunctionCall {
					visit(byID[in.args()[0]])
				}
			}
		}
		list = append(list, fn)
	}
	for _, fn := range r.s.fns {
		visit(fn)
	}
	return list
}

// function returns a function. Blocks that are not reachable are left out.
func (r *reader) function(fn *function) *ir.Func {
	f := &ir.Func{Result: r.types[fn.def.typ], Name: r.s.names[fn.def.res]}
	r.funcs[fn.def.res] = f
	for _, in := range fn.params {
		v := &ir.Value{Op: ir.FunctionParameter, Type: r.types[in.typ], ID: in.res}
		r.values[in.res] = v
		f.Params = append(f.Params, v)
	}
	// Phis name values of later blocks, so that all values exist before any has operands.
	for _, b := range fn.blocks {
		if !b.shape.reached {
			continue
		}
		block := &ir.Block{Index: len(f.Blocks)}
		f.Blocks = append(f.Blocks, block)
		r.blocks[b] = block
		for _, in := range b.body {
			switch {
			case in.op == opVariable:
				f.Vars = append(f.Vars, r.variable(in))
			case in.res != 0:
				r.values[in.res] = &ir.Value{Op: ir.Op(in.op), Type: r.types[in.typ], ID: in.res, Block: block}
			}
		}
	}
	for _, b := range fn.blocks {
		if block := r.blocks[b]; block != nil {
			r.block(block, b)
		}
	}
	return f
}

// block fills in a block.
func (r *reader) block(to *ir.Block, b *block) {
	at := func(label uint32) *ir.Block { return r.blocks[b.fn.at[label]] }
	if b.merge != nil {
		a := b.merge.args()
		if to.Merge = at(a[0]); b.merge.op == opLoopMerge {
			to.Continue = at(a[1])
		}
	}
	for _, p := range b.pred {
		if from := r.blocks[p]; from != nil {
			to.Preds = append(to.Preds, from)
		}
	}
	for _, in := range b.body {
		switch in.op {
		case opVariable, opLine, opNoLine:
			continue
		case opCopyMemory:
			from := r.values[in.args()[1]]
			load := &ir.Value{Op: ir.Load, Type: from.Type.Elem, Args: []*ir.Value{from}, Block: to}
			store := &ir.Value{Op: ir.Store, Args: []*ir.Value{r.values[in.args()[0]], load}, Block: to}
			to.Values = append(to.Values, load, store)
			continue
		case opExtInst:
			if r.s.nonSemantic(in.args()[0]) {
				continue
			}
		}
		v := r.values[in.res]
		if in.res == 0 {
			v = &ir.Value{Op: ir.Op(in.op), Block: to}
		}
		r.operands(v, in)
		switch v.Op {
		case ir.InBoundsAccessChain:
			v.Op = ir.AccessChain
		case ir.InBoundsPtrAccessChain:
			v.Op = ir.PtrAccessChain
		case ir.Image:
			v.Op = ir.CopyObject
		}
		if in.op == opPhi {
			v.Args = r.incoming(in, b)
		}
		to.Values = append(to.Values, v)
	}
	to.Term = &ir.Value{Op: ir.Op(b.term.op), Block: to}
	a := b.term.args()
	switch b.term.op {
	case opBranch:
		to.Next = []*ir.Block{at(a[0])}
	case opBranchConditional:
		to.Term.Args, to.Next = []*ir.Value{r.values[a[0]]}, []*ir.Block{at(a[1]), at(a[2])}
	case opSwitch:
		to.Term.Args, to.Next = []*ir.Value{r.values[a[0]]}, []*ir.Block{at(a[1])}
		words := int(r.s.typeOf(a[0]).width+31) / 32
		for a = a[2:]; len(a) > 0; a = a[words+1:] {
			to.Term.Literals = append(to.Term.Literals, a[:words]...)
			to.Next = append(to.Next, at(a[words]))
		}
	case opReturnValue:
		to.Term.Args = []*ir.Value{r.values[a[0]]}
	}
}

// operands fills in the operands of a value.
func (r *reader) operands(v *ir.Value, in *inst) {
	isValue := map[int]bool{}
	_ = r.s.values(in, func(k int, id uint32) error {
		isValue[k] = true
		v.Args = append(v.Args, r.values[id])
		return nil
	})
	v.Precise = in.res != 0 && has(r.s.decor[in.res], decNoContraction)
	a := in.args()
	switch in.op {
	case opFunctionCall:
		v.Func = r.funcs[a[0]]
		return
	case opExtInst:
		v.Literals = a[1:2]
		return
	case opPhi, opLoad, opStore: // memory operands promise what does not matter here
		return
	}
	for k, w := range a {
		if !isValue[k] {
			v.Literals = append(v.Literals, w)
		}
	}
}

// incoming returns the values of a phi in the order of the block's predecessors.
func (r *reader) incoming(in *inst, b *block) []*ir.Value {
	a := in.args()
	var list []*ir.Value
	for _, p := range b.pred {
		if r.blocks[p] == nil {
			continue
		}
		list = append(list, r.values[a[slices.Index(a, p.label)-1]]) // no value has the number of a label
	}
	return list
}
