package gemm

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// productParams is the push-constant block of lib/gemm.glsl.
type productParams struct {
	M, N, K, KAll, KStep                 uint32
	ABase, ARow, ACol, AInner, AOuter    uint32
	BBase, BRow, BCol, BInner, BOuter    uint32
	CBase, CRow, CCol, CInner, COuter    uint32
	Inner, Z, Accumulate, Bias, BiasBase uint32
}

// packParams is the push-constant block of matmul_pack.comp.
type packParams struct {
	Rows, Cols, Count, Wide                       uint32
	SrcBase, SrcRow, SrcCol, SrcInner, SrcOuter   uint32
	DstBase, DstInner, DstOuter, DstRow, Inner, Z uint32
}

// panelsParams is the push-constant block of matmul_panels.comp.
type panelsParams struct {
	Rows, Cols, SrcBase, SrcRow, SrcCol, SrcInner, SrcOuter uint32
	DstBase, DstPanel, DstInner, DstOuter, Inner, Z         uint32
}

// finishParams is the push-constant block of matmul_finish.comp.
type finishParams struct{ Base, Count, Runs, RunStep, Packs, N, Row, Parts, Part, Bias, BiasBase uint32 }

// kernels lists the kernels of products.
var kernels = slices.Concat(
	kernelsOf("blas/matmul_panel", productParams{},
		"f32", "f32.add", "f32.row", "f32.row.add", "f16.row", "f16.row.add", "bf16.row", "bf16.row.add",
		"f32.long", "f32.long.add", "f16.long", "f16.long.add", "bf16.long", "bf16.long.add",
		"f32.tall", "f32.tall.add", "f32.wide", "f32.wide.add",
		"f32.block", "f32.block.add", "f32.block.bias", "f32.narrow", "f32.narrow.add", "f32.narrow.bias",
		"f32.bias", "f32.tall.bias", "f32.wide.bias",
		"f32.turned", "f32.turned.add", "f32.tall.turned", "f32.tall.turned.add", "f32.wide.turned", "f32.wide.turned.add",
		"f64.turned", "f64.turned.add", "f64.tall.turned", "f64.tall.turned.add",
		"f64", "f64.add", "f64.row", "f64.row.add", "f64.long", "f64.long.add", "f64.tall", "f64.tall.add", "f64.wide", "f64.wide.add"),
	kernelsOf("blas/matmul_dot", productParams{}, "f32", "f16", "bf16", "f32.one", "f16.one", "bf16.one", "f64", "f64.one"),
	kernelsOf("blas/matmul_pack", packParams{}, "f32", "f16", "bf16", "f16.flat", "bf16.flat", "f32.words", "f16.words", "bf16.words", "f64"),
	kernelsOf("blas/matmul_lanes", productParams{}, "f32", "f32.panel", "f32.row"),
	kernelsOf("blas/matmul_panels", panelsParams{}, "f32", "f32.unit", "f16", "bf16"),
	kernelsOf("blas/matmul_long", productParams{}, "f32"),
	kernelsOf("blas/matmul_dots", productParams{}, "f32"),
	planner.DTypeVariants("blas/matmul", productParams{}, planner.Floats, nil),
	kernelsOf("blas/matmul", productParams{}, "f16.wide", "bf16.wide", "f32.large", "f16.large", "bf16.large", "f16.wide.large", "bf16.wide.large"),
	planner.DTypeVariants("blas/matmul_vector", productParams{}, planner.Floats, nil),
	kernelsOf("blas/matmul_vector", productParams{}, "f32.across", "f64.across", "f16.across", "bf16.across",
		"f16.wide", "bf16.wide", "f16.wide.across", "bf16.wide.across"),
	kernelsOf("blas/matmul_coop", productParams{}, "f16.m16.s32", "f16.m16.s64", "f16.m8.s8"),
	planner.DTypeVariants("blas/matmul_finish", finishParams{}, planner.Floats, func(d tensor.DType) bool { return d != tensor.F64 }),
	kernelsOf("blas/matmul_finish", finishParams{}, "f32.flat", "f16.flat", "bf16.flat"),
)

// kernelsOf lists the variants of a kernel.
func kernelsOf(base string, params any, variants ...string) []spec.Kernel {
	var ks []spec.Kernel
	for _, v := range variants {
		ks = append(ks, spec.Kernel{Name: base + "." + v, Params: params})
	}
	return ks
}
