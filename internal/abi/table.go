// Package abi writes the canonical text of all operations, kernels and element types,
// and computes the ABI fingerprint of it.
package abi

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lathe-gpu/lathe/internal/spv"
)

// Table holds everything that shaders and the Go code that launches them must agree on:
// the operations, their kernels and the codes of element types.
type Table struct {
	DTypes  []TableDType
	Ops     []TableOp
	Kernels []TableKernel
}

// TableDType is an element type and its code.
type TableDType struct {
	Name string
	Code uint8
	Size int // in bytes
}

// TableOp is an operation: its arguments in order, and the kernels it may launch.
type TableOp struct {
	Name    string
	In, Out []string
	Kernels []string
}

// TableKernel is what a launch of a kernel depends on.
type TableKernel struct {
	Name      string
	Bindings  []spv.Binding
	Params    []spv.Member
	Specs     []spv.SpecConst
	LocalSize [3]uint32
	// Hash is the SHA-256 of the SPIR-V.
	Hash [sha256.Size]byte
}

// heading is the first line of the canonical text.
const heading = "lathe abi text 1"

// NewTableKernel describes the kernel m, as its SPIR-V declares it.
func NewTableKernel(m *spv.Module) TableKernel {
	if m == nil {
		return TableKernel{}
	}
	return TableKernel{Name: m.Name, Bindings: m.Bindings, Params: m.Params, Specs: m.Specs, LocalSize: m.LocalSize, Hash: m.Hash}
}

// Text returns the canonical text of the table. It is the same for the same content, in
// whatever order operations and kernels were registered. Names of bindings are not part
// of it, because nothing depends on them.
func (t Table) Text() string {
	w := writer{make([]byte, 0, 512*(len(t.Kernels)+8))}
	w.text(heading, "\n")
	for _, d := range sorted(t.DTypes, func(x, y *TableDType) int { return cmp.Compare(x.Code, y.Code) }) {
		w.text("dtype ", d.Name, " code ").number(int64(d.Code)).text(" size ").number(int64(d.Size)).text("\n")
	}
	for _, op := range sorted(t.Ops, func(x, y *TableOp) int { return cmp.Compare(x.Name, y.Name) }) {
		w.text("op ", op.Name, "\n")
		for _, a := range op.In {
			w.text("\tin ", a, "\n")
		}
		for _, a := range op.Out {
			w.text("\tout ", a, "\n")
		}
		for _, k := range slices.Sorted(slices.Values(op.Kernels)) {
			w.text("\tkernel ", k, "\n")
		}
	}
	for _, k := range sorted(t.Kernels, func(x, y *TableKernel) int { return cmp.Compare(x.Name, y.Name) }) {
		w.text("kernel ", k.Name, "\n")
		for _, x := range k.Bindings {
			w.text("\tbinding ").number(int64(x.Slot)).text(" ", x.Kind.String(), " ", x.Access.String(), " ", x.Type, "\n")
		}
		for _, p := range k.Params {
			w.text("\tparam ", p.Name, " ", p.Type, " at ").number(int64(p.Offset)).text("\n")
		}
		for _, s := range k.Specs {
			w.text("\tspec ").number(int64(s.ID)).text(" ", s.Name, " ", s.Type, fmt.Sprintf(" default %#x\n", s.Default))
		}
		w.text("\tlocal ").number(int64(k.LocalSize[0])).text(" ").number(int64(k.LocalSize[1])).text(" ").number(int64(k.LocalSize[2]))
		w.text("\n\tspirv ")
		w.b = hex.AppendEncode(w.b, k.Hash[:])
		w.text("\n")
	}
	return string(w.b)
}

// writer appends text. Package fmt takes ten times as long, and every program that opens a
// device writes a table first.
type writer struct{ b []byte }

func (w *writer) text(parts ...string) *writer {
	for _, p := range parts {
		w.b = append(w.b, p...)
	}
	return w
}

func (w *writer) number(n int64) *writer {
	w.b = strconv.AppendInt(w.b, n, 10)
	return w
}

// sorted returns pointers to the elements in order. Functions that sort pointers are the
// same code for all types, and those that sort structs are 11 kB for each.
func sorted[T any](list []T, compare func(x, y *T) int) []*T {
	order := make([]*T, len(list))
	for i := range list {
		order[i] = &list[i]
	}
	slices.SortFunc(order, compare)
	return order
}

// Parse parses a text that Text has written. The text has no names of bindings and no
// sizes of params, so the kernels of the result have neither.
// Errors: the first line that is not part of such a text.
func Parse(text string) (Table, error) {
	var t Table
	first, rest, _ := strings.Cut(text, "\n")
	if first != heading {
		return t, fmt.Errorf("abi: parse: the first line is %q (want %q)", first, heading)
	}
	n := 1
	for line := range strings.Lines(rest) {
		n++
		line = strings.TrimSuffix(line, "\n")
		if !t.parseLine(line) {
			return Table{}, fmt.Errorf("abi: parse: line %d: %q is not a line of the canonical text", n, line)
		}
	}
	return t, nil
}

// parseLine adds one line to the table, or reports false.
func (t *Table) parseLine(line string) bool {
	inner, indented := strings.CutPrefix(line, "\t")
	word, rest, _ := strings.Cut(inner, " ")
	f := strings.Split(rest, " ")
	switch {
	case !indented && word == "dtype" && len(f) == 5 && f[1] == "code" && f[3] == "size":
		code, bad := strconv.ParseUint(f[2], 10, 8)
		size, worse := strconv.Atoi(f[4])
		t.DTypes = append(t.DTypes, TableDType{Name: f[0], Code: uint8(code), Size: size})
		return bad == nil && worse == nil
	case !indented && word == "op" && len(f) == 1:
		t.Ops = append(t.Ops, TableOp{Name: f[0]})
		return true
	case !indented && word == "kernel" && len(f) == 1:
		t.Kernels = append(t.Kernels, TableKernel{Name: f[0]})
		return true
	case indented && len(t.Kernels) > 0:
		return t.Kernels[len(t.Kernels)-1].parseLine(word, f)
	case indented && len(t.Ops) > 0 && len(f) == 1:
		op := &t.Ops[len(t.Ops)-1]
		switch word {
		case "in":
			op.In = append(op.In, f[0])
		case "out":
			op.Out = append(op.Out, f[0])
		case "kernel":
			op.Kernels = append(op.Kernels, f[0])
		default:
			return false
		}
		return true
	}
	return false
}

// parseLine adds a line of a kernel, or reports false.
func (k *TableKernel) parseLine(word string, f []string) bool {
	number := func(s string) (uint32, bool) {
		v, err := strconv.ParseUint(s, 10, 32)
		return uint32(v), err == nil
	}
	var ok bool
	switch {
	case word == "binding" && len(f) == 4:
		b := spv.Binding{Type: f[3]}
		var known, named bool
		b.Slot, ok = number(f[0])
		b.Kind, known = spv.ParseKind(f[1])
		b.Access, named = spv.ParseAccess(f[2])
		k.Bindings = append(k.Bindings, b)
		return ok && known && named
	case word == "param" && len(f) == 4 && f[2] == "at":
		p := spv.Member{Name: f[0], Type: f[1]}
		p.Offset, ok = number(f[3])
		k.Params = append(k.Params, p)
		return ok
	case word == "spec" && len(f) == 5 && f[3] == "default":
		c := spv.SpecConst{Name: f[1], Type: f[2]}
		c.ID, ok = number(f[0])
		var err error
		c.Default, err = strconv.ParseUint(f[4], 0, 64)
		k.Specs = append(k.Specs, c)
		return ok && err == nil
	case word == "local" && len(f) == 3:
		for i := range f {
			if k.LocalSize[i], ok = number(f[i]); !ok {
				return false
			}
		}
		return true
	case word == "spirv" && len(f) == 1 && len(f[0]) == 2*len(k.Hash):
		_, err := hex.Decode(k.Hash[:], []byte(f[0]))
		return err == nil
	}
	return false
}

// Fingerprint returns the 64-bit ABI fingerprint of a canonical text. It is the first
// eight bytes of its SHA-256, big-endian.
func Fingerprint(text string) uint64 {
	h := sha256.Sum256([]byte(text))
	return binary.BigEndian.Uint64(h[:])
}
