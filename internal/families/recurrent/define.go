// Package recurrent declares the recurrent layers of ONNX: LSTM, GRU and the simple one.
package recurrent

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lathe-gpu/lathe/internal/families/gemm"
	"github.com/lathe-gpu/lathe/internal/families/indexing"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Layer describes a recurrent layer with attributes of type A.
type Layer[A spec.Call] struct {
	// Name, Doc, Source and ONNX are those of spec.Definition and spec.Traits.
	Name, Doc, Source string
	ONNX              []string
	Defaults          A
	// Attributes returns the attributes of a call.
	Attributes func(A) Attributes
	// Calls are attributes to try besides Defaults. Invalid are attributes that must be refused.
	Calls, Invalid []A
}

// stepParams is the push-constant block of lib/recurrent.glsl.
type stepParams struct {
	Count, Lanes, Block, First, Hidden, Padded, Products uint32
	Previous, Next, Cell, Reset, Gate, Time, Lengths     uint32
	Peepholes, Coupled, Kinds                            uint32
	Clip, Alpha0, Beta0, Alpha1, Beta1, Alpha2, Beta2    float32
}

// loadParams is the push-constant block of recurrent_load.comp.
type loadParams struct {
	Count, Wide, Rows, Cols, Terms, Second, SrcBase, SrcRow, SrcCol, DstBase, DstRow uint32
}

// storeParams is the push-constant block of recurrent_store.comp.
type storeParams struct {
	Base, Count, Words, Runs, Inner, RunInner, RunOuter, Rows, Hidden, Major, ByStep uint32
	From, Padded, Stride, Slot, Turn, Ring, Time, Lengths, Checked                   uint32
}

// kernels lists the kernels of a kind of layer.
func (k *kind) kernels() []spec.Kernel {
	list := slices.Concat(
		gemm.Kernels(), indexing.CheckKernels(),
		planner.DTypeVariants("nn/recurrent_load", loadParams{}, planner.Floats, nil),
		planner.DTypeVariants("nn/recurrent_store", storeParams{}, planner.Floats, nil),
	)
	for _, name := range slices.Concat(k.steps, k.after) {
		for _, variant := range []string{".f32", ".f64", ".f32.texel", ".f32.any", ".f64.any"} {
			list = append(list, spec.Kernel{Name: name + variant, Params: stepParams{}})
		}
	}
	return list
}

// DefineLSTM declares an LSTM layer.
func DefineLSTM[A spec.Call](m Layer[A]) *spec.Op { return define(lstmKind, m) }

// DefineGRU declares a GRU layer.
func DefineGRU[A spec.Call](m Layer[A]) *spec.Op { return define(gruKind, m) }

// DefineRNN declares a simple layer.
func DefineRNN[A spec.Call](m Layer[A]) *spec.Op { return define(rnnKind, m) }

func define[A spec.Call](k *kind, m Layer[A]) *spec.Op {
	spirv.LinkBLAS()
	spirv.LinkMove()
	spirv.LinkNN()
	return spec.Define(spec.Definition[A]{
		Name: m.Name, Group: "nn", Doc: m.Doc, Source: m.Source,
		In: k.arguments(), Out: k.results(),
		Traits:   spec.Traits{Class: spec.MatrixProduct, ONNX: m.ONNX},
		Defaults: m.Defaults,
		Kernels:  k.kernels(),
		Shape: func(a A, in []tensor.Desc) ([]tensor.Desc, error) {
			l, err := newLayer(k, m.Attributes(a), in)
			if err != nil {
				return nil, err
			}
			return l.outputs(in[inX].DType), nil
		},
		Plan: func(a A, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
			if err := planner.CheckTarget(t, in[inX]); err != nil {
				return nil, err
			}
			l, err := newLayer(k, m.Attributes(a), in)
			w := builder{layer: l, t: t, plan: &spec.Plan{}, dtype: in[inX].DType}
			if err != nil || l.batch == 0 {
				return w.plan, err
			}
			return w.plan, w.add()
		},
		Reference: func(a A, in, out []*tensor.Host) {
			ds := make([]tensor.Desc, len(in))
			for i := range in {
				ds[i] = in[i].Desc
			}
			if l, err := newLayer(k, m.Attributes(a), ds); err == nil {
				l.reference(in, out)
			}
		},
		Tolerance: func(a A, d tensor.DType, in []tensor.Desc) spec.Tolerance { return k.tolerance(d, in) },
		Cost: func(a A, in []tensor.Desc) spec.Cost {
			l, err := newLayer(k, m.Attributes(a), in)
			if err != nil {
				return spec.Cost{}
			}
			bytes := int64(0)
			for _, d := range append(l.outputs(in[inX].DType), in...) {
				bytes += d.Bytes()
			}
			cells := int64(l.seq) * int64(l.batch) * int64(l.directions*l.gates*l.hidden)
			return spec.Cost{Flops: cells * (2*int64(l.input+l.hidden) + 16), Bytes: bytes}
		},
		Cases: cases(k, m),
	})
}

// arguments are the inputs of a layer.
func (k *kind) arguments() []spec.Arg {
	left := "; of the shape [0] or left out: "
	rows, order, biases := "hidden", "", fmt.Sprintf("%d·hidden", 2*k.gates)
	if k.gates > 1 {
		rows, order = fmt.Sprintf("%d·hidden", k.gates), "; the gates are "+strings.Join(k.order, ", ")
	}
	return []spec.Arg{
		{Name: "x", Doc: "[seq,batch,input], or [batch,seq,input] with layout 1", DTypes: planner.Floats},
		{Name: "w", Doc: "[directions," + rows + ",input]" + order, DTypes: planner.Floats},
		{Name: "r", Doc: "[directions," + rows + ",hidden]", DTypes: planner.Floats},
		{Name: "b", Doc: "the biases of w, then those of r, [directions," + biases + "]" + left + "0", DTypes: planner.Floats, Optional: true, Skippable: true},
		{Name: "sequence_lens", Doc: "the length of each sequence, 0 to seq, [batch]" + left + "seq", DTypes: []tensor.DType{tensor.I32}, Optional: true, Skippable: true},
		{Name: "initial_h", Doc: "[directions,batch,hidden], or [batch,directions,hidden] with layout 1" + left + "0", DTypes: planner.Floats, Optional: true, Skippable: true},
		{Name: "initial_c", Doc: "as initial_h" + left + "0", DTypes: planner.Floats, Optional: true, Skippable: true},
		{Name: "p", Doc: "the peepholes of the input, output and forget gate, [directions,3·hidden]" + left + "0", DTypes: planner.Floats, Optional: true, Skippable: true},
	}[:k.inputs]
}

// results are the outputs of a layer.
func (k *kind) results() []spec.Arg {
	out := []spec.Arg{
		{Name: "y", Doc: "the hidden states of all steps, [seq,directions,batch,hidden], or [batch,seq,directions,hidden] with layout 1"},
		{Name: "y_h", Doc: "the last hidden states, [directions,batch,hidden], or [batch,directions,hidden] with layout 1"},
	}
	if k == lstmKind {
		out = append(out, spec.Arg{Name: "y_c", Doc: "the last states of the cells, as y_h"})
	}
	return out
}

// tolerance is that of inputs like those of cases, whose errors do not grow from step to step.
func (k *kind) tolerance(d tensor.DType, in []tensor.Desc) spec.Tolerance {
	e, n := planner.AccumulatorEpsilon(d), float64(in[inX].Shape[2]+in[inR].Shape[2])
	return spec.Tolerance{
		Abs: e*(48+2*math.Sqrt(n)) + planner.Tiny(d), Rel: e*48 + planner.StoreEpsilon(d),
		Law: "ε·(48 + 2·√n) + 48·ε of the value, n = input + hidden",
		Why: "a step rounds sums of n products and some functions; a state keeps a part of its error in the next step, so that errors of few steps add up",
	}
}
