// Package tensor describes tensors: element types, shapes, strides and host
// copies. It knows nothing of any device.
package tensor

import "fmt"

// DType is the element type of a tensor. The codes are part of the ABI
// fingerprint and never change meaning.
type DType uint8

// The element types, with their sizes in bytes in parentheses.
const (
	Invalid DType = 0
	F32     DType = 1  // IEEE binary32 (4)
	F64     DType = 2  // IEEE binary64 (8)
	I32     DType = 3  // two's complement (4)
	I64     DType = 4  // two's complement (8)
	Bool    DType = 5  // 0 or 1 (1)
	F16     DType = 6  // IEEE binary16 (2)
	BF16    DType = 7  // bfloat16 (2)
	U8      DType = 8  // unsigned (1)
	U32     DType = 9  // unsigned (4)
	I8      DType = 10 // two's complement (1)
	I16     DType = 11 // two's complement (2)
	U16     DType = 12 // unsigned (2)
	U64     DType = 13 // unsigned (8)
)

var dtypes = [...]struct {
	name string
	size int
}{
	F32: {"f32", 4}, F64: {"f64", 8}, I32: {"i32", 4}, I64: {"i64", 8}, Bool: {"bool", 1},
	F16: {"f16", 2}, BF16: {"bf16", 2}, U8: {"u8", 1}, U32: {"u32", 4}, I8: {"i8", 1},
	I16: {"i16", 2}, U16: {"u16", 2}, U64: {"u64", 8},
}

// DTypes lists every element type in code order.
func DTypes() []DType {
	return []DType{F32, F64, I32, I64, Bool, F16, BF16, U8, U32, I8, I16, U16, U64}
}

// Valid reports whether d is one of the element types.
func (d DType) Valid() bool { return d > Invalid && int(d) < len(dtypes) }

// Size returns the size of one element in bytes. It is 0 for an invalid DType.
func (d DType) Size() int {
	if !d.Valid() {
		return 0
	}
	return dtypes[d].size
}

// String returns the standard short name, such as "f32".
func (d DType) String() string {
	if !d.Valid() {
		return fmt.Sprintf("dtype(%d)", uint8(d))
	}
	return dtypes[d].name
}

// ParseDType returns the DType whose String is name. The name "int" means i32.
func ParseDType(name string) (DType, bool) {
	if name == "int" {
		return I32, true
	}
	for d := range dtypes {
		if DType(d).Valid() && dtypes[d].name == name {
			return DType(d), true
		}
	}
	return Invalid, false
}
