package spv

import (
	"errors"
	"fmt"
	"testing"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/testkit"
)

// Literals narrower than a word are extended as their type says, in constants and
// in the cases of a switch; spirv-val, where it is installed, says the same.
func TestNarrowLiterals(t *testing.T) {
	val := testkit.ToolIfAny(t, "spirv-val")
	for _, c := range []struct {
		typ  string
		word uint32
		ok   bool
	}{
		{"OpTypeInt 8 0", 0xff, true}, {"OpTypeInt 8 0", 0x100, false}, {"OpTypeInt 8 0", 0xffffffff, false},
		{"OpTypeInt 8 1", 0x7f, true}, {"OpTypeInt 8 1", 0x80, false}, {"OpTypeInt 8 1", 0xffffff80, true}, {"OpTypeInt 8 1", 0xffffff7f, false},
		{"OpTypeInt 16 0", 0xffff, true}, {"OpTypeInt 16 0", 0x10000, false},
		{"OpTypeInt 16 1", 0xffff8000, true}, {"OpTypeInt 16 1", 0x8000, false}, {"OpTypeInt 16 1", 0x7fff, true},
		{"OpTypeFloat 16", 0xffff, true}, {"OpTypeFloat 16", 0xffffffff, false},
	} {
		text := edit(t, good, "OpCapability 1", "OpCapability 1\nOpCapability 9\nOpCapability 22\nOpCapability 39")
		constant := edit(t, text, "%count = OpSpecConstant", fmt.Sprintf("%%narrow = %s\n%%lit = OpConstant %%narrow %#x\n%%count = OpSpecConstant", c.typ, c.word))
		texts := map[string]string{"constant": constant, "specialisation constant": edit(t, constant, "%lit = OpConstant", "%lit = OpSpecConstant")}
		if c.typ != "OpTypeFloat 16" {
			some := edit(t, text, "%count = OpSpecConstant", fmt.Sprintf("%%narrow = %s\n%%lit = OpConstant %%narrow 1\n%%count = OpSpecConstant", c.typ))
			texts["case"] = edit(t, some, "OpSelectionMerge %inside 0\nOpBranchConditional %far %leave %inside", fmt.Sprintf("OpSelectionMerge %%inside 0\nOpSwitch %%lit %%inside %#x %%leave", c.word))
		}
		for what, text := range texts {
			code := assemble(t, v13, text)
			_, err := Parse("", code)
			if (err == nil) != c.ok || err != nil && !errors.Is(err, errs.ErrInvalidShader) {
				t.Errorf("%s %#x of %s: got %v, want ok %v", what, c.word, c.typ, err, c.ok)
			}
			if val != "" {
				if out, verr := testkit.Validate(t, val, "vulkan1.1", code); (verr == nil) != (err == nil) {
					t.Errorf("%s %#x of %s: we say %v, spirv-val %v: %s", what, c.word, c.typ, err, verr, out)
				}
			}
		}
	}
}
