package spv

import (
	"testing"

	"github.com/lathe-gpu/lathe/internal/testkit"
)

// fromBody counts the values that continue constructs of a module use although their
// loops' bodies compute them. It goes by reachability:
// the continue construct is what the continue target reaches without its header and merge
// block, and the loop what the header reaches without the merge block and what follows.
func fromBody(t *testing.T, code []byte) (loops, uses int) {
	t.Helper()
	s := apart(t, code)
	if err := s.order(); err != nil {
		t.Fatal(err)
	}
	if err := s.link(); err != nil {
		t.Fatal(err)
	}
	for _, fn := range s.fns {
		for _, h := range fn.blocks {
			if h.merge == nil || h.merge.op != opLoopMerge {
				continue
			}
			merge, target := fn.at[h.merge.args()[0]], fn.at[h.merge.args()[1]]
			if target == h || len(target.pred) == 0 {
				continue
			}
			loops++
			reach := func(from *block) map[*block]bool {
				seen := map[*block]bool{}
				for pending := []*block{from}; len(pending) > 0; {
					b := pending[0]
					pending = pending[1:]
					if b == merge || b == h && from != h || seen[b] {
						continue
					}
					seen[b] = true
					pending = append(pending, b.succ...)
				}
				return seen
			}
			construct, loop := reach(target), reach(h)
			count := func(in *inst, from func(*block) bool) {
				_ = s.values(in, func(k int, id uint32) error {
					if in.op == opPhi && !from(fn.at[in.args()[k+1]]) {
						return nil
					}
					d := s.def[id]
					if b := s.blockOf[d]; b != nil && s.fnOf[d] == fn && loop[b] && !construct[b] && s.insts[d].op != opVariable {
						uses++
					}
					return nil
				})
			}
			inConstruct := func(b *block) bool { return construct[b] }
			for b := range construct {
				for _, in := range b.body {
					count(in, inConstruct)
				}
				count(b.term, nil)
			}
			for _, in := range h.body {
				if in.op == opPhi {
					count(in, inConstruct)
				}
			}
		}
	}
	return loops, uses
}

// Compilers write loops whose continue construct uses values of the body, and Lower
// leaves none, whatever is nested in what.
func TestLowerLoops(t *testing.T) {
	for _, body := range []string{
		"for (int i = 0; i < d[0]; i++) d[i] = i;",
		"int a = d[0], b = d[1]; for (int i = 0; i < d[2]; i++) { int c = a; a = b; b = c; } d[3] = a - b;",
		"int a = d[0], s = 0; for (int i = d[1]; i > 0; i /= 3) { int q = a / d[i]; s += (a - q * d[i]) * d[i + 1]; a = q; } d[2] = s;",
		"int s = 0; for (int i = 0; i < d[0]; i++) { if (d[i] == 2) continue; s += d[i]; for (int k = i; k < d[1]; k += d[k]) s += k; } d[0] = s;",
		"int i = 0; do { int v = d[i]; if (v > 5) d[i] = v + 1; i += v; } while (i < d[9]);",
		"int s = 0; for (int i = 0; i < d[7]; i++) s += d[i]; d[7] = s;", // a pointer that leaves the loop
		"vec2 v = vec2(d[0], d[1]); bool w = true; for (int i = 0; i < d[2]; i++, w = !w) v = w ? v.yx * 2.0 : v; d[0] = int(v.x);",
	} {
		text := "#version 450\nlayout(local_size_x = 1) in;\nlayout(set = 0, binding = 0) buffer B { int d[]; };\nvoid main() {\n" + body + "\n}\n"
		for _, opt := range []string{"-O0", "-O"} {
			m, err := Parse("", testkit.GLSL(t, text, opt))
			if err != nil {
				t.Fatalf("%s: %v", body, err)
			}
			loops, before := fromBody(t, m.Code)
			l, _ := lowered(t, m, false)
			if _, after := fromBody(t, l.Code); loops == 0 || opt == "-O" && before == 0 || after > 0 {
				t.Errorf("%s %s: %d loops use %d values of their bodies in their continue constructs, and %d when lowered; want some, some and none", opt, body, loops, before, after)
			}
			if _, err := Parse("", l.Code); err != nil {
				t.Errorf("%s %s: %v", opt, body, err)
			}
		}
	}
}
