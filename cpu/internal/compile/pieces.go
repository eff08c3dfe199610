package compile

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/spv/ir"
)

// pieces divide a function at its barriers. Values that a piece computes and another one
// needs are kept in the frame, because all vectors of a workgroup run one piece before any
// runs the next.
type pieces struct {
	// number is the piece of each value of the function.
	number map[*ir.Value]int
	// shared are the values that another piece needs.
	shared map[*ir.Value]bool
}

// piecesOf divides a function. Without barriers it is one piece.
func piecesOf(s *shapes) pieces {
	p := pieces{map[*ir.Value]int{}, map[*ir.Value]bool{}}
	if !s.barriers {
		return p
	}
	// The piece of an inner block is that at the end of the outer block before it.
	last := map[*ir.Block]int{}
	next := 0
	for _, b := range s.f.Blocks {
		n := 0
		if c := s.inner(b); c == nil || c.head == b {
			next++
			n = next
		} else {
			n = last[c.head]
		}
		for _, v := range b.Values {
			if isBarrier(v) && s.isOuter(b) {
				next++
				n = next
			}
			p.number[v] = n
		}
		p.number[b.Term] = n
		last[b] = n
	}
	for _, b := range s.f.Blocks {
		for _, v := range append(slices.Clone(b.Values), b.Term) {
			for i, a := range v.Args {
				at := p.number[v]
				switch {
				case v.Op == ir.Phi && s.isOuterPhi(b):
					at = noPiece
				case v.Op == ir.Phi:
					at = last[b.Preds[i]]
				}
				if p.number[a] != at {
					p.shared[a] = true
				}
			}
			if v.Op == ir.Phi && s.isOuterPhi(b) {
				p.shared[v] = true
			}
		}
	}
	return p
}

// noPiece is the number of no piece.
const noPiece = -1

// demote makes variables of the values that are computed in a loop which invocations leave at
// different times, and that are used behind it. It reports whether there were any.
func (s *shapes) demote(f *ir.Func) bool {
	found := false
	all := f.Uses() // Uses that Demote adds stand beside those that it changes.
	for _, b := range f.Blocks {
		var loops []*construct
		for _, c := range s.inside[b] {
			if c.isLoop() && c.open {
				loops = append(loops, c)
			}
		}
		if len(loops) == 0 {
			continue
		}
		for _, v := range slices.Clone(b.Values) {
			if v.Type == nil || v.Type.Kind == ir.Void {
				continue
			}
			if uses := s.usesOutside(all[v], loops); len(uses) > 0 {
				found = true
				f.Demote(v, uses)
			}
		}
	}
	return found
}

// usesOutside lists those of the uses of a value that are not in all of the loops around it.
func (s *shapes) usesOutside(uses []ir.Use, loops []*construct) (list []ir.Use) {
	for _, u := range uses {
		at := u.Block()
		if slices.ContainsFunc(loops, func(c *construct) bool { return !c.blocks[at] }) {
			list = append(list, u)
		}
	}
	return list
}
