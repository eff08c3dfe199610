package compile

import "github.com/lathe-gpu/lathe/internal/spv/ir"

// evenGroup are addresses of one buffer that differ by constants. Only the lowest and the
// highest one need a test.
type evenGroup struct {
	low, high *ir.Value
	from, to  int32 // their constants
}

// evenKey names the addresses of a group.
type evenKey struct {
	root, index  *ir.Value
	unit, offset int64
	t            *ir.Type
}

// mostBetween bounds the constants of a group, so that all distances stay far below 2^32.
const mostBetween = 1 << 16

// evenGroups lists the groups of the addresses of a loop.
func (e *emitter) evenGroups(l *countedLoop) (list []*evenGroup) {
	groups, seen := map[evenKey]*evenGroup{}, map[*ir.Value]bool{}
	for _, v := range l.accesses {
		p := v.Args[0]
		if seen[p] {
			continue
		}
		seen[p] = true
		key, c := keyOf(p)
		g := groups[key]
		if g == nil {
			g = &evenGroup{p, p, c, c}
			groups[key] = g
			list = append(list, g)
		}
		if c < g.from {
			g.low, g.from = p, c
		}
		if c > g.to {
			g.high, g.to = p, c
		}
	}
	return list
}

// keyOf returns the group of an address and its constant. An address of another form has a
// group of its own.
func keyOf(p *ir.Value) (evenKey, int32) {
	own := evenKey{index: p}
	if p.Op != ir.AccessChain || p.Args[0].Op != ir.Variable {
		return own, 0
	}
	steps := stepsOf(p)
	key := evenKey{root: p.Args[0], offset: offsetOf(steps), t: placeOf(p).t}
	for _, s := range steps {
		switch {
		case s.index == nil:
		case key.index != nil || !isWord(s.index.Type):
			return own, 0
		default:
			key.index, key.unit = s.index, s.unit
		}
	}
	if key.index == nil || key.unit < 1 || key.unit > mostBetween {
		return own, 0
	}
	var c int32
	if x := key.index; x.Op == ir.IAdd && x.Args[1].Op == ir.Const && isWord(x.Args[0].Type) {
		if c = int32(uint32(x.Args[1].Bits)); c < -mostBetween/int32(key.unit) || c > mostBetween/int32(key.unit) {
			return own, 0
		}
		key.index = x.Args[0]
	}
	return key, c
}
