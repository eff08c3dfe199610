package spv

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/testkit"
)

// matrixKernels are the committed kernels with cooperative matrices.
func matrixKernels(t *testing.T) map[string]*Module {
	t.Helper()
	files, err := committedFiles()
	if err != nil {
		t.Fatal(err)
	}
	ms := map[string]*Module{}
	for _, f := range files {
		code, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		m, err := Reflect(filepath.Base(f), code)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(m.Capabilities, capCoopNV) {
			continue
		}
		if ms[f], err = Parse(filepath.Base(f), code); err != nil {
			t.Fatal(err)
		}
	}
	if len(ms) < 6 {
		t.Fatalf("%d kernels with cooperative matrices, want those of the product and of the bench", len(ms))
	}
	return ms
}

// constant is the value of a constant of 32 bits.
func (s *shader) constant(id uint32) uint32 { return s.at(id).w[3] }

// The rewritten kernels are valid, compute the same, and say of each matrix what it
// is for.
func TestCooperative(t *testing.T) {
	for name, m := range matrixKernels(t) {
		code, err := Cooperative(m)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		r, err := Reflect(name, code)
		if err != nil {
			t.Errorf("%s: rewritten: %v", name, err)
			continue
		}
		if slices.Contains(r.Capabilities, capCoopNV) || !slices.Contains(r.Capabilities, capCoopKHR) {
			t.Errorf("%s: capabilities %v", name, r.Capabilities)
		}
		before, after := apart(t, m.Code), apart(t, code)
		// Instructions keep their order and their number, but for three constants.
		counts := func(s *shader, shift opcode) map[opcode]int {
			n := map[opcode]int{}
			for i := range s.insts {
				switch op := s.insts[i].op; {
				case op == opTypeCoopNV:
					n[opTypeCoopKHR]++
				case op >= opCoopLoadNV && op <= opCoopLengthNV:
					n[op-shift]++
				case op != opConstant:
					n[op]++
				}
			}
			return n
		}
		a, b := counts(before, opCoopLoadNV-opCoopLoadKHR), counts(after, 0)
		for op, n := range a {
			if b[op] != n {
				t.Errorf("%s: %d of %v, want %d", name, b[op], op, n)
			}
		}
		if len(after.insts) != len(before.insts)+3 {
			t.Errorf("%s: %d instructions became %d, want three more", name, len(before.insts), len(after.insts))
		}
		byRow, byColumn := 0, 0
		for i := range after.insts {
			in := &after.insts[i]
			switch in.op {
			case opCoopMulAddKHR:
				for use, v := range in.args()[:3] {
					if got := after.constant(after.at(after.at(v).typ).w[6]); got != uint32(use) {
						t.Errorf("%s: %v: operand %d is of use %d", name, in, use, got)
					}
				}
			case opCoopLoadKHR, opCoopStoreKHR:
				old, at, stride := before.at(in.res), in.args()[1], in.args()[2]
				if in.op == opCoopStoreKHR {
					if l := after.constant(in.args()[2]); l != 0 {
						t.Errorf("%s: %v: layout %d, the kernels store by rows", name, in, l)
					}
					continue
				}
				want := uint32(0)
				if before.at(old.args()[2]).op == opConstantTrue {
					want = 1
				}
				if got := after.constant(at); got != want || stride != old.args()[1] {
					t.Errorf("%s: %v: layout %d and stride %%%d, want %d and %%%d", name, in, got, stride, want, old.args()[1])
				}
				byRow += int(1 - want)
				byColumn += int(want)
			}
		}
		if strings.Contains(name, "matmul") && (byRow == 0 || byColumn == 0) {
			t.Errorf("%s: %d loads by rows and %d by columns: the test has not seen both", name, byRow, byColumn)
		}
	}
}

// A matrix that is a factor here and a sum there has no one type in the other form.
func TestCooperativeRefuses(t *testing.T) {
	for name, m := range matrixKernels(t) {
		s := apart(t, m.Code)
		for i := range s.insts {
			if in := &s.insts[i]; in.op == opCoopMulAddNV {
				args := in.args() // in place
				args[0], args[1] = args[1], args[0]
				break
			}
		}
		bad := *m
		bad.Code = append([]byte(nil), m.Code[:4*headerWords]...)
		for i := range s.insts {
			bad.Code = appendWords(bad.Code, s.insts[i].w)
		}
		if _, err := Cooperative(&bad); err != nil && !errors.Is(err, errs.ErrUnsupported) {
			t.Errorf("%s: got %v, want ErrUnsupported", name, err)
		} else if err == nil && products(s) > 1 {
			t.Errorf("%s: a type of two uses was taken", name)
		}
	}
}

func products(s *shader) (n int) {
	for i := range s.insts {
		if s.insts[i].op == opCoopMulAddNV {
			n++
		}
	}
	return n
}

// A validator that knows the extension has nothing to say. Debian 12's does not.
func TestCooperativeValidates(t *testing.T) {
	val := testkit.Tool(t, "spirv-val")
	for name, m := range matrixKernels(t) {
		code, err := Cooperative(m)
		if err != nil {
			t.Fatal(err)
		}
		out, err := testkit.Validate(t, val, "vulkan1.1", code)
		if err != nil && strings.Contains(out, "Invalid capability operand: 6022") {
			t.Skipf("needs a spirv-val that knows the extension; make newest-mesa brings one: %s", out)
		}
		if err != nil {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
}
