package compile

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/spv/ir"
)

// lowerTexels makes storage buffers of texel buffers: an array of vectors of four, because
// texels always have four components of 32 bits. Later stages know no texel buffers.
func lowerTexels(p *ir.Program) {
	zero := &ir.Value{Op: ir.Const, Type: &ir.Type{Kind: ir.Int, Bits: 32}}
	images := map[*ir.Value]bool{}
	for _, v := range p.Vars {
		image := v.Var.Type
		if image.Kind != ir.TexelBuffer {
			continue
		}
		images[v] = true
		texel := &ir.Type{Kind: ir.Vector, N: 4, Elem: image.Elem}
		array := &ir.Type{Kind: ir.RuntimeArray, Elem: texel, Stride: 16}
		v.Var.Class, v.Var.Type = ir.StorageBuffer, &ir.Type{Kind: ir.Struct, Members: []ir.Member{{Type: array}}}
		v.Type = &ir.Type{Kind: ir.Pointer, Elem: v.Var.Type, Class: ir.StorageBuffer}
	}
	if len(images) == 0 {
		return
	}
	for _, b := range p.Entry.Blocks {
		var list []*ir.Value
		for _, v := range b.Values {
			switch v.Op {
			case ir.Load:
				if images[v.Args[0]] {
					continue // Its uses name the variable, see imageOf.
				}
			case ir.CopyObject:
				if v.Type.Kind == ir.TexelBuffer {
					continue
				}
			case ir.ImageFetch, ir.ImageRead, ir.ImageWrite:
				root := imageOf(v.Args[0])
				texel := root.Var.Type.Members[0].Type.Elem
				at := &ir.Value{Op: ir.AccessChain, Type: &ir.Type{Kind: ir.Pointer, Elem: texel, Class: ir.StorageBuffer}, Args: []*ir.Value{root, zero, v.Args[1]}, Block: b}
				list = append(list, at)
				if v.Op == ir.ImageWrite {
					v.Op, v.Args = ir.Store, []*ir.Value{at, v.Args[2]}
				} else {
					list = append(list, readTexel(v, at, root)...)
				}
				v.Literals = nil
			case ir.ImageQuerySize, ir.ImageQuerySizeLod:
				v.Op, v.Args, v.Literals = ir.ArrayLength, []*ir.Value{imageOf(v.Args[0])}, []uint32{0}
			case ir.ImageTexelPointer:
				unsupportedf("an atomic operation on a texel buffer")
			}
			list = append(list, v)
		}
		b.Values = slices.Clip(list)
	}
}

// readTexel makes of v the texel at an address, or zeros if the coordinate is out of range,
// as drivers have it. It returns what must stand before v.
func readTexel(v, at, root *ir.Value) []*ir.Value {
	b, u32, boolean := v.Block, &ir.Type{Kind: ir.Int, Bits: 32}, &ir.Type{Kind: ir.Bool}
	coordinate := v.Args[1]
	var list []*ir.Value
	if coordinate.Type.Bits != 32 {
		coordinate = &ir.Value{Op: ir.UConvert, Type: u32, Args: []*ir.Value{coordinate}, Block: b}
		list = append(list, coordinate)
	}
	length := &ir.Value{Op: ir.ArrayLength, Type: u32, Args: []*ir.Value{root}, Literals: []uint32{0}, Block: b}
	inside := &ir.Value{Op: ir.ULessThan, Type: boolean, Args: []*ir.Value{coordinate, length}, Block: b}
	texel := &ir.Value{Op: ir.Load, Type: v.Type, Args: []*ir.Value{at}, Block: b}
	v.Op, v.Args = ir.Select, []*ir.Value{inside, texel, {Op: ir.Const, Type: v.Type}}
	return append(list, length, inside, texel)
}

// imageOf returns the variable that an image was loaded from.
func imageOf(v *ir.Value) *ir.Value {
	for v.Op == ir.CopyObject || v.Op == ir.Load {
		v = v.Args[0]
	}
	if v.Op != ir.Variable {
		unsupportedf("a choice of texel buffers")
	}
	return v
}
