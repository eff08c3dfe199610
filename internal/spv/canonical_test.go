package spv

import (
	"bytes"
	"strings"
	"testing"
)

// Several imports of one set become the first, so that no step of Guard misses what
// another of them is used for.
func TestImportsBecomeOne(t *testing.T) {
	const one = `%glsl = OpExtInstImport "GLSL.std.450"` + "\n"
	twice := edit(t, good, one, one+`%set2 = OpExtInstImport "GLSL.std.450"`+"\n")
	twice = edit(t, twice, `OpName %src "src"`, "OpName %set2 \"again\"\nOpName %src \"src\"")
	plain := edit(t, twice, "OpName %set2 \"again\"\n", "")
	twice = edit(t, twice, "%sq = OpExtInst %f32 %glsl 31 %v", "%sq = OpExtInst %f32 %set2 31 %v")
	m, err := Parse("", assemble(t, v13, twice))
	if err != nil {
		t.Fatal(err)
	}
	want, err := Parse("", assemble(t, v13, plain))
	if err != nil {
		t.Fatal(err)
	}
	validate(t, "two imports", m.Code)
	if n := count(t, m.Code, opExtInstImport); n != 1 || !bytes.Equal(m.Code, want.Code) {
		t.Errorf("%d imports are left, or a name of one, or a use of it", n)
	}
}

// A line between a merge instruction and its branch is invalid and stays so.
func TestLineAfterMerge(t *testing.T) {
	text := edit(t, good, "OpSelectionMerge %inside 0\n", "OpSelectionMerge %inside 0\nOpNoLine\nOpNoLine\n")
	if _, err := Parse("", assemble(t, v13, text)); err == nil || !strings.Contains(err.Error(), "between a merge instruction and its branch") {
		t.Error(err)
	}
}
