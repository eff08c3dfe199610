package compile

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/spv/ir"
)

// lower replaces instructions by others that mean the same, so that later stages need not
// know them.
func lower(p *ir.Program) {
	lowerTexels(p)
	lowerPointers(p.Entry)
	for _, b := range p.Entry.Blocks {
		var list []*ir.Value
		for _, v := range b.Values {
			switch v.Op {
			case ir.AssumeTrueKHR:
				continue
			case ir.ExpectKHR:
				v.Op, v.Args = ir.CopyObject, v.Args[:1]
			case ir.ExtInst:
				list = append(list, takeApart(v)...)
				continue
			case ir.Load:
				list = append(list, wholeInput(v)...)
			default:
				if op, ok := oldSubgroup[v.Op]; ok {
					v.Op, v.Args = op, slices.Insert(slices.Clone(v.Args), 0, subgroupScope)
				}
			}
			list = append(list, v)
		}
		b.Values = slices.Clip(list)
	}
}

// oldSubgroup are the operations of SPV_KHR_shader_ballot and SPV_KHR_subgroup_vote. Those of
// SPIR-V 1.3 have the scope as one more operand.
var oldSubgroup = map[ir.Op]ir.Op{
	ir.SubgroupBallotKHR: ir.GroupNonUniformBallot, ir.SubgroupFirstInvocationKHR: ir.GroupNonUniformBroadcastFirst,
	ir.SubgroupReadInvocationKHR: ir.GroupNonUniformBroadcast,
	ir.SubgroupAllKHR:            ir.GroupNonUniformAll, ir.SubgroupAnyKHR: ir.GroupNonUniformAny, ir.SubgroupAllEqualKHR: ir.GroupNonUniformAllEqual,
}

// subgroupScope is the scope Subgroup.
var subgroupScope = &ir.Value{Op: ir.Const, Type: &ir.Type{Kind: ir.Int, Bits: 32}, Bits: 3}

// takeApart makes of Frexp and Modf, which store a part of their result, FrexpStruct and
// ModfStruct, which do not. Other instructions stay.
func takeApart(v *ir.Value) []*ir.Value {
	number := v.Literals[0]
	if number != glslFrexp && number != glslModf {
		return []*ir.Value{v}
	}
	second := v.Args[1].Type.Elem
	both := &ir.Value{Op: ir.ExtInst, Literals: []uint32{number + 1}, Args: v.Args[:1:1], Block: v.Block,
		Type: &ir.Type{Kind: ir.Struct, Members: []ir.Member{{Type: v.Type}, {Type: second}}}}
	part := &ir.Value{Op: ir.CompositeExtract, Type: second, Args: []*ir.Value{both}, Literals: []uint32{1}, Block: v.Block}
	store := &ir.Value{Op: ir.Store, Args: []*ir.Value{v.Args[1], part}, Block: v.Block}
	v.Op, v.Args, v.Literals = ir.CompositeExtract, []*ir.Value{both}, []uint32{0}
	return []*ir.Value{both, part, store, v}
}

// wholeInput has a load of one component of a built-in input load all of them, if the index
// is no constant. It returns what must stand before the load, which becomes the choice of
// the component.
func wholeInput(v *ir.Value) []*ir.Value {
	p := v.Args[0]
	root := rootOf(p)
	if root == nil || !root.Var.IsBuiltin || p.Op != ir.AccessChain {
		return nil
	}
	index := p.Args[1]
	if _, constant := constantLeaf(index, 0); constant {
		return nil
	}
	all := &ir.Value{Op: ir.Load, Type: root.Var.Type, Args: []*ir.Value{root}, Block: v.Block}
	v.Op, v.Args = ir.VectorExtractDynamic, []*ir.Value{all, index}
	return []*ir.Value{all}
}
