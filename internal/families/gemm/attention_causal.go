package gemm

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// In causal attention, query i sees the keys up to i + skv − sq: the last query sees all keys.

// seenKeys returns the number of keys that query i sees.
func seenKeys(i, sq, skv int) int { return max(min(i+skv-sq+1, skv), 0) }

// seenPairs returns the number of pairs of a query and a key that it sees.
func seenPairs(sq, skv int) int64 {
	least, most := int64(max(skv-sq+1, 1)), int64(skv) // what the first and the last query that see a key see
	if most == 0 {
		return 0
	}
	return (most - least + 1) * (least + most) / 2
}

// seenParams is the push-constant block of attention_seen.comp.
type seenParams struct {
	Rows, Height, Cols, Blocks, Block, Keys    uint32
	Seen                                       int32
	WeightBase, WeightMatrix, WeightRow        uint32
	ValueBase, ValueMatrix, ValueKey, ValueCol uint32
	Base, Matrix, Row, Part                    uint32
	RangeFrom, RangeTo, Later, Ranges          uint32
	More, Lengths                              uint32
	LengthFirst, LengthEach, LengthStep        uint32
}

var seenKernels = planner.DTypeVariants("nn/attention_seen", seenParams{}, planner.Floats, nil)

// seen returns how many of the keys from key from on the query i sees. It is negative if its last key is before. Without
// the attribute causal it is more than there are keys.
func (a *attention) seen(i, from int) int {
	if !a.causal {
		return math.MaxInt32 / 2
	}
	g := a.values
	return i + g.size(g.dimK()) - g.size(g.dimM()) + 1 - from
}

// keysOf returns the number of keys that a tile must read: whole texels, and at least one key, if there is one.
func (a *attention) keysOf(b planner.Region) int {
	m, all := a.values.dimM(), a.values.size(a.values.dimK())
	seen := max(min(a.seen(b.From[m]+b.N[m]-1, 0), all), 1)
	return min(planner.CeilDiv(seen, 8)*8, all)
}

// addSeen appends the launches that compute again what keys made NaN that a row does not see. at is the region of the product of
// the weights of a tile with the values, and o is where it is. The weights are operand a of the product.
func (a *attention) addSeen(at planner.Region, o planner.Operand) error {
	g := a.values
	m, n, k, inner := g.dimM(), g.dimN(), g.dimK(), g.inner()
	if a.lengths == nil && a.seen(at.From[m], at.From[k]) >= at.N[k] {
		return nil
	}
	keys := at.N[k]
	at = at.Clone()
	at.N[k] = 1
	v := g.b
	// The values of a range of keys take at most half of a binding. The other half is for columns and matrices.
	size, span := int64(v.DType.Size()), planner.MaxSpan(a.t, false)
	far := int64(v.Strides[k]) * size
	length := int(max(min(int64(keys), span/2/max(far, 1)), 1))
	noted := spec.Bind{Buf: a.stats} // This is not read if there is one range.
	if a.lengths != nil {
		noted.Buf = a.lengths.words
	}
	if length < keys {
		noted.Buf = planner.AddScratch(a.plan, (int64(at.Elems())*int64(a.parts)+int64(a.lengths.count()))*4)
		if err := a.addLengthsTo(noted.Buf); err != nil {
			return err
		}
	}
	return planner.Split(a.t, span-int64(length-1)*far, at, []planner.Operand{v, o}, 1, func(b planner.Region) error {
		rows := b.N[inner] * b.N[m]
		p := seenParams{
			Rows: uint32(rows), Height: uint32(b.N[m]), Cols: uint32(b.N[n]), Blocks: uint32(a.parts), Block: uint32(a.block), Keys: uint32(keys),
			WeightBase: uint32(g.a.First(b)), WeightMatrix: uint32(g.a.Strides[inner]), WeightRow: uint32(g.a.Strides[m]),
			ValueMatrix: uint32(v.Strides[inner]), ValueKey: uint32(v.Strides[k]), ValueCol: uint32(v.Strides[n]),
			Matrix: uint32(o.Strides[inner]), Row: uint32(o.Strides[m]), Part: uint32(g.part), Ranges: uint32(planner.CeilDiv(keys, length)),
		}
		p.Seen, p.More = a.seenBy(b.From[m], b.From[k])
		if p.LengthEach = 1; a.lengths != nil {
			p.Lengths, p.LengthFirst, p.LengthEach, p.LengthStep = uint32(a.lengths.count()), a.matrix(b), a.lengths.each, a.lengths.step
		}
		to := spec.Bind{Buf: o.Ref}
		if p.Base = uint32(o.First(b)); o.Ref.Kind != spec.RefScratch {
			to, p.Base = o.Window(a.t, b)
		}
		groups, err := planner.Grid(a.t, planner.CeilDiv(int64(rows)*int64(b.N[n])*int64(a.parts), planner.SmallGroup))
		for first := 0; first < keys; first += length {
			part := b.Clone()
			part.From[k], part.N[k] = b.From[k]+first, min(length, keys-first)
			var values spec.Bind
			values, p.ValueBase = v.Window(a.t, part)
			p.RangeFrom, p.RangeTo = uint32(first), uint32(first+part.N[k])
			a.plan.Steps = append(a.plan.Steps, spec.Step{
				Module: spirv.Kernel("nn/attention_seen." + v.DType.String()), Params: p, Groups: groups,
				Bind: []spec.Bind{{Buf: g.a.Ref}, values, to, noted},
			})
			p.Later = 1
		}
		return err
	})
}

// attentionWork returns the number of pairs of queries and keys of a call.
func attentionWork(causal bool, in []tensor.Desc) int64 {
	matrices, sq, skv, _, _ := attentionSizes(in)
	pairs := int64(sq) * int64(skv)
	if causal {
		pairs = seenPairs(sq, skv)
	}
	return int64(matrices) * pairs
}
