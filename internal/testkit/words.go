package testkit

import "encoding/binary"

// Words returns numbers as a device has them: each as four bytes, the least one first.
func Words(v ...uint32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, w := range v {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

// Uint32s returns the numbers that Words made bytes of. It ignores up to three bytes at
// the end.
func Uint32s(b []byte) []uint32 {
	v := make([]uint32, len(b)/4)
	for i := range v {
		v[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return v
}
