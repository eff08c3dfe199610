package spirv_test

import (
	"encoding/binary"
	"slices"
	"testing"
)

// block is a basic block of a function.
type block struct {
	out, in []uint32
	merge   uint32 // of a loop's head
}

// blocks returns the basic blocks of a module, by label.
func blocks(code []byte) map[uint32]*block {
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(code[4*i:]) }
	all, label := map[uint32]*block{}, uint32(0)
	for i := 5; i < len(code)/4; i += int(word(i) >> 16) {
		to := func(at int) {
			if l := word(i + at); !slices.Contains(all[label].out, l) {
				all[label].out = append(all[label].out, l)
			}
		}
		switch word(i) & 0xffff {
		case 248: // OpLabel
			label = word(i + 1)
			all[label] = &block{}
		case 246: // OpLoopMerge
			all[label].merge = word(i + 1)
		case 249: // OpBranch
			to(1)
		case 250: // OpBranchConditional
			to(2)
			to(3)
		case 251: // OpSwitch
			to(2)
			for k := 4; k < int(word(i)>>16); k += 2 {
				to(k)
			}
		}
	}
	for l, b := range all {
		for _, o := range b.out {
			all[o].in = append(all[o].in, l)
		}
	}
	return all
}

// search counts the steps that SwiftShader needs to find out whether a loop's head leads
// to one of the blocks before it, up to a limit. It marks a block as seen only when it
// leaves the block. So a block that two others lead to is entered twice, and so are all
// blocks after it.
func search(all map[uint32]*block, head, before uint32, limit int) int {
	seen := map[uint32]bool{all[head].merge: true}
	queue, steps := []uint32{head}, 0
	for ; len(queue) > 0 && steps < limit; steps++ {
		at := queue[0]
		queue = queue[1:]
		for _, o := range all[at].out {
			if o == before {
				return steps
			}
			if !seen[o] {
				queue = append(queue, o)
			}
		}
		seen[at] = true
	}
	return steps
}

// TestLoopsHaveFewBranches checks the loops of all kernels. SwiftShader compiles a loop
// with very many branches for a long time, or without end. No
// kernel may have such a loop. docs/shaders.md says how to avoid it.
func TestLoopsHaveFewBranches(t *testing.T) {
	const limit = 200_000 // This takes about 0.01 s. Twenty ternaries in a row take a million steps.
	for n, m := range every(t) {
		all := blocks(m.Code)
		for head, b := range all {
			for _, before := range b.in {
				if b.merge != 0 && search(all, head, before, limit) == limit {
					t.Errorf("%s: SwiftShader needs more than %d steps to find its way in a loop: write selections in it as mix", n, limit)
				}
			}
		}
	}
}
