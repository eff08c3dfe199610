// Package abi writes the canonical text of all operations, kernels and element types,
// and computes the ABI fingerprint of it.
package abi

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/lathe-gpu/lathe/internal/spv"
)

// Table is all that shaders and the Go code that launches them must agree on:
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
	Size int // bytes
}

// TableOp is an operation: its arguments in order, and the kernels it may launch.
type TableOp struct {
	Name    string
	In, Out []string
	Kernels []string
}

// TableKernel is what a launch of a kernel relies on.
type TableKernel struct {
	Name      string
	Bindings  []spv.Binding
	Params    []spv.Member
	Specs     []spv.SpecConst
	LocalSize [3]uint32
	Hash      [sha256.Size]byte // of the SPIR-V
}

// NewTableKernel describes the kernel m as its SPIR-V declares it.
func NewTableKernel(m *spv.Module) TableKernel {
	if m == nil {
		return TableKernel{}
	}
	return TableKernel{Name: m.Name, Bindings: m.Bindings, Params: m.Params, Specs: m.Specs, LocalSize: m.LocalSize, Hash: m.Hash}
}

// Text is the canonical text of the table: the same for the same content, in
// whatever order operations and kernels were registered. Names of bindings are
// for people and not part of it.
func (t Table) Text() string {
	var b strings.Builder
	b.WriteString("lathe abi text 1\n")
	for _, d := range sorted(t.DTypes, func(x, y TableDType) int { return cmp.Compare(x.Code, y.Code) }) {
		fmt.Fprintf(&b, "dtype %s code %d size %d\n", d.Name, d.Code, d.Size)
	}
	for _, op := range sorted(t.Ops, func(x, y TableOp) int { return cmp.Compare(x.Name, y.Name) }) {
		fmt.Fprintf(&b, "op %s\n", op.Name)
		for _, a := range op.In {
			fmt.Fprintf(&b, "\tin %s\n", a)
		}
		for _, a := range op.Out {
			fmt.Fprintf(&b, "\tout %s\n", a)
		}
		for _, k := range sorted(op.Kernels, cmp.Compare[string]) {
			fmt.Fprintf(&b, "\tkernel %s\n", k)
		}
	}
	for _, k := range sorted(t.Kernels, func(x, y TableKernel) int { return cmp.Compare(x.Name, y.Name) }) {
		fmt.Fprintf(&b, "kernel %s\n", k.Name)
		for _, x := range k.Bindings {
			fmt.Fprintf(&b, "\tbinding %d %v %v %s\n", x.Slot, x.Kind, x.Access, x.Type)
		}
		for _, p := range k.Params {
			fmt.Fprintf(&b, "\tparam %s %s at %d\n", p.Name, p.Type, p.Offset)
		}
		for _, s := range k.Specs {
			fmt.Fprintf(&b, "\tspec %d %s %s default %#x\n", s.ID, s.Name, s.Type, s.Default)
		}
		fmt.Fprintf(&b, "\tlocal %d %d %d\n\tspirv %x\n", k.LocalSize[0], k.LocalSize[1], k.LocalSize[2], k.Hash)
	}
	return b.String()
}

func sorted[T any](list []T, less func(a, b T) int) []T {
	return slices.SortedFunc(slices.Values(list), less)
}

// Fingerprint is the 64-bit ABI fingerprint of a canonical text: the first
// eight bytes of its SHA-256, big-endian.
func Fingerprint(text string) uint64 {
	h := sha256.Sum256([]byte(text))
	return binary.BigEndian.Uint64(h[:])
}
