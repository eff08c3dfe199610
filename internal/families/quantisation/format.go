// Package quantisation declares the operations on quantised numbers: blocks of weights as GGUF
// stores them, integers with scales and zero points, and products of both.
package quantisation

import (
	"slices"
	"strings"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// format is a layout of blocks of weights. Its rows are whole blocks.
type format struct {
	name string
	// weights and bytes are the size of a block.
	weights, bytes int
	// scales are the numbers of the bytes that are halves of scales.
	scales []int
	// most bounds the weights if all scales are within ±1.
	most float64
	// rowUnit is the number of bytes in a unit of which the kernels for CPU drivers read whole rows.
	rowUnit int
	// across says that workgroups of the kernels for CPU drivers share long rows if there is one vector.
	// It is slower with q6_k.
	across bool
}

var formats = []format{
	{"q4_0", 32, 18, []int{0, 1}, 8, planner.Pack, true},
	{"q8_0", 32, 34, []int{0, 1}, 128, planner.Pack, true},
	{"q4_k", 256, 144, []int{0, 1, 2, 3}, 63*15 + 63, planner.Pack, true},
	{"q6_k", 256, 210, []int{208, 209}, 128 * 32, 2, false},
}

// FormatNames is the list of formats for texts.
const FormatNames = "q4_0, q8_0, q4_k or q6_k"

// formatOf returns the format of a name, in upper or lower case: GGUF has Q4_K.
// Errors: ErrInvalidArgument.
func formatOf(name string) (format, error) {
	i := slices.IndexFunc(formats, func(f format) bool { return strings.EqualFold(f.name, name) })
	if i < 0 {
		return format{}, planner.Invalid("format %q (want %s)", name, FormatNames)
	}
	return formats[i], nil
}

// rowOf returns the number of weights in rows of blocks, whose last dimension counts bytes.
// Errors: ErrInvalidArgument.
func (f format) rowOf(blocks tensor.Desc) (int, error) {
	if len(blocks.Shape) == 0 {
		return 0, planner.Invalid("blocks %v (want one dimension or more)", blocks)
	}
	n := blocks.Shape[len(blocks.Shape)-1]
	if n%f.bytes != 0 {
		return 0, planner.Invalid("blocks %v (want rows of whole blocks of %s, %d bytes each)", blocks, f.name, f.bytes)
	}
	return n / f.bytes * f.weights, nil
}

// settle makes random bytes blocks whose scales are numbers from ±1/64 to ±1. The first byte of a block
// is changed in the same manner, so that rows of equal bytes are such blocks too.
func (f format) settle(values []float64) {
	for first := 0; first < len(values); first += f.bytes {
		for _, at := range append([]int{0}, f.scales...) {
			if i := first + at; i < len(values) {
				values[i] = float64(byte(values[i])&0x93 | 0x28)
			}
		}
	}
}

// kernelsOf lists the kernels of a shader for formats.
func kernelsOf(shader string, params any, suffixes []string, suits func(format) bool) []spec.Kernel {
	var ks []spec.Kernel
	for _, f := range formats {
		for _, s := range suffixes {
			if suits == nil || suits(f) {
				ks = append(ks, spec.Kernel{Name: strings.Join([]string{shader, f.name}, ".") + s, Params: params})
			}
		}
	}
	return ks
}
