package spv

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/lathe-gpu/lathe/internal/errs"
)

// entryName is what the entry point of a module is called once it is parsed.
const entryName = "main"

// Entries lists the names of a module's compute entry points in their order. It
// reads no more of the module than that takes.
//
// Errors: ErrInvalidShader.
func Entries(code []byte) ([]string, error) {
	s, err := cut(code)
	if err != nil {
		return nil, fmt.Errorf("spv: entries: %w", err)
	}
	_, names := s.entries()
	return names, nil
}

// Entry gives the module that has the compute entry point name alone, called "main".
// What only the others use is gone from it: functions, variables with their bindings
// and their shared memory, and capabilities. A module that has this one entry point,
// called "main", comes back as it is. The result shares no memory with code, unless it
// is code, and is no more valid than code was: Parse checks it.
//
// Errors: ErrInvalidArgument listing the names there are; ErrInvalidShader.
func Entry(code []byte, name string) ([]byte, error) {
	out, err := canonical(code, name)
	if err != nil {
		return nil, fmt.Errorf("spv: entry %q: %w", name, err)
	}
	return out, nil
}

// models names the execution models of Vulkan that are no compute shaders.
var models = map[uint32]string{
	0: "vertex", 1: "tessellation control", 2: "tessellation evaluation", 3: "geometry", 4: "fragment",
	5267: "task", 5268: "mesh", 5364: "task", 5365: "mesh",
	5313: "ray generation", 5314: "intersection", 5315: "any-hit", 5316: "closest-hit", 5317: "miss", 5318: "callable",
}

// entries are the compute entry points, and their names.
func (s *shader) entries() (list []*inst, names []string) {
	for i := range s.insts {
		in := &s.insts[i]
		if in.op != opEntryPoint || in.w[1] != modelGLCompute {
			continue
		}
		if name, _, ok := str(in.w[3:]); ok {
			list, names = append(list, in), append(names, name)
		}
	}
	return list, names
}

// choose finds the entry point that name means: "" is "main", or the only one.
func (s *shader) choose(name string) (*inst, error) {
	list, names := s.entries()
	quoted := func() string { return `"` + strings.Join(names, `", "`) + `"` }
	want := name
	if want == "" {
		want = entryName
	}
	at := slices.Index(names, want)
	switch {
	case at >= 0 && slices.Contains(names[at+1:], want):
		return nil, invalid("a second entry point %q", want)
	case at >= 0:
		return list[at], nil
	case name != "" && len(names) == 0:
		return nil, fmt.Errorf("%w: the module has no compute entry point", errs.ErrInvalidArgument)
	case name != "":
		return nil, fmt.Errorf("%w: the compute entry points are %s", errs.ErrInvalidArgument, quoted())
	case len(list) == 1:
		return list[0], nil
	case len(list) > 1:
		return nil, unsupported("several entry points and none called %q: choose one of %s (gpu.ModuleEntry, lathe dispatch --entry)", entryName, quoted())
	}
	for i := range s.insts {
		in := &s.insts[i]
		if in.op != opEntryPoint || models[in.w[1]] == "" {
			continue
		}
		other, _, _ := str(in.w[3:])
		return nil, unsupported("no compute shader: entry point %q is a %s shader", other, models[in.w[1]])
	}
	return nil, nil // validation says what is wrong
}

// canonical rewrites a module so that all that reads it later meets one form: it has
// the entry point of that name alone (see choose), called "main"; the memory model
// Simple is GLSL450, which promises more; a set of instructions is imported once; and
// nothing is left that means nothing to
// its execution, debug information and the notes of compilers, for which drivers want
// extensions. A module that is in this form comes back as it is.
func canonical(code []byte, name string) ([]byte, error) {
	s, err := cut(code)
	if err != nil {
		return nil, err
	}
	main, err := s.choose(name)
	if err != nil || main == nil {
		return code, err
	}
	points, push := 0, 0
	for i := range s.insts {
		switch in := &s.insts[i]; {
		case in.op == opEntryPoint:
			points++
		case in.op == opVariable && in.w[3] == classPushConstant:
			push++
		}
	}
	called, _, _ := str(main.w[3:])
	strip := points > 1 || push > 1
	drop := s.imports(s.notes())
	if !strip && drop == nil && called == entryName && !s.simple() {
		return code, nil
	}
	if drop == nil {
		drop = make([]bool, len(s.insts))
	}
	live := map[uint32]bool{}
	if strip {
		if live, err = s.strip(main, drop); err != nil {
			return nil, err
		}
	}
	out := append(make([]byte, 0, len(code)), code[:4*headerWords]...)
	for i := range s.insts {
		in := &s.insts[i]
		w := in.w
		switch {
		case drop[i]:
			continue
		case in.op == opEntryPoint && in == main:
			_, n, _ := str(w[3:])
			w = append(slices.Clone(w[:3]), words(entryName)...)
			for _, id := range in.w[3+n:] {
				if !strip || live[id] {
					w = append(w, id)
				}
			}
			w[0] = uint32(len(w))<<16 | uint32(opEntryPoint)
		case in.op == opMemoryModel && w[2] == modelSimple:
			w[2] = modelGLSL450
		}
		out = appendWords(out, w)
	}
	if strip {
		out = unneeded(out)
	}
	return out, nil
}

// Memory models.
const (
	modelSimple  = 0
	modelGLSL450 = 1
	modelVulkan  = 3
)

// simple reports the memory model Simple.
func (s *shader) simple() bool {
	return slices.ContainsFunc(s.insts, func(in inst) bool { return in.op == opMemoryModel && in.w[2] == modelSimple })
}

// imports makes one import of those of the same set of instructions, and marks the
// others in drop, which it makes where there is none yet.
func (s *shader) imports(drop []bool) []bool {
	first := map[string]uint32{}
	same := map[uint32]uint32{} // imports by those that stand for them
	for i := range s.insts {
		in := &s.insts[i]
		if in.op != opExtInstImport {
			continue
		}
		name, _, ok := str(in.w[2:])
		switch id, again := first[name]; {
		case !ok:
		case !again:
			first[name] = in.res
		case id != in.res: // else an id is defined twice, as validation says
			same[in.res] = id
		}
	}
	if len(same) == 0 {
		return drop
	}
	if drop == nil {
		drop = make([]bool, len(s.insts))
	}
	for i := range s.insts {
		switch in := &s.insts[i]; in.op {
		case opExtInstImport:
			drop[i] = drop[i] || same[in.res] != 0
		case opName:
			drop[i] = drop[i] || same[in.w[1]] != 0
		case opExtInst:
			if id := same[in.w[3]]; id != 0 {
				in.w[3] = id
			}
		}
	}
	return drop
}

// noted are the extensions that only add notes for people, tools and optimisers.
var noted = map[string]bool{
	"SPV_KHR_non_semantic_info": true, "SPV_GOOGLE_decorate_string": true, "SPV_GOOGLE_hlsl_functionality1": true,
	"SPV_GOOGLE_user_type": true, "SPV_KHR_no_integer_wrap_decoration": true,
}

// notes marks the instructions that mean nothing to a module's execution, nil if there
// are none: those of sets called NonSemantic, decorations of its source language,
// promises that sums do not wrap, and the lines of the source, which may stand before any
// instruction and so between two that belong together.
func (s *shader) notes() []bool {
	const (
		decNoSignedWrap      = 4469
		decNoUnsignedWrap    = 4470
		decHlslCounterBuffer = 5634
	)
	var drop []bool
	cross := func(i int) {
		if drop == nil {
			drop = make([]bool, len(s.insts))
		}
		drop[i] = true
	}
	gone := map[uint32]bool{}
	merge := func(i int) bool { // before a line, which is invalid: see functions
		return i >= 0 && (s.insts[i].op == opLoopMerge || s.insts[i].op == opSelectionMerge)
	}
	for i := range s.insts {
		switch in := &s.insts[i]; {
		case (in.op == opLine || in.op == opNoLine) && !merge(i-1):
			cross(i)
		case in.op == opExtension:
			if name, _, _ := str(in.w[1:]); noted[name] {
				cross(i)
			}
		case in.op == opExtInstImport:
			if name, _, _ := str(in.w[2:]); strings.HasPrefix(name, "NonSemantic.") {
				gone[in.res] = true
				cross(i)
			}
		case in.op == opExtInst && gone[in.w[3]]:
			gone[in.res] = true
			cross(i)
		case in.op == opDecorateString || in.op == opMemberDecorateString || in.op == opDecorateID && in.w[2] == decHlslCounterBuffer,
			in.op == opDecorate && (in.w[2] == decNoSignedWrap || in.w[2] == decNoUnsignedWrap):
			cross(i)
		}
	}
	if len(gone) > 0 { // names may come before what they name
		for i := range s.insts {
			if in := &s.insts[i]; (in.op == opName || in.op == opDecorate) && gone[in.w[1]] {
				cross(i)
			}
		}
	}
	return drop
}

// unneeded takes the capabilities out of a module that none of its instructions needs,
// as far as that can be told: those of entry points that were cut out of it.
func unneeded(code []byte) []byte {
	s, err := decode(code)
	if err != nil || s.define() != nil || s.annotate() != nil || s.declare() != nil {
		return code // validation says why
	}
	needed := map[uint32]bool{}
	for i := range s.insts {
		in := &s.insts[i]
		switch b, builtIn := uint32(0), false; {
		case in.op == opDecorate && len(in.w) == 4 && in.w[2] == decBuiltIn:
			b, builtIn = in.w[3], true
			if builtIn && (b >= 36 && b <= 41 || b >= 4416 && b <= 4420) {
				needed[capGroup], needed[capBallotKHR] = true, true
			}
		case in.op == 228: // AtomicStore: of which type is not in it
			needed[capInt64Atomics] = true
		}
		for _, c := range s.needs(in) {
			needed[c] = true
		}
	}
	out := append(make([]byte, 0, len(code)), code[:4*headerWords]...)
	for i := range s.insts {
		in := &s.insts[i]
		if name, _, _ := str(in.w[1:]); in.op == opExtension && !extensions[name] {
			continue
		}
		if in.op == opCapability {
			c := in.w[1]
			if k, known := capabilities[c]; !known && foreign[c] != "" || known && told[c] && !needed[c] && !slices.ContainsFunc(k.implies, func(m uint32) bool { return told[m] && needed[m] }) {
				continue
			}
		}
		out = appendWords(out, in.w)
	}
	binary.LittleEndian.PutUint32(out[4*3:], s.bound)
	return out
}

// told are the capabilities whose need shows in instructions: those that needs names.
var told = map[uint32]bool{
	capInt8: true, capStorage8: true, capUniform8: true, capPush8: true, capInt16: true, capStorage16: true, capUniform16: true,
	capPush16: true, capInt64: true, capFloat16: true, capFloat64: true, capInt64Atomics: true, capSampledBuffer: true,
	capImageBuffer: true, capImageQuery: true, capGroup: true, capGroupVote: true, capGroupArith: true, capGroupBallot: true,
	capGroupShuffle: true, capGroupRelative: true, capGroupCluster: true, capGroupQuad: true, capBallotKHR: true, capVoteKHR: true,
	6016: true, 6017: true, 6018: true, capDotProduct: true, capClock: true, capCoopKHR: true, capCoopNV: true, capAssume: true,
	5612: true, 5613: true, 6033: true, 6034: true,
}
